// One answer on the page: it grows with the events of its task, and says why it is as it is.

import { HubError, ROUTE, read, requestOf, rpc, stream } from "./hub.js";
import { link, markdown, plain } from "./markdown.js";
import { button, copyButton, h, language, pause, say } from "./page.js";

const ENDS = ["COMPLETED", "FAILED", "CANCELED", "REJECTED", "INPUT_REQUIRED", "AUTH_REQUIRED"];
const MAX_FORMATTED = 50_000;
// A hub that restarts is back within these waits.
const RETRIES_MS = [500, 2000, 5000, 10_000, 15_000];
const PASSING = ["away", "broken", "busy", "offline"];

export const stateOf = (task) => (task.status?.state ?? "").replace("TASK_STATE_", "");
export const isOver = (state) => ENDS.includes(state);
const textsOf = (parts = []) => parts.map((part) => part.text ?? "").join("");

export class Answer {
  // `reply(text)` answers a question of this answer; `again()` asks the same once more; `rate(word)` rates it, while it is the last;
  // `begun()` is called once its task is known.
  constructor({ reply, again, rate, begun } = {}) {
    Object.assign(this, { reply, again, rate, begun });
    this.artifacts = new Map();
    this.state = "";
    this.note = "";
    this.progress = h("p", { class: "progress", role: "status" }, say("working"));
    this.body = h("div", { class: "text", dir: "auto" });
    this.after = h("div", { class: "after" });
    this.element = h("article", { class: "answer", "aria-busy": "true" }, this.progress, this.body, this.after);
  }

  // Show the events of a request until they end, and go on with its task where the connection was lost; without a request, with
  // the task of a page that was left.
  async run(request, { signal, title } = {}) {
    Object.assign(this, { started: performance.now(), title });
    try {
      await (request ? this.take(() => stream(request, { signal, title })) : this.load());
      for (const wait of RETRIES_MS) {
        if (this.isDone || !this.taskId) break;
        await pause(wait);
        await this.follow(signal);
      }
      if (!this.isDone) throw new HubError("broken");
    } catch (error) {
      if (signal?.aborted) this.stopped();
      else this.failed(error);
    }
    this.element.setAttribute("aria-busy", "false");
    this.progress.remove();
  }

  // Show these results; a task outlives a failure that passes.
  async take(results) {
    try {
      for await (const result of await results()) this.apply(result);
    } catch (error) {
      if (!this.taskId || !PASSING.includes(error.kind)) throw error;
    }
  }

  // Read on in a task: its stream, or the whole of one that has ended.
  async follow(signal) {
    try {
      await this.take(() => stream(requestOf("SubscribeToTask", { id: this.taskId }), { signal, title: this.title }));
    } catch (error) {
      if (error.kind !== "protocol") throw error;
      await this.load();
    }
  }

  load() {
    return this.take(async () => [{ task: await rpc("GetTask", { id: this.taskId }) }]);
  }

  apply({ task, message, statusUpdate, artifactUpdate }) {
    const event = task ?? message ?? statusUpdate ?? artifactUpdate ?? {};
    this.contextId = event.contextId ?? this.contextId;
    const before = this.taskId;
    this.taskId = task?.id ?? event.taskId ?? before;
    if (this.taskId !== before) this.begun?.();
    this.why = event.metadata?.[ROUTE] ?? this.why;
    if (task) {
      this.artifacts = new Map((task.artifacts ?? []).map((each) => [each.artifactId, each.parts ?? []]));
    } else if (message) {
      this.artifacts.set(message.messageId, message.parts ?? []);
      this.state = "COMPLETED";
    } else if (artifactUpdate) {
      const { artifactId, parts = [] } = artifactUpdate.artifact;
      this.artifacts.set(artifactId, artifactUpdate.append ? [...(this.artifacts.get(artifactId) ?? []), ...parts] : parts);
    }
    const status = (task ?? statusUpdate)?.status;
    if (status) {
      this.state = stateOf({ status });
      this.error = status.message?.metadata?.error;
      const words = textsOf(status.message?.parts);
      if (isOver(this.state)) this.note = words;
      else if (words) this.progress.replaceChildren(plain(words).slice(0, 500));
    }
    if (this.firstMs === undefined && this.text) this.firstMs = Math.round(performance.now() - (this.started ?? 0));
    this.isDone = isOver(this.state);
    // Many small events are drawn together.
    if (this.isDone) this.draw();
    else this.drawing ??= setTimeout(() => this.draw(), 60);
  }

