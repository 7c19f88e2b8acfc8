import { basename } from "node:path";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { readBoundedFile } from "../../bounded-file.ts";
import {
  type Guard,
  type Guarded,
  isCount,
  isListOf,
  isObject,
  isShape,
  isText,
  optional,
  parsedAs,
} from "../../guards.ts";
import type { BenchmarkPackage } from "../../package/open-package.ts";
import type { Runs } from "../score/read-runs.ts";
import { callFields, type CallRecord, isAmount } from "../records.ts";
import type { Asked } from "./run-questions.ts";

const maxBytes = 256 * 1024 * 1024;
const maxLine = 1024 * 1024;
const mostCalls = 1_000;

const isString = (value: unknown): value is string => typeof value === "string";
const isQuery: Guard<string | null | undefined> = (value) => value === null || value === undefined || isString(value);
const isId = (value: unknown): value is string | number => isText(value) || isCount(value);

const isLine = isShape({
  id: isId,
  final: isQuery,
  query: isQuery,
  generated: isQuery,
  turns: optional(isCount),
  tokens: optional(isShape({ input: isCount, output: isCount })),
  cost: optional(isAmount),
  ms: optional(isAmount),
  calls: optional(isListOf(isObject)),
});

const isCall = isShape({ ...callFields, atMs: optional(isAmount), ms: optional(isAmount) });

/**
 * Traces of a foreign agent by question: JSON Lines with `id` and `final`, `query` or `generated` (as in files of t2s-metrics), where
 * known also `calls`, `turns`, `tokens`, `cost` and `ms` as in records.
 * @throws FedwayError `REQUEST_INVALID` with the number of the line: it is malformed, longer than 1 MB, of an unknown question, or
 *   the second of its question
 */
export async function readTrace(path: string, questions: ReadonlySet<string>): Promise<ReadonlyMap<string, Asked>> {
  const bytes = await readBoundedFile(path, maxBytes, (fault, cause) => invalid(`${path} is ${fault}`, cause));
  const traces = new Map<string, Asked>();
  const lines = new Map<string, number>();
  for (let from = 0, line = 1; from < bytes.length; line += 1) {
    const found = bytes.indexOf("\n", from);
    const end = found < 0 ? bytes.length : found;
    const refuse = (reason: string): never => {
      throw invalid(`Line ${line} of ${path} ${reason}`);
    };
    if (end - from > maxLine) refuse("is longer than 1 MB");
    const text = bytes.toString("utf8", from, end).trim();
    from = end + 1;
    if (text === "") continue;
    const value = parsedAs(text, isLine) ?? refuse("is no JSON object with an id and a query");
    const id = String(value.id);
    if (!questions.has(id)) refuse(`is of the question ${JSON.stringify(id)}, which the package does not have`);
    if (lines.has(id)) refuse(`is of the question ${JSON.stringify(id)}, as line ${lines.get(id)} is`);
    lines.set(id, line);
    traces.set(id, traceOf(value) ?? refuse(`has a malformed call, or more than ${mostCalls}`));
  }
  return traces;
}

/** The same as the runs of a system, by the name of its model or of the file. @throws FedwayError as `readTrace` */
export async function readTraceRuns(path: string, { questions }: BenchmarkPackage, name?: string): Promise<Runs> {
  const who = { setup: traceSetup, model: name ?? basename(path).replace(/\.[a-z]+$/iu, "") };
  const traces = await readTrace(path, new Set(questions.map(({ id }) => id)));
  const records = Array.from(traces, ([question, asked]) => ({ question, ...who, repeat: 0, ...asked }));
  return { folder: path, settings: who, records };
}

/** The setup of agents that are known by their traces alone. */
export const traceSetup = "trace";

function traceOf(line: Guarded<typeof isLine>): Asked | undefined {
  const { calls, turns = 0, tokens, cost = null, ms = 0 } = line;
  if (calls !== undefined && !areCalls(calls)) return undefined;
  const final = [line.final, line.query, line.generated].find((query) => query?.trim()) ?? null;
  return {
    outcome: final === null ? "no-query" : "submitted",
    final,
    calls: calls?.map(callOf),
    turns,
    tokens: { ...(tokens ?? { input: 0, output: 0 }), estimated: tokens === undefined },
    cost,
    ms,
  };
}

const areCalls = (calls: readonly unknown[]): calls is readonly Guarded<typeof isCall>[] =>
  calls.length <= mostCalls && calls.every(isCall);

/** The call without fields that records do not have. */
const callOf = ({ tool, atMs = 0, ms = 0, ...call }: Guarded<typeof isCall>): CallRecord => {
  const { query, outcome, code, rows, endpoints, requests, bytes, repairs } = call;
  return { tool, atMs, ms, query, outcome, code, rows, endpoints, requests, bytes, repairs };
};

const invalid = (message: string, cause?: unknown): FedwayError =>
  new FedwayError("REQUEST_INVALID", `${message}.`, {
    next: 'Each line has a question of the package, such as {"id": "q1", "query": "SELECT ..."}.',
    cause,
  });
