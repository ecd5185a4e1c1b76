// Ask: a conversation with the hub.

import { Answer } from "./answer.js";
import { compareButton } from "./compare.js";
import { read, requestOf, rpc } from "./hub.js";
import { plain } from "./markdown.js";
import { button, h, label, language, say, text } from "./page.js";

const MAX_FILE_BYTES = 7_000_000;
// A text that was sent after the session had ended, for the page after the next sign-in.
const DRAFT = "draft";
// The turn that runs or waits when the page is left, for the page after that.
const TURN = "turn";
const MAX_EXAMPLES = 2;
const isJapanese = (words) => /[\u3040-\u30ff\u4e00-\u9fff]/.test(words);

export function view() {
  let conversation = {};
  let running = null;
  const log = label(h("div", { role: "log", "aria-live": "polite", class: "log" }), "aria-label", "ask.log");
  const input = label(h("textarea", { rows: "3", maxlength: "100000" }), "placeholder", "ask.placeholder");
  label(input, "aria-label", "ask.placeholder");
  const files = h("input", { type: "file", multiple: true, id: "files", class: "unseen", onchange: () => names.replaceChildren(chosen().join(", ")) });
  const chosen = () => [...files.files].map((file) => plain(file.name));
  const names = h("output", {});
  const warning = h("p", { class: "problem", role: "alert" });
  const stop = button("stop", () => running?.stop(), { hidden: true });
  const sendButton = h("button", { "data-t": "send" }, say("send"));
  const help = () => ask([{ text: text("ask.help") }], text("ask.help"));
  const examples = h("dl", { class: "examples" });
  const empty = h("div", { class: "empty" }, say("ask.empty", {}, "p"), button("ask.help", help), examples);
  const form = h("form", {}, input, warning,
    h("div", { class: "row" }, files, h("label", { for: "files", class: "button" }, say("ask.files")), names, stop, button("ask.new", renew), sendButton));

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  input.addEventListener("keydown", (event) => {
    // While Japanese is composed, Enter chooses a word.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    form.requestSubmit();
  });
  log.append(empty);
  input.value = sessionStorage.getItem(DRAFT) ?? "";
  sessionStorage.removeItem(DRAFT);
  suggest();
  document.addEventListener("language", suggest);
  const left = JSON.parse(sessionStorage.getItem(TURN));
  if (left) take({ taskId: left.taskId, contextId: left.contextId }, null, left.shown, left.attached);

  // Questions that each agent answers, in the language of the page.
  async function suggest() {
    const { routes } = await read("/routes").catch(() => ({ routes: [] }));
    const wanted = language() === "ja";
    const groups = routes.map(({ name, nameJa, examples: all }) => [wanted ? nameJa : name, all.filter((each) => isJapanese(each) === wanted)]);
    const asking = (example) => h("button", { type: "button", onclick: () => ask([{ text: example }], example) }, example);
    const drawn = ([name, of]) => [h("dt", {}, name), h("dd", { class: "row" }, of.slice(0, MAX_EXAMPLES).map(asking))];
    examples.replaceChildren(...groups.filter(([, of]) => of.length).flatMap(drawn));
  }

  async function submit() {
    const words = input.value.trim();
    const attached = [...files.files];
    warning.replaceChildren();
    if (running || !(words || attached.length)) return;
    if (attached.reduce((sum, file) => sum + file.size, 0) > MAX_FILE_BYTES) {
      warning.append(say("error.too_large"));
      return;
    }
    const parts = [...(words ? [{ text: words }] : []), ...(await Promise.all(attached.map(partOf)))];
    const shownNames = chosen();
    form.reset();
    names.replaceChildren();
    await ask(parts, words, shownNames);
  }

  function ask(parts, shown, attached = []) {
    const configuration = { acceptedOutputModes: ["text/plain"] };
    return take({}, requestOf("SendStreamingMessage", { message: messageOf(parts), configuration }), shown, attached);
  }

  // Show the turn of a request, or without one, go on with the task that is known of it.
  async function take(known, request, shown, attached) {
    if (running) return;
    empty.remove();
    const isInLog = log.contains(document.activeElement);
    // The hub rates the last answer of a conversation, and what is asked now answers a question.
    for (const old of log.querySelectorAll(".rate, .choices, [data-t='state.INPUT_REQUIRED']")) old.remove();
    if (isInLog) input.focus({ preventScroll: true });
    const aborting = new AbortController();
    const answer = new Answer({
      reply: (number, name) => ask([{ text: number }], name),
      again: request && (() => ask(request.body.params.message.parts, shown, attached)),
      rate: (word) => rpc("SendMessage", { message: messageOf([{ text: `/${word}` }]) }),
      begun: () => sessionStorage.setItem(TURN, JSON.stringify({ taskId: answer.taskId, contextId: answer.contextId, shown, attached })),
    });
    Object.assign(answer, known);
    running = {
      stop: () => {
        if (answer.taskId) rpc("CancelTask", { id: answer.taskId }).catch(() => {});
        aborting.abort();
      },
    };
    stop.hidden = false;
    sendButton.disabled = true;
    const question = [h("span", { class: "unseen" }, say("tasks.you")), h("p", { dir: "auto" }, plain(shown)), attached.length && h("p", { class: "files" }, attached.join(", "))];
    log.append(h("div", { class: "question" }, question.filter(Boolean)), answer.element);
    answer.element.scrollIntoView({ block: "end" });
    await answer.run(request, { signal: aborting.signal, title: shown || attached.join(", ") });
    const waits = answer.state === "INPUT_REQUIRED" && answer.taskId;
    const contextId = answer.contextId ?? conversation.contextId;
    // A reply that is refused leaves no task: it may have ended elsewhere, and the hub finds one that still waits.
    if (answer.contextId || answer.problem === "protocol") conversation = contextId ? { contextId, ...(waits ? { taskId: answer.taskId } : {}) } : {};
    if (shown && !attached.length && answer.isDone) answer.after.querySelector(".why")?.append(compareButton(shown));
    if (answer.problem !== "signed_out" && !waits) sessionStorage.removeItem(TURN);
    if (answer.problem === "signed_out" && !answer.taskId) sessionStorage.setItem(DRAFT, shown);
    running = null;
    stop.hidden = true;
    sendButton.disabled = false;
    answer.element.scrollIntoView({ block: "nearest" });
  }

  const messageOf = (parts) => ({ messageId: crypto.randomUUID(), role: "ROLE_USER", parts, ...conversation });

  function renew() {
    running?.stop();
    sessionStorage.removeItem(TURN);
    conversation = {};
    log.replaceChildren(empty);
    input.focus();
  }

  return { element: h("section", { class: "ask" }, say("nav.ask", {}, "h2"), log, form), shown: () => input.focus() };
}

async function partOf(file) {
  const address = await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
  return { raw: address.slice(address.indexOf(",") + 1), filename: file.name, mediaType: file.type || "application/octet-stream" };
}
