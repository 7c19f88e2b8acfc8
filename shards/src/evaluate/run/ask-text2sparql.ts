import { steadyClock } from "../../../../src/clock.ts";
import { isObject, parsedAs } from "../../guards.ts";
import { withRetries, type Ask, type Asked } from "./run-questions.ts";

/** A system behind the text2sparql API, and the dataset that it is asked about. */
interface AskedSystem {
  readonly url: string;
  /** IRI. */
  readonly dataset: string;
  /** Of one question. */
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
}

const maxBytes = 1024 * 1024;

/** Asks another system for its query: `GET URL?question=&dataset=`, answered by `{dataset, question, query}`. */
export const text2sparqlAsker =
  (system: AskedSystem): Ask =>
  async ({ question }, signal) => {
    const startedMs = steadyClock.now();
    const timeout = AbortSignal.timeout(system.timeoutMs);
    const found = await queryFor(question, system, AbortSignal.any([signal, timeout])).catch(() => ({
      why: timeout.aborted ? `There was no answer within ${system.timeoutMs} ms.` : "It cannot be reached.",
    }));
    signal.throwIfAborted();
    const ms = Math.round(steadyClock.now() - startedMs);
    const query = "query" in found ? found.query : "";
    const unanswered: Asked["outcome"] = timeout.aborted ? "time" : "model-failed";
    const failed = "why" in found;
    return {
      outcome: failed ? unanswered : query.trim() === "" ? "no-query" : "submitted",
      ...(failed && { why: found.why }),
      final: query.trim() === "" ? null : query,
      calls: [{ tool: "text2sparql", atMs: 0, ms, outcome: failed ? "failed" : "ok" }],
      turns: 1,
      tokens: { input: 0, output: 0, estimated: true },
      cost: null,
      ms,
    };
  };

type Found = { readonly query: string } | { readonly why: string };

async function queryFor(
  question: string,
  { url, dataset, fetch: ask }: AskedSystem,
  signal: AbortSignal,
): Promise<Found> {
  const asked = new URL(url);
  asked.searchParams.set("question", question);
  asked.searchParams.set("dataset", dataset);
  const send = async () => {
    const response = await ask(asked, { signal, headers: { accept: "application/json" } });
    return { status: response.status, text: await boundedText(response) };
  };
  const { status, text } = await withRetries(send, (found) => found.status === 429 || found.status >= 500, signal);
  return status === 200 ? answerIn(text) : { why: `It answered with HTTP status ${status}.` };
}

/** Undefined when the body is larger than allowed; the rest of it is not read then. */
async function boundedText({ body }: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
  }
  return Buffer.concat(chunks).toString("utf8");
}

function answerIn(text: string | undefined): Found {
  if (text === undefined) return { why: "Its answer is larger than 1 MB." };
  const query = parsedAs(text, isObject)?.["query"];
  return typeof query === "string" ? { query } : { why: "Its answer is no JSON object with a query." };
}
