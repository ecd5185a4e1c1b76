// Routes: the table, and the route that a text would take.

import { activity, problem, ruleOf } from "./answer.js";
import { finding, prepare } from "./findings.js";
import { query, read } from "./hub.js";
import { plain } from "./markdown.js";
import { h, label, language, row, say, table } from "./page.js";

const HEADS = ["routes.route", "routes.rules", "routes.priority", "why.boundary", "routes.fallbacks"];
const MISS_HEADS = ["misses.count", "misses.kind", "routes.route", "misses.text"];
const MAX_CLASHES = 200;
const bare = (word) => word.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim();

// The keywords that never decide: a text with one of them has that of a route with a higher priority, too.
function clashes(routes) {
  const known = routes.flatMap((route) => route.keywords.map((word) => ({ route, word: plain(word), bare: bare(word) })));
  const isPart = (part, whole) => (/^[ -~]*$/.test(part) ? ` ${whole} `.includes(` ${part} `) : whole.includes(part));
  const pairs = known.map((own) => [own, known.find((other) => other.route.priority > own.route.priority && isPart(other.bare, own.bare))]);
  return pairs.filter(([, other]) => other).map(([own, other]) => ({ word: own.word, route: own.route.id, other: other.word, winner: other.route.id }));
}

export function view() {
  const result = h("div", { role: "status" });
  const rows = h("tbody");
  const input = label(h("input", { required: true, maxlength: "20000" }), "aria-label", "routes.try");
  const form = h("form", { class: "row" }, label(input, "placeholder", "routes.try"), h("button", {}, say("routes.choose")));
  const found = h("ul");
  let known = new Map();
  const nameOf = (id, name) => (language() === "ja" ? known.get(id)?.nameJa : known.get(id)?.name) ?? name;
  const element = h("section", { class: "routes" }, say("nav.routes", {}, "h2"), form, result, table(HEADS, rows),
    h("details", {}, say("clashes", {}, "summary"), found), activity("misses", drawMisses));

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const choice = await query({ query: input.value, dryRun: true });
      await prepare();
      const others = Object.entries(choice.passedOver ?? {}).map(([id, reason]) => h("li", {}, plain(nameOf(id, id)), ": ", finding(reason)));
      result.replaceChildren(h("p", {}, h("strong", {}, nameOf(choice.route, choice.agent ?? "–")), " ", h("code", {}, choice.route ?? "")), h("p", {}, choice.rule ? ruleOf(choice) : plain(choice.reason)),
        ...(others.length ? [say("routes.passed_over", {}, "p"), h("ul", {}, others)] : [say("routes.no_other", {}, "p")]));
    } catch (error) {
      result.replaceChildren(problem(error));
    }
  });

  function drawMisses({ misses, days }) {
    if (!misses.length) return [say("misses.none", { days }, "p")];
    const again = (text) => () => {
      input.value = text;
      form.requestSubmit();
    };
    const rows = misses.map(({ kind, route, text, count }) => row(MISS_HEADS, {},
      h("td", {}, String(count)), h("td", {}, say(`miss.${kind}`)), h("td", {}, h("code", {}, route)),
      h("td", { dir: "auto" }, text ? h("button", { type: "button", class: "link", onclick: again(text) }, plain(text)) : say("misses.no_text"))));
    return [say("misses.days", { days }, "p"), table(MISS_HEADS, h("tbody", {}, rows))];
  }

  function drawn(route) {
    const isJapanese = language() === "ja";
    const rules = [...route.keywords.map((word) => h("li", {}, word)), ...route.patterns.map((each) => h("li", {}, h("code", {}, each)))];
    return row(HEADS, {},
      h("th", { scope: "row" }, isJapanese ? route.nameJa : route.name, " ", h("code", {}, route.id), route.default && say("routes.default", {}, "em"),
        h("p", {}, isJapanese ? route.descriptionJa : route.description)),
      h("td", {}, rules.length ? h("details", {}, say("routes.count", { count: rules.length }, "summary"), h("ul", {}, rules)) : "–"),
      h("td", {}, String(route.priority)), h("td", {}, route.boundary), h("td", {}, route.fallbacks.join(", ")));
  }

  async function load() {
    try {
      const { routes } = await read("/routes");
      known = new Map(routes.map((route) => [route.id, route]));
      rows.replaceChildren(...routes.map(drawn));
      const items = clashes(routes).slice(0, MAX_CLASHES).map((values) => say("clash", values, "li"));
      found.replaceChildren(...(items.length ? items : [say("clashes.none", {}, "li")]));
    } catch (error) {
      result.replaceChildren(problem(error));
    }
  }
  document.addEventListener("language", () => rows.childElementCount && load());
  return { element, shown: load };
}
