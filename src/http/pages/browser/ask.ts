import type { Problem } from "../../../errors/fedway-error.ts";
import type { PlanDescription } from "../../../query/explain.ts";
import type { RunRecord } from "../../../query/run-log.ts";
import { writeFirst } from "./outcome-view.ts";
import { ownUrl } from "./own-url.ts";

/** Whom a query is for: nobody but its SERVICE clauses, one endpoint, or a federation. */
export type Target = { readonly endpoint?: string; readonly federation?: string };

/** A query as it stands in the editor. */
export interface AskedQuery {
  readonly text: string;
  readonly target: Target;
  /** What can be had is taken when an endpoint fails. */
  readonly partial: boolean;
}

/** What came of a query; a body is there when all of it was received. */
export interface Outcome {
  readonly problem?: Problem;
  /** Absent when the service keeps none, or does not tell. */
  readonly record?: RunRecord | undefined;
  readonly body?: { readonly text: string; readonly contentType: string };
  /** Why there is no body although the answer began well. */
  readonly broken?: string;
}

const routeOf = ({ endpoint, federation }: Target): string => {
  if (endpoint !== undefined) return `/endpoints/${encodeURIComponent(endpoint)}/sparql`;
  return federation === undefined ? "/sparql" : `/federations/${encodeURIComponent(federation)}/sparql`;
};

const post = (query: AskedQuery, accept: string, signal: AbortSignal): Promise<Response> =>
  fetch(ownUrl(routeOf(query.target)), {
    method: "POST",
    headers: { Accept: accept },
    body: new URLSearchParams({ query: query.text, ...(query.partial && { partial: "true" }) }),
    signal,
  });

/** The plan of a query, or the problem that it has none for. */
export async function explainQuery(query: AskedQuery, signal: AbortSignal): Promise<PlanDescription | Problem> {
  const response = await fetch(ownUrl("/api/explain"), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ query: query.text, ...query.target }),
    signal,
  });
  if (!response.ok) return problemOf(response);
  const plan: PlanDescription = await response.json();
  return plan.problem ?? plan;
}

async function problemOf(response: Response): Promise<Problem> {
  const type = response.headers.get("Content-Type") ?? "";
  if (type.startsWith("application/problem+json")) return response.json();
  // Something between the browser and the service answered.
  return {
    type: "about:blank",
    title: "The service could not be asked",
    status: response.status,
    code: "INTERNAL",
    detail: `The answer was HTTP ${response.status} without a problem document.`,
    retryable: true,
    next: "Try again in a moment.",
  };
}

/** Runs a query; `onRecord` gets the endpoints' contributions so far, about twice a second. */
export async function runQuery(
  query: AskedQuery,
  { signal, onRecord }: { readonly signal: AbortSignal; readonly onRecord: (record: RunRecord) => void },
): Promise<Outcome> {
  const response = await post(query, "application/sparql-results+json, text/turtle;q=0.9", signal);
  const run = response.headers.get("Fedway-Run");
  if (!response.ok) return { problem: await problemOf(response), record: await recordOf(run, signal) };
  const watching = watch(run, { signal, onRecord });
  try {
    const text = await textOf(response);
    const body = { text, contentType: response.headers.get("Content-Type") ?? "" };
    return { body, record: await watching.last() };
  } catch (error) {
    if (signal.aborted) throw error;
    const broken = error instanceof AnswerTooLarge ? error.message : "The answer broke off before its end.";
    return { broken, record: await watching.last() };
  }
}

/** An answer in another format as a file; one that broke off is none. @throws Error with the problem's words */
export async function downloadAnswer(query: AskedQuery, accept: string, signal: AbortSignal): Promise<Blob> {
  if (query.text.trim() === "") throw new Error(writeFirst);
  const response = await post(query, accept, signal);
  if (!response.ok) throw new Error((await problemOf(response)).detail);
  return response.blob();
}

class AnswerTooLarge extends Error {}

const mostBytes = 32 * 1024 * 1024;

async function textOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > mostBytes) {
      await reader.cancel();
      throw new AnswerTooLarge("The answer is larger than the 32 MB that are shown here: download it, or add a LIMIT.");
    }
    text += decoder.decode(value, { stream: true });
  }
}

async function recordOf(run: string | null, signal: AbortSignal): Promise<RunRecord | undefined> {
  if (run === null) return undefined;
  const response = await fetch(ownUrl(`/api/runs/${encodeURIComponent(run)}`), { signal });
  return response.ok ? response.json() : undefined;
}

const pollMs = 500;
/** Ten minutes; a query that runs longer shows its endpoints at the end only. */
const mostPolls = 1200;
/** The record is closed right after the last byte. */
const mostLastPolls = 10;

interface Watcher {
  readonly signal: AbortSignal;
  readonly onRecord: (record: RunRecord) => void;
}

/** Follows the record of a run until `last` is asked for, which gives the record of the ended run. */
function watch(run: string | null, { signal, onRecord }: Watcher) {
  let polls = 0;
  const timer = setInterval(() => {
    polls += 1;
    if (polls > mostPolls || signal.aborted) return clearInterval(timer);
    recordOf(run, signal)
      .then((record) => record && onRecord(record))
      .catch(() => undefined);
  }, pollMs);
  return {
    async last(): Promise<RunRecord | undefined> {
      clearInterval(timer);
      for (let tries = 0; ; tries++) {
        const record = await recordOf(run, signal);
        if (record?.status !== "running" || tries === mostLastPolls) return record;
        await new Promise((resolve) => {
          setTimeout(resolve, 100);
        });
      }
    },
  };
}
