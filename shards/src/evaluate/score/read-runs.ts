import { join } from "node:path";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { parsedJson } from "../../../../src/values.ts";
import { readBoundedFile } from "../../bounded-file.ts";
import { faultIn, type Guard, isCount, isFlag, isListOf, isObject, isOneOf, isText, optional } from "../../guards.ts";
import type { BenchmarkPackage } from "../../package/open-package.ts";
import { callFields, isAmount, isFailure, type QuestionRecord } from "../records.ts";

/** A folder of runs: `run.json`, and the lines of `runs.jsonl`. */
export interface Runs {
  readonly folder: string;
  /** Settings of the run, as written. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly records: readonly QuestionRecord[];
}

/**
 * Reads what agents did for the questions of a package.
 * @throws FedwayError `REQUEST_INVALID`, with the number of the line: damaged, of an unknown question, there twice
 */
export async function readRuns(folder: string, { questions }: BenchmarkPackage): Promise<Runs> {
  const settings = parsedJson(await textOf(folder, "run.json"));
  if (!isObject(settings)) throw invalid(folder, "run.json is not a JSON object");
  const known = new Set(questions.map(({ id }) => id));
  const records = new Map<string, { readonly record: QuestionRecord; readonly line: number }>();
  for (const [at, line] of (await textOf(folder, "runs.jsonl")).split("\n").entries()) {
    if (line.trim() === "") continue;
    const fault = (why: string): FedwayError => invalid(folder, `runs.jsonl, line ${at + 1} ${why}`);
    const record = parsedJson(line);
    if (!isObject(record)) throw fault("is not a JSON object");
    const wrong = faultIn(record, recordFields) ?? (isRecord(record) ? faultInCalls(record) : "record");
    if (wrong !== undefined || !isRecord(record)) throw fault(`has no valid "${wrong}"`);
    const { question, setup, model, repeat } = record;
    if (!known.has(question)) throw fault(`is of the question "${question}", which the package does not have`);
    const key = JSON.stringify([question, setup, model, repeat]);
    const first = records.get(key);
    // What failed is asked again.
    if (first !== undefined && !isFailure(first.record))
      throw fault(`repeats line ${first.line}: the same question, setup, model and repeat`);
    records.set(key, { record, line: at + 1 });
  }
  return { folder, settings, records: Array.from(records.values(), ({ record }) => record) };
}

const isString = (value: unknown): value is string => typeof value === "string";
const isNull = (value: unknown): value is null => value === null;
const or =
  <Value>(holds: Guard<Value>): Guard<Value | null> =>
  (value): value is Value | null =>
    isNull(value) || holds(value);

const tokenFields = { input: isCount, output: isCount, estimated: isFlag };
const recordFields = {
  question: isText,
  setup: isText,
  model: isText,
  repeat: isCount,
  outcome: isOneOf<QuestionRecord["outcome"]>(
    ...(["submitted", "gave-up", "no-query", "turns", "tokens", "money", "time"] as const),
    ...(["model-failed", "service-failed", "missing"] as const),
  ),
  why: optional(isString),
  final: or(isString),
  calls: optional(isListOf(isObject)),
  turns: isCount,
  tokens: (value: unknown): value is QuestionRecord["tokens"] =>
    isObject(value) && faultIn(value, tokenFields) === undefined,
  cost: or(isAmount),
  ms: isAmount,
};
const timedFields = { ...callFields, atMs: isAmount, ms: isAmount };

const isRecord = (value: object): value is QuestionRecord => "question" in value;

function faultInCalls({ calls = [] }: QuestionRecord): string | undefined {
  const at = calls.findIndex((call) => faultIn({ ...call }, timedFields) !== undefined);
  if (at < 0) return undefined;
  return `calls[${at}].${faultIn({ ...calls[at] }, timedFields)}`;
}

const maxBytes = 512 * 1024 * 1024;

async function textOf(folder: string, name: string): Promise<string> {
  const bytes = await readBoundedFile(join(folder, name), maxBytes, (fault, cause) =>
    invalid(folder, `${name} is ${fault}`, cause),
  );
  return bytes.toString("utf8");
}

const invalid = (folder: string, why: string, cause?: unknown): FedwayError =>
  new FedwayError("REQUEST_INVALID", `The runs in ${folder} cannot be scored: ${why}.`, {
    next: "Mend the line, or take it out: the question then counts as missing.",
    cause,
  });
