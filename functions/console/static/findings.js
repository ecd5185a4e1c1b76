// What the doctor, the rules on cards and the router find, in the language of the page: their English sentences are the keys of a table, in
// which {} stands for a value. A sentence that is not in it, such as one of a foreign agent, stays as it is.

import { plain } from "./markdown.js";
import { h, language } from "./page.js";

const MAX_CHARACTERS = 2000;
const MAX_DEPTH = 3;
let table = [];

// Read the table, if the page needs it.
export async function prepare() {
  if (language() !== "ja" || table.length) return;
  const answer = await fetch("/static/findings.ja.json");
  const literals = (pieces) => pieces.join("").length;
  table = Object.entries(await answer.json()).map(([english, japanese]) => [english.split("{}"), japanese]);
  table.sort(([one], [other]) => literals(other) - literals(one));
}

// The values between the pieces of a sentence; null if the text is another one.
function valuesOf(pieces, text) {
  const values = [];
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    const found = index && index === pieces.length - 1 ? text.length - piece.length : text.indexOf(piece, at);
    if (found < at || (!index && found) || !text.startsWith(piece, found)) return null;
    if (index) values.push(text.slice(at, found));
    at = found + piece.length;
  }
  return at === text.length ? values : null;
}

function japanese(text, depth = 0) {
  if (depth > MAX_DEPTH) return text;
  for (const [pieces, sentence] of table) {
    const values = valuesOf(pieces, text);
    if (values) return sentence.replace(/\{(\d)\}/g, (_, number) => japanese(values[number - 1], depth + 1));
  }
  return text;
}

export function finding(words, name = "span") {
  const text = plain(words);
  const shown = language() === "ja" && text.length <= MAX_CHARACTERS ? japanese(text) : text;
  return h(name, { lang: shown === text ? "en" : "ja" }, shown);
}
