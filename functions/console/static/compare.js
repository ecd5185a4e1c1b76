// A text asked in both contracts, side by side: what a person sees of the answer in a user interface, and what a program gets.

import { problem } from "./answer.js";
import { requestOf, stream } from "./hub.js";
import { markdown } from "./markdown.js";
import { button, h, json, say } from "./page.js";

const CONTRACTS = {
  as_ui: {
    request: (text) => requestOf("message/send", { message: { kind: "message", messageId: crypto.randomUUID(), role: "user", parts: [{ kind: "text", text }] } }, "0.3"),
    draw: ({ parts, status }) => markdown((parts ?? status?.message?.parts ?? []).map((part) => part.text ?? "").join(""))[0],
  },
  as_program: {
    request: (text) => requestOf("SendMessage", {
      message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] },
      configuration: { acceptedOutputModes: ["text/plain", "application/json"] },
    }),
    draw: ({ task, message }) => json(task ?? message),
  },
};

function compared(text) {
  const columns = Object.entries(CONTRACTS).map(([name, { request, draw }]) => {
    const body = h("div", { class: name, "aria-live": "polite" }, say("working", {}, "p"));
    fill(body, request(text), text, draw);
    return h("section", {}, say(`compare.${name}`, {}, "h3"), body);
  });
  return h("div", { class: "contracts" }, columns);
}

async function fill(body, request, title, draw) {
  try {
    for await (const result of stream(request, { title })) body.replaceChildren(draw(result));
  } catch (error) {
    body.replaceChildren(problem(error));
  }
}

export const compareButton = (text) => button("compare", (event) => event.currentTarget.replaceWith(compared(text)));
