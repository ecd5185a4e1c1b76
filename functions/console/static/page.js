// Elements and texts. Nothing on a page is made of HTML in a string: every text is set as text.

let texts = {};

export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => ![null, undefined, false, 0].includes(child)));
  return element;
}

export const text = (key, values = {}) => (texts[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

// A text of the interface, which follows the language when that is switched.
export const say = (key, values = {}, name = "span") =>
  h(name, { "data-t": key, "data-v": JSON.stringify(values) }, text(key, values));

// An attribute that follows it, too: aria-label or placeholder.
export function label(element, attribute, key) {
  element.setAttribute(`data-t-${attribute}`, key);
  element.setAttribute(attribute, text(key));
  return element;
}

const MAX_JSON = 500_000;

// A value as JSON; characters that would move or hide others are escaped.
export function json(value) {
  const escaped = (character) => character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
  return h("pre", {}, h("code", {}, JSON.stringify(value, null, 2).slice(0, MAX_JSON).replace(/[\x7f-\x9f\u061c\u180e\u200b-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\uffa0\ufe00-\ufe0d\u{e0100}-\u{e01ef}]/gu, escaped)));
}

export const language = () => document.documentElement.lang;

export const pause = (ms) => new Promise((resume) => setTimeout(resume, ms));

export const time = (stamp) => new Date(stamp).toLocaleString(language());

export const button = (key, onclick, attributes = {}) =>
  h("button", { type: "button", "data-t": key, onclick, ...attributes }, text(key));

// A table whose columns are named by these texts; on a phone, its cells stand below one another, each after that name.
export const table = (heads, ...rows) =>
  h("div", { class: "wide" }, h("table", {}, h("thead", {}, h("tr", {}, heads.map((key) => say(key, {}, "th")))), ...rows));

export const row = (heads, attributes, ...cells) => h("tr", attributes, cells.map((cell, column) => label(cell, "data-head", heads[column])));

export function copyButton(content, key = "copy") {
  const element = button(key, async () => {
    await navigator.clipboard.writeText(typeof content === "function" ? content() : content);
    element.replaceChildren(text("copied"));
    setTimeout(() => element.replaceChildren(text(key)), 1500);
  });
  return element;
}

export async function speak(wanted) {
  const answer = await fetch(`/static/${wanted}.json`);
  texts = await answer.json();
  document.documentElement.lang = wanted;
  document.title = text("title");
  for (const element of document.querySelectorAll("[data-t]")) {
    const key = element.dataset.t;
    if (key) element.replaceChildren(text(key, JSON.parse(element.dataset.v ?? "{}")));
  }
  for (const attribute of ["aria-label", "placeholder", "data-head"]) {
    for (const element of document.querySelectorAll(`[data-t-${attribute}]`)) {
      element.setAttribute(attribute, text(element.getAttribute(`data-t-${attribute}`)));
    }
  }
}

// The language that was chosen here, else the browser's first that there is.
export async function start() {
  const known = (each) => ["en", "ja"].includes(each);
  const select = document.getElementById("language");
  const browsers = navigator.languages.map((each) => each.slice(0, 2).toLowerCase());
  select.value = [localStorage.getItem("language"), ...browsers].find(known) ?? "en";
  select.addEventListener("change", async () => {
    localStorage.setItem("language", select.value);
    await speak(select.value);
    document.dispatchEvent(new Event("language"));
  });
  await speak(select.value);
  select.disabled = false;
}
