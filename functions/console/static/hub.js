// Calls of the hub through the console, as the person who is signed in: A2A over JSON-RPC, and the hub's own pages.

export const ROUTE = "urn:a2a-hub:extension:route/v1";
const MAX_BUFFERED = 16 << 20;
const MAX_TURNS = 30;
const KINDS = { 401: "signed_out", 403: "forbidden", 413: "too_large", 429: "busy", 500: "away", 502: "away", 503: "away", 504: "away" };

const meta = (name) => document.querySelector(`meta[name=${name}]`).content;

export class HubError extends Error {
  constructor(kind, detail = "", seconds = "") {
    super(detail);
    this.kind = kind;
    this.seconds = seconds;
  }
}

// What was sent and received, for Inspect; the newest first.
export const turns = [];

async function send(path, body, headers = {}, signal = undefined) {
  let answer;
  try {
    answer = await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      headers: { "X-CSRF-Token": meta("csrf"), ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
  } catch (error) {
    throw error.name === "AbortError" ? error : new HubError("offline");
  }
  const isError = answer.status >= 400 && KINDS[answer.status];
  if (!isError) return answer;
  const refusal = await answer.json().catch(() => ({}));
  const detail = refusal.detail ?? refusal.error?.message ?? "";
  throw new HubError(KINDS[answer.status], detail, answer.headers.get("Retry-After") ?? "30");
}

async function json(answer) {
  const value = await answer.json().catch(() => {
    throw new HubError("broken");
  });
  if (answer.status >= 400 || value.error) throw new HubError("protocol", value.error?.message ?? value.detail ?? "");
  return value;
}

export const read = async (path) => json(await send(`/hub${path}`));
export const query = async (body) => json(await send("/hub/tools/query", body));
export const checkCard = async (url) => json(await send("/card", { url }));

export function requestOf(method, params, version = "1.0") {
  const extensions = version === "1.0" ? { "A2A-Extensions": ROUTE } : {};
  return { headers: { "A2A-Version": version, ...extensions }, body: { jsonrpc: "2.0", id: crypto.randomUUID(), method, params } };
}

export async function rpc(method, params) {
  const { headers, body } = requestOf(method, params);
  return (await json(await send("/hub", body, headers))).result;
}

// The results of a streaming method, one by one. A turn that is to be inspected is noted under its title.
export async function* stream(request, { signal, title } = {}) {
  const turn = { title, request, events: [], started: performance.now() };
  if (title) {
    turns.unshift(turn);
    turns.length = Math.min(turns.length, MAX_TURNS);
  }
  const answer = await send("/hub", request.body, { Accept: "text/event-stream", ...request.headers }, signal);
  for await (const data of events(answer, signal)) {
    const value = parsed(data);
    turn.events.push({ ms: Math.round(performance.now() - turn.started), value });
    if (value.error) throw new HubError("protocol", value.error.message ?? "");
    yield value.result;
  }
}

function parsed(data) {
  try {
    return JSON.parse(data);
  } catch {
    throw new HubError("broken");
  }
}

async function* events(answer, signal) {
  if (!(answer.headers.get("Content-Type") ?? "").startsWith("text/event-stream")) {
    yield await answer.text();
    return;
  }
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += value;
      if (rest.length > MAX_BUFFERED) throw new HubError("too_large");
      const blocks = rest.split(/\r\n\r\n|\n\n|\r\r/);
      rest = blocks.pop();
      for (const block of blocks) {
        const lines = block.split(/\r\n|\n|\r/).filter((line) => line.startsWith("data:"));
        if (lines.length) yield lines.map((line) => line.slice(5).trimStart()).join("\n");
      }
    }
  } catch (error) {
    throw error instanceof HubError || signal?.aborted ? error : new HubError("broken");
  } finally {
    reader.cancel().catch(() => {});
  }
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

export function curl({ headers, body }) {
  const named = Object.entries({ "Content-Type": "application/json", ...headers });
  const flags = named.map(([name, value]) => ` -H ${quoted(`${name}: ${value}`)}`).join("");
  // As an argument of a program, a body with files would be too long; printf is a part of the shell.
  return `printf %s ${quoted(JSON.stringify(body))} | curl -N ${quoted(`${meta("hub")}/`)} -H "Authorization: Bearer $TOKEN"${flags} -d @-`;
}
