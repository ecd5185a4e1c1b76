// Tasks: the person's own, with their log; they can be followed, answered and cancelled.

import { Answer, activity, isOver, problem, stateOf } from "./answer.js";
import { requestOf, rpc } from "./hub.js";
import { plain } from "./markdown.js";
import { button, h, label, pause, row, say, table, time } from "./page.js";

const EVERY_MS = 10_000;
const AGAIN_MS = 3000;
const HEADS = ["tasks.task", "tasks.state", "tasks.time"];
const WORK_HEADS = ["tasks.task", "tasks.state", "work.role", "work.holder", "work.attempt", "work.lease"];
const words = (message) => plain((message?.parts ?? []).map((part) => part.text ?? part.filename ?? "…").join(" "));

// The unfinished tasks of everybody, with the worker of each and its lease.
function drawWork({ tasks }) {
  if (!tasks.length) return [say("work.none", {}, "p")];
  const at = (seconds) => ({ time: time(seconds * 1000) });
  const lease = ({ leaseUntil, createdAt }) =>
    leaseUntil ? say(leaseUntil * 1000 > Date.now() ? "work.leased" : "work.expired", at(leaseUntil)) : say("work.waits", at(createdAt));
  const rows = tasks.map((task) => row(WORK_HEADS, {},
    h("td", {}, h("code", {}, plain(task.id))), h("td", {}, say(`state.${task.state}`)), h("td", {}, task.role ?? say("work.hub")),
    h("td", {}, task.holder ? plain(task.holder) : "–"), h("td", {}, String(task.attempt)), h("td", {}, lease(task))));
  return [table(WORK_HEADS, h("tbody", {}, rows))];
}

export function view() {
  const rows = h("tbody");
  const notice = h("div");
  const detail = h("div", { class: "detail", "aria-live": "polite" });
  const element = h("section", { class: "tasks" }, say("nav.tasks", {}, "h2"), notice,
    table(HEADS, rows), detail, activity("work", drawWork));
  let aborting = null;
  // The task that is shown and not followed, as it ended or waits: it may be answered elsewhere.
  let resting = null;

  async function load() {
    try {
      const { tasks = [] } = await rpc("ListTasks", { pageSize: 50, historyLength: 20 });
      notice.replaceChildren(...(tasks.length ? [] : [say("tasks.none", {}, "p")]));
      rows.replaceChildren(...tasks.map(drawn));
      const now = resting && tasks.find(({ id }) => id === resting.id);
      if (now && now.status?.timestamp !== resting.status?.timestamp) open(now.id);
    } catch (error) {
      notice.replaceChildren(problem(error));
    }
  }

  function drawn(task) {
    const title = words(task.history?.[0]) || task.id;
    const opener = h("button", { type: "button", class: "link", onclick: () => open(task.id) }, title.slice(0, 120));
    return row(HEADS, {}, h("td", {}, opener), h("td", {}, say(`state.${stateOf(task)}`)), h("td", {}, task.status?.timestamp ? time(task.status.timestamp) : ""));
  }

  async function open(id) {
    aborting?.abort();
    aborting = new AbortController();
    resting = null;
    const { signal } = aborting;
    try {
      const task = await rpc("GetTask", { id });
      const answer = new Answer({ reply: (number) => reply(task, number) });
      const log = (task.history ?? []).map((message) =>
        h("li", { dir: "auto" }, say(message.role === "ROLE_USER" ? "tasks.you" : "tasks.agent", {}, "strong"), " ", words(message)));
      const state = stateOf(task);
      const isOpen = !isOver(state) || state.endsWith("_REQUIRED");
      const cancel = isOpen && button("tasks.cancel", () => rpc("CancelTask", { id }).then(() => open(id)).then(load, failed));
      detail.replaceChildren(...[h("h3", {}, h("code", {}, id)), h("ol", { class: "history" }, log), answer.element,
        state === "INPUT_REQUIRED" && replyForm(task), cancel].filter(Boolean));
      answer.apply({ task });
      if (answer.isDone) {
        answer.progress.remove();
        resting = task;
      } else {
        await answer.follow(signal);
        if (!answer.isDone) await pause(AGAIN_MS);
        if (!signal.aborted) open(id);
      }
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
  }

  function replyForm(task) {
    const input = label(h("input", { required: true, maxlength: "10000" }), "aria-label", "tasks.reply");
    const form = h("form", { class: "row" }, input, h("button", {}, say("send")));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      reply(task, input.value);
    });
    return form;
  }

  async function reply({ id, contextId }, text) {
    resting = null;
    const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }], taskId: id, contextId };
    const answer = new Answer();
    detail.replaceChildren(answer.element);
    await answer.run(requestOf("SendStreamingMessage", { message }), { title: text });
    await load();
    if (answer.taskId && answer.isDone) open(answer.taskId);
  }

  const failed = (error) => detail.append(problem(error));
  setInterval(() => element.isConnected && !element.hidden && !document.hidden && load(), EVERY_MS);
  return { element, shown: load };
}
