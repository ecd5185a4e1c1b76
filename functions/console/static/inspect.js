// Inspect: the request and the raw events of this page's turns, the same request in the other contract, and agents' cards.

import { problem } from "./answer.js";
import { checkCard, curl, requestOf, stream, turns } from "./hub.js";
import { plain } from "./markdown.js";
import { button, copyButton, h, label, say } from "./page.js";

const shown = (value) => h("pre", {}, h("code", {}, JSON.stringify(value, null, 2)));

export function view() {
  const list = label(h("select", {}), "aria-label", "inspect.turn");
  const detail = h("div", { class: "events" });
  const address = label(h("input", { type: "url", required: true, maxlength: "2000" }), "aria-label", "inspect.card");
  const form = h("form", { class: "row" }, label(address, "placeholder", "inspect.card"), h("button", {}, say("inspect.check")));
  const card = h("div", { class: "card", "aria-live": "polite" });
  const element = h("section", { class: "inspect" }, say("nav.inspect", {}, "h2"), form, card, list, detail);

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    card.replaceChildren(say("working", {}, "p"));
    try {
      const told = await checkCard(address.value);
      const found = told.findings.map(({ severity, path, message, fix }) =>
        h("li", {}, say(`severity.${severity}`, {}, "strong"), " ", h("code", {}, plain(path)), ` ${plain(message)}`, h("p", {}, plain(fix))));
      card.replaceChildren(found.length ? h("ul", {}, found) : say("inspect.good", {}, "p"),
        h("details", {}, say("inspect.text", {}, "summary"), h("pre", {}, h("code", {}, plain(told.card).slice(0, 100_000)))));
    } catch (error) {
      card.replaceChildren(problem(error.kind ?? "broken", error.message, error.seconds));
    }
  });

  function draw() {
    const turn = turns[list.selectedIndex];
    if (!turn) return detail.replaceChildren(say("inspect.none", {}, "p"));
    const events = turn.events.map(({ ms, value }) => h("details", { open: turn.events.length < 4 }, h("summary", {}, `${ms} ms · ${kindOf(value)}`), shown(value)));
    const params = turn.request.body.params;
    const repeats = params?.message && [button("inspect.as_ui", () => repeat(turn, "0.3")), button("inspect.as_program", () => repeat(turn, "1.0"))];
    return detail.replaceChildren(h("div", { class: "row" }, copyButton(() => curl(turn.request), "inspect.curl"), repeats || []),
      say("inspect.request", {}, "h3"), shown(turn.request), say("inspect.events", {}, "h3"), ...events);
  }

  async function repeat(turn, version) {
    const text = textOf(turn.request.body.params.message);
    const request = version === "1.0"
      ? requestOf("SendStreamingMessage", { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] }, configuration: { acceptedOutputModes: ["text/plain", "application/json"] } })
      : requestOf("message/stream", { message: { kind: "message", messageId: crypto.randomUUID(), role: "user", parts: [{ kind: "text", text }] } }, version);
    try {
      for await (const _ of stream(request, { title: `${version}: ${text}` }));
    } catch (error) {
      detail.append(problem(error.kind ?? "broken", error.message, error.seconds));
    }
    load();
  }

  function load() {
    list.replaceChildren(...turns.map((turn) => h("option", {}, plain(turn.title).slice(0, 100))));
    list.hidden = !turns.length;
    draw();
  }
  list.addEventListener("change", draw);
  return { element, shown: load };
}

const textOf = ({ parts }) => parts.map((part) => part.text ?? "").join(" ");

function kindOf({ result, error }) {
  if (error) return "error";
  return result.kind ?? Object.keys(result)[0] ?? "";
}
