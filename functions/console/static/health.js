// Health: what the hub's doctor finds, with the command that fixes it; for operators.

import { problem } from "./answer.js";
import { read } from "./hub.js";
import { button, copyButton, h, row, say, table } from "./page.js";

const HEADS = ["health.part", "health.check", "health.outcome", "health.found"];
// Problems come first.
const rank = ({ outcome }) => ({ error: 0, warning: 1 })[outcome] ?? 2;

export function view() {
  const found = h("div", { "aria-live": "polite" });
  const examine = button("health.examine", load);
  const element = h("section", { class: "health" }, say("nav.health", {}, "h2"), examine, found);

  async function load() {
    examine.disabled = true;
    found.replaceChildren(say("health.examining", {}, "p"));
    try {
      const { examined } = await read("/doctor");
      const steps = examined.flatMap(({ subject, steps }) => steps.map((step) => ({ subject, ...step })));
      const rows = steps.sort((one, other) => rank(one) - rank(other)).map(drawn);
      found.replaceChildren(table(HEADS, h("tbody", {}, rows)));
    } catch (error) {
      found.replaceChildren(problem(error.kind === "forbidden" ? "operators" : error));
    }
    examine.disabled = false;
  }

  function drawn({ subject, check, outcome, message, fix, command }) {
    const cells = [message, fix && h("p", {}, fix), command && h("p", { class: "command" }, h("code", {}, command), " ", copyButton(command))];
    return row(HEADS, { class: outcome }, h("th", { scope: "row" }, subject), h("td", {}, check), h("td", {}, say(`outcome.${outcome}`)), h("td", {}, cells.filter(Boolean)));
  }
  return { element, shown: () => found.childElementCount || load() };
}
