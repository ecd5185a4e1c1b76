// Inspect: the request and the raw events of this page's turns, the same text in both contracts, and agents' cards.

import { problem } from "./answer.js";
import { compareButton } from "./compare.js";
import { finding, prepare } from "./findings.js";
import { checkCard, curl, turns } from "./hub.js";
import { plain } from "./markdown.js";
import { copyButton, h, json, label, say } from "./page.js";

export function view() {
  const list = label(h("select", {}), "aria-label", "inspect.turn");
  const detail = h("div", { class: "events" });
  const address = label(h("input", { type: "url", required: true, maxlength: "2000" }), "aria-label", "inspect.card");
  const form = h("form", { class: "row" }, label(address, "placeholder", "inspect.card"), h("button", {}, say("inspect.check")));
  const card = h("div", { class: "card", "aria-live": "polite" });
  let checked = null;
  const element = h("section", { class: "inspect" }, say("nav.inspect", {}, "h2"), form, card, list, detail);

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    card.replaceChildren(say("working", {}, "p"));
    try {
      checked = await checkCard(address.value);
      await drawCard();
    } catch (error) {
      card.replaceChildren(problem(error));
    }
  });

  async function drawCard() {
    await prepare();
    const found = checked.findings.map(({ severity, path, message, fix }) =>
      h("li", {}, say(`severity.${severity}`, {}, "strong"), " ", h("code", {}, plain(path)), " ", finding(message), finding(fix, "p")));
    card.replaceChildren(found.length ? h("ul", {}, found) : say("inspect.good", {}, "p"),
      h("details", {}, say("inspect.text", {}, "summary"), h("pre", {}, h("code", {}, plain(checked.card).slice(0, 100_000)))));
  }
  document.addEventListener("language", () => checked && drawCard());

  function draw() {
    const turn = turns[list.selectedIndex];
    if (!turn) return detail.replaceChildren(say("inspect.none", {}, "p"));
    const events = turn.events.map(({ ms, value }) => h("details", { open: turn.events.length < 4 }, h("summary", {}, `${ms} ms · ${kindOf(value)}`), json(value)));
    const text = textOf(turn.request.body.params.message);
    return detail.replaceChildren(copyButton(() => curl(turn.request), "inspect.curl"), " ", text ? compareButton(text) : "",
      say("inspect.request", {}, "h3"), json(turn.request), say("inspect.events", {}, "h3"), ...events);
  }

  function load() {
    list.replaceChildren(...turns.map((turn) => h("option", {}, plain(turn.title).slice(0, 100))));
    list.hidden = !turns.length;
    draw();
  }
  list.addEventListener("change", draw);
  return { element, shown: load };
}

const textOf = (message) => (message?.parts ?? []).map((part) => part.text ?? "").join(" ").trim();

function kindOf({ result, error }) {
  if (error) return "error";
  return result.kind ?? Object.keys(result)[0] ?? "";
}
