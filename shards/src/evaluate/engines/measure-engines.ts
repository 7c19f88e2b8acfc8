import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { systemClock } from "../../../../src/clock.ts";
import { isCount, isObject, isOneOf, isShape, isText, optional, parsedAs } from "../../guards.ts";
import { isGoldAnswer } from "../../package/gold-answer.ts";
import type { PackagedQuery } from "../../package/package-items.ts";
import { type Answer, readSolutions } from "../../package/whole-store.ts";

/** The federated gold query, the one that names all shards, and the original one without SERVICE. */
export const engineForms = ["gold", "trivial", "plain"] as const;
export type EngineForm = (typeof engineForms)[number];

/** A SPARQL endpoint that is measured. */
export interface MeasuredEngine {
  readonly name: string;
  /** Where it takes queries of each form; a form without a URL is not asked. */
  readonly urls: Readonly<Partial<Record<EngineForm, string>>>;
  /** A query as it has to name the shards for this engine. */
  readonly textOf: (query: string) => string;
  /** Requests to the shards for the query that had this answer; undefined: unknown. */
  readonly traffic: (answer: Response | undefined) => Promise<Traffic | undefined>;
}

const recordFields = {
  engine: isText,
  form: isOneOf(...engineForms),
  /** Id in `queries.jsonl`. */
  query: isText,
  verdict: isOneOf("right", "wrong", "failed"),
  /** Of a failed one: the engine's code, `http-500`, `timeout`, `unreachable`, `broken`, `not-results` or `too-large`. */
  code: optional(isText),
  /** Absent: unknown. */
  requests: optional(isCount),
  bytes: optional(isCount),
  ms: isCount,
};

/** Result of one query in one form. */
export interface EngineRecord extends Partial<Traffic> {
  readonly engine: string;
  readonly form: EngineForm;
  readonly query: string;
  readonly verdict: "right" | "wrong" | "failed";
  readonly code?: string | undefined;
  readonly ms: number;
}

const hasFields = isShape(recordFields);
export const isEngineRecord = (value: unknown): value is EngineRecord => hasFields(value);

interface Measuring {
  readonly engines: readonly MeasuredEngine[];
  readonly queries: readonly PackagedQuery[];
  readonly forms: readonly EngineForm[];
  /** Of an earlier start: these are not measured again. */
  readonly known: readonly EngineRecord[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly fetch: typeof fetch;
  readonly onRecord: (record: EngineRecord) => Promise<void>;
  readonly onProgress: (done: number, total: number) => void;
}

/** Asks each query of each engine, one at a time, engines in turns. Ends early, without an error, when the signal aborts. */
export async function measureEngines(parts: Measuring): Promise<void> {
  const { engines, queries, forms, known, signal, onRecord, onProgress } = parts;
  const measured = new Set(known.map(keyOf));
  const open = queries.flatMap((query) =>
    forms.flatMap((form) =>
      engines.flatMap((engine) => {
        const text = form === "plain" ? query.query : query[form];
        const url = engine.urls[form];
        const isOpen = !measured.has(keyOf({ engine: engine.name, form, query: query.id }));
        return isOpen && text && url && query.answer ? [{ engine, form, query, text, url, gold: query.answer }] : [];
      }),
    ),
  );
  for (const [at, { engine, form, query, text, url, gold }] of open.entries()) {
    onProgress(at, open.length);
    // What an earlier query still asked is not counted.
    await engine.traffic(undefined);
    const startedMs = systemClock.now();
    const asked = await ask(url, engine.textOf(text), { ...parts, isGraph: gold.kind === "graph" });
    const ms = Math.round(systemClock.now() - startedMs);
    if (signal.aborted) return;
    const found = await engine.traffic(asked.response);
    const { answer, code } = asked;
    const verdict = answer === undefined ? "failed" : isGoldAnswer(gold, answer) ? "right" : "wrong";
    await onRecord({ engine: engine.name, form, query: query.id, verdict, code, ms, ...found });
  }
}

const keyOf = ({ engine, form, query }: Pick<EngineRecord, "engine" | "form" | "query">): string =>
  `${engine} ${form} ${query}`;

interface Asked {
  readonly response?: Response;
  readonly answer?: Answer;
  readonly code?: string;
}

const mostBytes = 64 * 1024 * 1024;

type Asking = Pick<Measuring, "fetch" | "timeoutMs" | "signal"> & { readonly isGraph: boolean };

async function ask(url: string, query: string, { fetch: send, timeoutMs, signal, isGraph }: Asking): Promise<Asked> {
  const late = AbortSignal.timeout(timeoutMs);
  let response: Response | undefined;
  try {
    response = await send(url, {
      method: "POST",
      headers: { accept: isGraph ? "application/n-triples" : "application/sparql-results+json" },
      body: new URLSearchParams({ query }),
      signal: AbortSignal.any([late, signal]),
    });
    const text = await boundedText(response);
    if (text === undefined) return { response, code: "too-large" };
    if (!response.ok) return { response, code: codeIn(text) ?? `http-${response.status}` };
    const answer = answerIn(text, isGraph);
    return answer === undefined ? { response, code: "not-results" } : { response, answer };
  } catch {
    const code = late.aborted ? "timeout" : response === undefined ? "unreachable" : "broken";
    return response === undefined ? { code } : { response, code };
  }
}

async function boundedText(response: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The code of a problem document. */
function codeIn(text: string): string | undefined {
  const code = parsedAs(text, isObject)?.["code"];
  return isText(code) ? code.slice(0, 80) : undefined;
}

function answerIn(text: string, isGraph: boolean): Answer | undefined {
  if (isGraph) return { kind: "graph", lines: text.split(/\r?\n/u).filter((line) => line !== "") };
  const json = parsedAs(text, isObject);
  const value = json?.["boolean"];
  if (typeof value === "boolean") return { kind: "boolean", value };
  return isObject(json?.["results"]) ? readSolutions(json) : undefined;
}

/** Requests to shards, and decoded bytes of their answers. */
export interface Traffic {
  readonly requests: number;
  readonly bytes: number;
}

/** Passes requests for shards on to the service at `target`, and counts them. Listens on this machine only; port 0: any. */
export async function startCountingProxy(target: string, listenAt = 0) {
  let [requests, bytes] = [0, 0];
  const server = createServer((request, response) => {
    requests++;
    const { method = "GET", url = "/", headers } = request;
    const ending = new AbortController();
    response.once("close", () => ending.abort());
    const forward = async (): Promise<void> => {
      const body = method === "POST" ? Readable.toWeb(request) : null;
      const sent = { "content-type": headers["content-type"] ?? "", accept: headers.accept ?? "*/*" };
      const answer = await fetch(new URL(url, target), {
        method,
        headers: { ...sent, "accept-encoding": "identity" },
        body,
        duplex: "half",
        signal: ending.signal,
      });
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
      if (answer.body === null) return void response.end();
      const counted = Readable.fromWeb(answer.body).on("data", (chunk: Buffer) => void (bytes += chunk.length));
      await pipeline(counted, response);
    };
    forward().catch(() => response.destroy());
  });
  await new Promise<void>((done, fail) => void server.once("error", fail).listen(listenAt, "127.0.0.1", done));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    /** Counts since the last call. */
    take(): Traffic {
      const counted = { requests, bytes };
      [requests, bytes] = [0, 0];
      return counted;
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((done) => void server.close(done));
    },
  };
}
