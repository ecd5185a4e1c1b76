// A text asked in both contracts, side by side: what a person sees of the answer in a user interface, and what a program gets.

import { problem } from "./answer.js";
import { requestOf, stream } from "./hub.js";
import { markdown } from "./markdown.js";
import { button, h, json, say } from "./page.js";

const textsOf = (parts = []) => parts.map((part) => part.text ?? "").join("");

const CONTRACTS = {
  as_ui: {
    request: (text) => requestOf("message/stream", { message: { kind: "message", messageId: crypto.randomUUID(), role: "user", parts: [{ kind: "text", text }] } }, "0.3"),
    // A user interface shows the text of the artifacts, or that of a message.
    draw(results) {
      const updates = results.filter(({ kind }) => kind === "artifact-update");
      const messages = results.filter(({ kind }) => kind === "message");
      const last = results.findLast(({ status }) => status);
      const words = [...updates.map(({ artifact }) => textsOf(artifact.parts)), ...messages.map(({ parts }) => textsOf(parts))].join("");
      return [...markdown(words || textsOf(last?.status.message?.parts)).slice(0, 1)];
    },
  },
  as_program: {
    request: (text) => requestOf("SendStreamingMessage", {
      message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] },
      configuration: { acceptedOutputModes: ["text/plain", "application/json"] },
    }),
    // A program folds the events: the state, the artifacts with their data, the metadata.
    draw(results) {
      const whole = {};
      const artifacts = new Map();
      for (const { task, message, statusUpdate, artifactUpdate } of results) {
        const { status, metadata } = task ?? statusUpdate ?? {};
        Object.assign(whole, status && { status }, metadata && { metadata }, message && { message });
        for (const each of task?.artifacts ?? []) artifacts.set(each.artifactId, each);
        if (!artifactUpdate) continue;
        const { artifact, append } = artifactUpdate;
        const before = append ? (artifacts.get(artifact.artifactId)?.parts ?? []) : [];
        artifacts.set(artifact.artifactId, { ...artifact, parts: [...before, ...artifact.parts] });
      }
      return [json({ ...whole, artifacts: [...artifacts.values()] })];
    },
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
  const results = [];
  try {
    for await (const result of stream(request, { title })) results.push(result);
    body.replaceChildren(...draw(results));
  } catch (error) {
    body.replaceChildren(problem(error));
  }
}

export const compareButton = (text) => button("compare", (event) => event.currentTarget.replaceWith(compared(text)));
