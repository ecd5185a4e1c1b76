// What the hub tells operators of unfinished work and of misses: read when its part of a page is opened.

import { problem } from "./answer.js";
import { read } from "./hub.js";
import { button, h, say } from "./page.js";

// A part under the text `key`, which `draw` makes of the hub's answer.
export function activity(key, draw) {
  const body = h("div", { "aria-live": "polite" });
  const element = h("details", { class: "activity", ontoggle: () => element.open && load() }, say(key, {}, "summary"), body);

  async function load() {
    body.replaceChildren(say("working", {}, "p"));
    try {
      body.replaceChildren(...draw(await read("/activity")), button("activity.again", load));
    } catch (error) {
      body.replaceChildren(problem(error.kind === "forbidden" ? "operators" : error));
    }
  }
  return element;
}