  get text() {
    return [...this.artifacts.values()].map(textsOf).filter(Boolean).join("\n\n");
  }

  draw() {
    clearTimeout(this.drawing);
    this.drawing = null;
    let words = this.text;
    if (this.why?.citations) words = withoutSources(words);
    if (this.note && !words.includes(this.note)) words += `${words ? "\n\n" : ""}${this.note}`;
    if (words.length > MAX_FORMATTED && !this.isDone) this.body.replaceChildren(h("pre", {}, plain(words.slice(-MAX_FORMATTED))));
    else {
      const [content, isCut] = markdown(words);
      this.body.replaceChildren(content, ...(isCut ? [say("cut", {}, "p")] : []));
    }
    if (this.isDone) this.finish();
  }

  finish() {
    const files = [...this.artifacts.values()].flat().filter((part) => part.raw !== undefined || part.url);
    this.after.replaceChildren(
      ...[badge(this.state), files.length && h("ul", { class: "files" }, files.map(fileOf)), this.choices()].filter(Boolean),
      ...[this.why && sources(this.why), this.why && reasons(this.why, this.firstMs), this.rating()].filter(Boolean),
    );
    if (this.again && this.error?.retryable) this.after.prepend(button("again", this.again));
    if (this.state === "FAILED" && this.why) this.after.append(h("p", {}, h("a", { href: "#health" }, say("health.see"))));
  }

  // The numbered choices at the end of a question, as buttons.
  choices() {
    if (this.state !== "INPUT_REQUIRED" || !this.reply) return null;
    const found = [...this.note.matchAll(/^(\d{1,2})\. (.{1,200})$/gm)];
    const first = found.findLastIndex((match) => match[1] === "1");
    if (first < 0) return null;
    const group = h("div", { class: "choices", role: "group" });
    for (const [, number, name] of found.slice(first)) {
      const choose = () => {
        for (const each of group.children) each.disabled = true;
        this.reply(number, plain(name));
      };
      group.append(h("button", { type: "button", onclick: choose }, plain(name)));
    }
    return group;
  }

  rating() {
    if (!this.rate || !this.why || this.state !== "COMPLETED") return null;
    const group = h("div", { class: "rate row", role: "group" });
    const rate = (word) => this.rate(word).then(() => group.replaceChildren(say("rated")), (error) => this.failed(error));
    group.append(button("rate.good", () => rate("good")), button("rate.bad", () => rate("bad")));
    return group;
  }

  stopped() {
    this.after.replaceChildren(badge("CANCELED"));
  }

  failed(error) {
    this.problem = error.kind ?? "broken";
    this.after.append(problem(error), ...(this.again && PASSING.includes(this.problem) ? [button("again", this.again)] : []));
  }
}

// What went wrong, in words: of an error, or of the name of one. Only refusals say more, in the words of the hub.
export function problem(error) {
  const { kind = "broken", message, seconds } = typeof error === "string" ? { kind: error } : error;
  if (error instanceof Error && !error.kind) console.error(error);
  const words = h("div", { class: "problem", role: "alert" }, say(`error.${kind}`, { seconds }, "p"));
  const detail = ["busy", "forbidden", "protocol"].includes(kind) && message;
  if (detail) words.append(h("p", { class: "detail", dir: "auto", lang: "en" }, plain(detail).slice(0, 1000)));
  if (kind === "signed_out") words.append(h("a", { href: "/sign-in?again=1", "data-t": "sign_in" }, say("sign_in")));
  return words;
}

// What the hub tells operators of unfinished work and of misses, under the text `key`: read when it is opened, and drawn by `draw`.
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

export const badge = (state) => (state === "COMPLETED" ? null : say(`state.${state}`, {}, "strong"));

// The hub writes the sources under the text, for those who see nothing else.
function withoutSources(words) {
  const first = words.lastIndexOf("\n[1] ");
  const heading = first < 0 ? -1 : words.lastIndexOf("\n\n", first - 1);
  return heading < 0 ? words : words.slice(0, heading);
}

