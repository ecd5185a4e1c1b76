// Health: what the hub's doctor finds, with the command that fixes it; for operators.

import { problem } from "./answer.js";
import { finding, prepare } from "./findings.js";
import { read } from "./hub.js";
import { button, copyButton, h, row, say, table } from "./page.js";

const HEADS = ["health.part", "health.check", "health.outcome", "health.found"];
// Problems come first.
const rank = ({ outcome }) => ({ error: 0, warning: 1 })[outcome] ?? 2;

export function view() {
  const found = h("div", { "aria-live": "polite" });
  const examine = button("health.examine", load);
  let steps = null;
  const element = h("section", { class: "health" }, say("nav.health", {}, "h2"), examine, found);

  async function load() {
    examine.disabled = true;
    found.replaceChildren(say("health.examining", {}, "p"));
    try {
      const { examined } = await read("/doctor");
      steps = examined.flatMap(({ subject, steps: own }) => own.map((step) => ({ subject, ...step })));
      steps.sort((one, other) => rank(one) - rank(other));
      await draw();
    } catch (error) {
      found.replaceChildren(problem(error.kind === "forbidden" ? "operators" : error));
    }
    examine.disabled = false;
  }

  async function draw() {
    await prepare();
    found.replaceChildren(table(HEADS, h("tbody", {}, steps.map(drawn))));
  }

  function drawn({ subject, check, outcome, message, fix, command }) {
    const cells = [finding(message), fix && finding(fix, "p"), command && h("p", { class: "command" }, h("code", {}, command), " ", copyButton(command))];
    return row(HEADS, { class: outcome }, h("th", { scope: "row" }, subject), h("td", {}, finding(check)), h("td", {}, say(`outcome.${outcome}`)), h("td", {}, cells.filter(Boolean)));
  }
  document.addEventListener("language", () => steps && draw());
  return { element, shown: () => found.childElementCount || load() };
}
