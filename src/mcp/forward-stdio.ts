import { PassThrough, type Readable, type Writable } from "node:stream";
import { visibleJson } from "../html.ts";
import { linesOf } from "../lines.ts";
import { parsedJson } from "../values.ts";

interface Forwarding {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly signal: AbortSignal;
  /** URL of the running service. */
  readonly url: string;
  readonly profile?: string | undefined;
  /** Bearer token of its `/mcp`. */
  readonly token?: string | undefined;
  readonly fetch: typeof fetch;
}

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: Readonly<Record<string, unknown>>;
}

const mostUnderWay = 100;
const versionKey = "io.modelcontextprotocol/protocolVersion";

/**
 * Passes messages of an MCP client on standard input to `/mcp` of a running service, and its answers to standard output.
 * It understands no more of them than the headers of Streamable HTTP need, so that both sides may be of any revision.
 * Resolves when the input ends or `signal` aborts.
 */
export async function forwardMcpStdio(forwarding: Forwarding): Promise<void> {
  const { stdin, stdout, signal } = forwarding;
  const underWay = new Map<unknown, AbortController>();
  const post = createPoster(forwarding);
  const answering = new Set<Promise<void>>();
  const input = stdin.pipe(new PassThrough());
  const stop = (): void => {
    stdin.unpipe(input);
    input.end();
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const isTerminal = "isTTY" in stdout && stdout.isTTY === true;
  const write = (line: string): void => void stdout.write(`${isTerminal ? visibleJson(line) : line}\n`);
  for await (const line of linesOf(input)) {
    if (line.trim() === "") continue;
    const message = parsed(line);
    if (message === undefined) {
      write(failure(null, -32_700, "This is not a JSON-RPC message."));
    } else if (message.method === "notifications/cancelled") {
      // Closing the connection is what cancels a request over HTTP.
      underWay.get(message.params?.["requestId"])?.abort();
    } else if (answering.size >= mostUnderWay) {
      write(failure(message.id, -32_603, "Too many requests are under way."));
    } else {
      const aborter = new AbortController();
      if (message.id !== undefined) underWay.set(message.id, aborter);
      const answered = post(message, line, { signal: aborter.signal, write }).finally(() => {
        underWay.delete(message.id);
        answering.delete(answered);
      });
      answering.add(answered);
    }
  }
  for (const aborter of underWay.values()) aborter.abort();
  await Promise.all(answering);
}

function parsed(line: string): Message | undefined {
  const value = parsedJson(line);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}

const failure = (id: unknown, code: number, message: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id: id ?? null, error: { code, message } });

interface Exchange {
  readonly signal: AbortSignal;
  readonly write: (line: string) => void;
}

function createPoster({ url, profile, token, fetch: ask }: Forwarding) {
  const query = profile === undefined ? "" : `?profile=${encodeURIComponent(profile)}`;
  const target = `${url.replace(/(?<!\/)\/+$/, "")}/mcp${query}`;
  /** Of an older client, from the answer to its `initialize`. */
  let negotiated: string | undefined;
  return async (message: Message, body: string, { signal, write }: Exchange): Promise<void> => {
    const { id } = message;
    try {
      const headers = headersOf(message, { negotiated, token });
      const response = await ask(target, { method: "POST", headers, body, signal });
      for await (const answer of messagesOf(response)) {
        if (message.method === "initialize") negotiated = versionIn(answer) ?? negotiated;
        write(answer);
      }
      if (!response.ok && id !== undefined && !isRpc(response))
        write(failure(id, -32_603, `The service answered with status ${response.status}.`));
    } catch (error) {
      if (signal.aborted || id === undefined) return;
      const why = error instanceof Error ? error.message : "unknown";
      write(failure(id, -32_603, `The service at ${url} could not be reached: ${why}`));
    }
  };
}

const isRpc = ({ headers }: Response): boolean =>
  /^(?:application\/json|text\/event-stream)\b/.test(headers.get("content-type") ?? "");

/** The messages of an answer: one as JSON, or several as server-sent events, each on one line. */
async function* messagesOf(response: Response): AsyncIterable<string> {
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("application/json")) {
    const text = await response.text();
    if (text !== "") yield text.replaceAll(/\r?\n/g, " ");
    return;
  }
  if (!type.startsWith("text/event-stream") || response.body === null) return;
  for await (const line of linesOf(response.body)) {
    if (line.startsWith("data:") && line.length > "data: ".length) yield line.slice(5).trim();
  }
}

interface Known {
  readonly negotiated: string | undefined;
  readonly token: string | undefined;
}

function headersOf(message: Message, { negotiated, token }: Known): Record<string, string> {
  const { method, params } = message;
  const own = ownVersion(message);
  const name = params?.["name"] ?? params?.["uri"];
  return {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    ...header("MCP-Protocol-Version", own ?? negotiated),
    // Only revisions whose messages tell their version have them.
    ...(own !== undefined && { ...header("Mcp-Method", method), ...header("Mcp-Name", name) }),
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  };
}

function ownVersion({ params }: Message): string | undefined {
  const meta = params?.["_meta"];
  const version = typeof meta === "object" && meta !== null && versionKey in meta ? meta[versionKey] : undefined;
  return typeof version === "string" ? version : undefined;
}

const header = (name: string, value: unknown): Record<string, string> =>
  typeof value === "string" ? { [name]: headerText(value) } : {};

/** Headers are ASCII; other text goes as the specification wraps it. */
const headerText = (text: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?base64?")
    ? text
    : `=?base64?${Buffer.from(text).toString("base64")}?=`;

function versionIn(answer: string): string | undefined {
  const value: unknown = parsed(answer);
  const result = typeof value === "object" && value !== null && "result" in value ? value.result : undefined;
  const version =
    typeof result === "object" && result !== null && "protocolVersion" in result ? result.protocolVersion : undefined;
  return typeof version === "string" ? version : undefined;
}
