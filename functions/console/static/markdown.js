// A small, safe part of Markdown: paragraphs, headings, lists, code, emphasis, links. All of it becomes elements and text;
// what is not understood stays as it was written.

import { h } from "./page.js";

const MAX_CHARACTERS = 200_000;
// Linear: each alternative ends on its line, and none nests.
const INLINE = /`([^`\n]{1,2000})`|\*\*([^*\n]{1,2000})\*\*|\[([^\][\n]{1,300})\]\((https?:\/\/[^\s()<>"]{1,2000})\)|(https?:\/\/[^\s<>"'()（）「」『』【】、。]{1,2000})/g;
// They make text read differently from what it is.
const INVISIBLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\uffa0\ufe00-\ufe0d]|(?<![\u3400-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}])[\u{e0100}-\u{e01ef}]/gu;

export const plain = (text) => String(text ?? "").replace(/\r\n?/g, "\n").replace(INVISIBLE, "");

export function link(address, words = address) {
  let url;
  try {
    url = new URL(address);
  } catch {
    return document.createTextNode(words);
  }
  if (!["http:", "https:"].includes(url.protocol)) return document.createTextNode(words);
  const element = h("a", { href: url.href, rel: "noopener noreferrer nofollow", target: "_blank" }, words);
  // Words may name another place than the one that they lead to: nothing but a path may stand beside the host.
  const [, named] = /^(?:https?:\/\/)?([^/?#\\]*)/.exec(words);
  return named === url.host ? element : h("span", {}, element, h("small", {}, ` (${url.host})`));
}

function inline(line) {
  const nodes = [];
  let end = 0;
  for (const match of line.matchAll(INLINE)) {
    const [whole, code, strong, words, address, bare] = match;
    nodes.push(line.slice(end, match.index));
    end = match.index + whole.length;
    if (code !== undefined) nodes.push(h("code", {}, code));
    else if (strong !== undefined) nodes.push(h("strong", {}, strong));
    else nodes.push(address ? link(address, words) : link(bare));
  }
  return [...nodes, line.slice(end)].filter((node) => node !== "");
}

const KINDS = [
  ["h", /^#{1,6}\s+(.*)/],
  ["ul", /^\s{0,8}[-*•]\s+(.*)/],
  ["ol", /^\s{0,3}\d{1,3}[.)]\s+(.*)/],
  ["code", /^(?: {4}|\t)(.*)/],
];

function kindOf(line) {
  for (const [kind, pattern] of KINDS) {
    const match = pattern.exec(line);
    if (match) return [kind, match[1]];
  }
  return [line.trim() ? "p" : "", line];
}

export function markdown(source) {
  const whole = plain(source);
  const fragment = document.createDocumentFragment();
  let block = null;
  let kind = "";
  let fenced = null;
  for (const line of whole.slice(0, MAX_CHARACTERS).split("\n")) {
    if (/^\s{0,3}```/.test(line)) {
      if (!fenced) fragment.append(h("pre", {}, (fenced = h("code"))));
      else fenced = null;
      kind = "";
      continue;
    }
    if (fenced) {
      fenced.append(line + "\n");
      continue;
    }
    const [next, content] = kindOf(line);
    if (next === "h") fragment.append(h("p", { class: "heading" }, inline(content)));
    else if (next === "ul" || next === "ol") {
      if (next !== kind) fragment.append((block = h(next, next === "ol" ? { start: parseInt(line.trim(), 10) } : {})));
      block.append(h("li", {}, inline(content)));
    } else if (next === "code") {
      if (next !== kind) fragment.append(h("pre", {}, (block = h("code"))));
      block.append(content + "\n");
    } else if (next === "p") {
      if (kind === "p") block.append(h("br"), ...inline(content));
      else fragment.append((block = h("p", {}, inline(content))));
    }
    kind = next;
  }
  return [fragment, whole.length > MAX_CHARACTERS];
}
