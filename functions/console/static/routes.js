// Routes: the table, and the route that a text would take.

import { problem } from "./answer.js";
import { query, read } from "./hub.js";
import { plain } from "./markdown.js";
import { h, label, language, say } from "./page.js";

export function view() {
  const result = h("div", { role: "status" });
  const rows = h("tbody");
  const input = label(h("input", { required: true, maxlength: "20000" }), "aria-label", "routes.try");
  const form = h("form", { class: "row" }, label(input, "placeholder", "routes.try"), h("button", {}, say("routes.choose")));
  const heads = ["routes.route", "routes.rules", "routes.priority", "why.boundary", "routes.fallbacks"];
  const element = h("section", { class: "routes" }, say("nav.routes", {}, "h2"), form, result,
    h("div", { class: "wide" }, h("table", {}, h("thead", {}, h("tr", {}, heads.map((key) => say(key, {}, "th")))), rows)));

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const told = await query({ query: input.value, dryRun: true });
      const others = Object.values(told.passedOver ?? {}).map((reason) => h("li", {}, plain(reason)));
      result.replaceChildren(h("p", {}, h("strong", {}, told.agent ?? "–"), " ", h("code", {}, told.route ?? "")), h("p", {}, plain(told.reason)),
        ...(others.length ? [say("routes.passed_over", {}, "p"), h("ul", {}, others)] : [say("routes.no_other", {}, "p")]));
    } catch (error) {
      result.replaceChildren(problem(error.kind ?? "broken", error.message, error.seconds));
    }
  });

  function row(route) {
    const isJapanese = language() === "ja";
    const rules = [...route.keywords.map((word) => h("li", {}, word)), ...route.patterns.map((each) => h("li", {}, h("code", {}, each)))];
    return h("tr", {},
      h("th", { scope: "row" }, isJapanese ? route.nameJa : route.name, " ", h("code", {}, route.id), route.default && say("routes.default", {}, "em"),
        h("p", {}, isJapanese ? route.descriptionJa : route.description)),
      h("td", {}, rules.length ? h("details", {}, say("routes.count", { count: rules.length }, "summary"), h("ul", {}, rules)) : "–"),
      h("td", {}, String(route.priority)), h("td", {}, route.boundary), h("td", {}, route.fallbacks.join(", ")));
  }

  async function load() {
    try {
      const { routes } = await read("/routes");
      rows.replaceChildren(...routes.map(row));
    } catch (error) {
      result.replaceChildren(problem(error.kind ?? "broken", error.message, error.seconds));
    }
  }
  document.addEventListener("language", () => rows.childElementCount && load());
  return { element, shown: load };
}