function fileOf({ url, raw, filename, mediaType }) {
  const name = plain(filename || mediaType || "file");
  if (url) return h("li", {}, link(url, name));
  const download = () => {
    const bytes = Uint8Array.from(atob(raw), (character) => character.charCodeAt(0));
    const address = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
    h("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  return h("li", {}, h("button", { type: "button", onclick: download }, name));
}

// Browsers open a page at a text, which they mark, and a PDF at a page.
function atQuote(address, { quote = "", position }) {
  const words = encodeURIComponent(quote.split("\n")[0].slice(0, 200)).replaceAll("-", "%2D");
  const place = position?.page ? `page=${position.page}` : words && `:~:text=${words}`;
  return address.includes("#") || !place ? address : `${address}#${place}`;
}

// The console's page of the document; "" if its agent shows no documents.
function pageOf(route, { uri, quote = "", position, passageId }) {
  if (!route || !passageId || !quote.trim() || !Number.isInteger(position?.start)) return "";
  return `#document?${new URLSearchParams({ route, uri, start: position.start, quote })}`;
}

function sources({ route, citations }) {
  if (!citations?.length) return null;
  const items = citations.map((each) => {
    const name = plain(String(each.title || each.uri));
    const address = [each.link, each.uri].find((place) => /^https?:\/\//.test(place ?? "") && URL.canParse(place));
    const place = [...(each.position?.section ?? []).slice(-1), each.position?.page && `p. ${each.position.page}`];
    const where = place.filter(Boolean).map((words) => ` · ${plain(String(words))}`);
    const quote = each.quote && h("blockquote", { dir: "auto" }, plain(each.quote).slice(0, 1000));
    const page = pageOf(route, each);
    const original = address && link(atQuote(address, each), page ? new URL(address).host : name);
    const title = page ? h("a", { href: page }, name) : (original ?? h("cite", { title: each.uri }, name));
    return h("li", {}, title, where, page && original ? [" (", original, ")"] : null, quote);
  });
  return h("section", { class: "sources" }, say("sources", {}, "h3"), h("ol", {}, items));
}

export const ruleOf = ({ rule, words }) => say(`rule.${rule}`, { words: (words ?? []).map((word) => `“${plain(word)}”`).join(", ") });

function reasons(why, firstMs) {
  const { routingMs = 0, downstreamMs = 0, totalMs = 0 } = why.timings ?? {};
  const agent = language() === "ja" ? (why.agentJa ?? why.agent) : why.agent;
  const declined = (why.declined ?? []).map((each) => h("li", {}, `${each.agent}: `, say(`declined.${each.reason}`)));
  const dropped = (why.dropped ?? []).map((each) => h("li", { dir: "auto" }, plain(String(each?.text ?? "")), " ", h("code", {}, plain([each?.flaws].flat().join(", ")))));
  const rows = [
    ["why.route", why.route],
    ["why.rule", why.rule && ruleOf(why)],
    ["why.declined", declined.length && h("ul", {}, declined)],
    ["why.agent", agent],
    ["why.dropped", dropped.length && h("ul", {}, dropped)],
    ["why.boundary", why.boundary],
    ["why.version", why.version && `A2A ${why.version}, ${why.binding}`],
    ["why.timings", bar(routingMs, downstreamMs, Math.max(0, totalMs - downstreamMs), firstMs)],
    ["why.request", why.requestId && h("span", {}, h("code", {}, why.requestId), " ", copyButton(why.requestId))],
  ];
  const list = rows.filter(([, value]) => value).flatMap(([key, value]) => [say(key, {}, "dt"), h("dd", {}, value)]);
  return h("details", { class: "why" }, h("summary", {}, say("why"), agent && ` · ${agent}`), h("dl", {}, list));
}

function bar(routing, agent, hub, first) {
  const whole = Math.max(routing + agent + hub, 0.001);
  const parts = [["routing", routing], ["agent", agent], ["hub", hub]];
  const drawn = h("div", { class: "bar", "aria-hidden": "true" }, parts.map(([name, ms]) => {
    const part = h("span", { class: name });
    part.style.width = `${(100 * ms) / whole}%`;
    return part;
  }));
  const values = { routing: Math.round(routing), agent: Math.round(agent), hub: Math.round(hub), first: first ?? "–" };
  return h("div", {}, drawn, say("timings", values));
}
