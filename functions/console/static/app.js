// The console: one page with its views, each named by the address after the #.

import * as ask from "./ask.js";
import * as document_ from "./document.js";
import * as health from "./health.js";
import * as inspect from "./inspect.js";
import { start } from "./page.js";
import * as routes from "./routes.js";
import * as tasks from "./tasks.js";

// Values of `document` are in the address, after a question mark.
const VIEWS = { ask, tasks, routes, health, inspect, document: document_ };
const made = {};
const scrolled = {};
let current = "";

function show() {
  const [, wanted, parameters] = /^#?([a-z]*)\??(.*)/.exec(location.hash);
  const name = Object.hasOwn(VIEWS, wanted) ? wanted : "ask";
  scrolled[current] = scrollY;
  if (!made[name]) {
    made[name] = VIEWS[name].view();
    document.getElementById("main").append(made[name].element);
  }
  for (const [each, view] of Object.entries(made)) view.element.hidden = each !== name;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  made[name].shown(new URLSearchParams(parameters));
  if (name !== current && name !== "document") scrollTo(0, scrolled[name] ?? 0);
  current = name;
}

// What was typed and asked is nobody else's: neither after signing out, nor when a session has ended and another person signs in.
const person = document.querySelector("header bdi").textContent;
if (sessionStorage.getItem("person") !== person) sessionStorage.clear();
sessionStorage.setItem("person", person);
document.querySelector("header form").addEventListener("submit", () => sessionStorage.clear());
await start();
addEventListener("hashchange", show);
show();
