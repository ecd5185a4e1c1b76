// A document at a quote, which is marked: read with the permissions of the person who is signed in.

import { problem } from "./answer.js";
import { query } from "./hub.js";
import { link, plain } from "./markdown.js";
import { h, say } from "./page.js";

export function view() {
  const shownAs = h("div", { class: "document", "aria-live": "polite" });
  const element = h("section", { class: "document-page" }, say("document", {}, "h2"), h("p", {}, h("a", { href: "#ask" }, say("document.back"))), shownAs);
  let at = "";

  async function load(parameters) {
    if (at === String(parameters)) return;
    at = String(parameters);
    shownAs.replaceChildren(say("working", {}, "p"));
    const place = { uri: parameters.get("uri"), start: Number(parameters.get("start")), quote: parameters.get("quote") };
    try {
      // Anybody may have written this address, so no text of it is asked as a question.
      const { data } = await query({ query: "Show this document.", route: parameters.get("route"), document: place });
      if (at !== String(parameters)) return;
      const found = data?.document;
      if (found) show(found);
      else shownAs.replaceChildren(problem(data?.declines === "nothing_known" ? "no_document" : "document_down"));
    } catch (error) {
      at = "";
      shownAs.replaceChildren(problem(error));
    }
  }

  function show({ title, link: address, before, quote, after }) {
    const mark = h("mark", { tabindex: "-1" }, plain(quote));
    shownAs.replaceChildren(h("h3", {}, plain(title)), address ? h("p", {}, h("small", {}, link(address))) : "",
      quote ? "" : say("document.changed", {}, "p"), h("div", { class: "whole", dir: "auto" }, plain(before), quote && mark, plain(after)));
    mark.scrollIntoView({ block: "center" });
    mark.focus({ preventScroll: true });
  }
  return { element, shown: load };
}
