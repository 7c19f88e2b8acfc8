import { toFedwayError } from "../../../src/errors/fedway-error.ts";
import { parseQuery } from "../../../src/sparql/query.ts";
import { uncutQuery } from "./uncut-query.ts";
import { areSameRows, rowsOf, type AnswerStore, askStore } from "./answer-store.ts";
import { timeOver, type Check, Findings } from "./verification.ts";

/** A query that both are asked. */
export interface VerifiedQuery {
  readonly id: string;
  readonly text: string;
  /** Claim of the report: two shards or more have matches for its patterns. Absent: no claim. */
  readonly federated?: boolean | undefined;
}

type AnswerSides = { readonly whole: AnswerStore; readonly union: AnswerStore };

/** The time of a comparison. */
export interface AnswersTime {
  /** Time for all queries together: none starts after it; a running one may take as long as its store allows. */
  readonly totalMs: number;
  /** Monotonous milliseconds. */
  readonly now: () => number;
}

/** How a comparison is run. */
interface AnswerOptions {
  readonly signal: AbortSignal;
  readonly onQuery: (done: number) => void;
  readonly time?: AnswersTime | undefined;
  /** Aborts when there is no time left: queries that were not answered by then are unknown. */
  readonly timeUp: AbortSignal;
}

/** Rows, or the message of the failure. */
type Answered = { readonly rows: readonly string[] } | { readonly failure: string };

async function ask(store: AnswerStore, query: string, { signal, timeUp }: AnswerOptions): Promise<Answered> {
  try {
    return { rows: rowsOf(await askStore(store, query, AbortSignal.any([signal, timeUp]))) };
  } catch (error) {
    signal.throwIfAborted();
    return { failure: timeUp.aborted ? timeOver : toFedwayError(error).message };
  }
}

function chanceOf(text: string): ReturnType<typeof chanceIn> {
  try {
    return chanceIn(text);
  } catch {
    return "none";
  }
}

/** Answers of both sides. */
type Pair = readonly [whole: Answered, union: Answered];

async function askBoth(text: string, { whole, union }: AnswerSides, options: AnswerOptions): Promise<Pair> {
  return Promise.all([ask(whole, text, options), ask(union, text, options)]);
}

type Judging = { readonly findings: Findings; readonly sides: AnswerSides; readonly options: AnswerOptions };

async function judge(query: VerifiedQuery, [whole, union]: Pair, judging: Judging): Promise<void> {
  const { id, text } = query;
  const { findings } = judging;
  if ("failure" in whole) return findings.unknownIs(id, `The whole gave no answer: ${whole.failure}`);
  if ("failure" in union) return findings.unknownIs(id, `The union gave no answer: ${union.failure}`);
  if (areSameRows(whole.rows, union.rows)) return;
  const [expected, found] = [whole.rows.length, union.rows.length];
  const chance = chanceOf(text);
  if (chance === "count" || (chance === "rows" && expected === found)) return judgeUncut(query, judging);
  const differ = expected === found ? `${found} rows, but other ones` : `${found} rows, not ${expected}`;
  findings.wrongIs(id, `The union gives ${differ}.`);
}

/** Rows may differ where LIMIT takes some of several that are equal in order: then all of them are compared. */
async function judgeUncut({ id, text }: VerifiedQuery, { findings, sides, options }: Judging): Promise<void> {
  const uncut = steadyUncut(text);
  const answers = uncut === undefined ? [] : await askBoth(uncut, sides, options);
  const [whole, union] = answers.map((answer) => ("rows" in answer ? answer.rows : undefined));
  if (whole === undefined || union === undefined) {
    findings.unknownIs(id, "The rows differ, as those of a query that depends on order or chance may.");
  } else if (!areSameRows(whole, union)) {
    findings.wrongIs(id, "The union gives other rows, and does so without LIMIT and OFFSET too.");
  }
}

/** The query without LIMIT and OFFSET, when nothing else in it depends on chance. */
function steadyUncut(text: string): string | undefined {
  try {
    const uncut = uncutQuery(parseQuery(text));
    return uncut !== undefined && chanceIn(uncut) === "none" ? uncut : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Asks each query of the whole and of the union of the shards, as one dataset each; answers are multisets of rows. Where
 * LIMIT leaves a choice among rows of the same rank, that both have the same rows to choose from is the same answer.
 */
export async function compareAnswers(
  queries: readonly VerifiedQuery[],
  sides: AnswerSides,
  options: AnswerOptions,
): Promise<Check> {
  const { signal, onQuery, time, timeUp } = options;
  const findings = new Findings("answers");
  const untilMs = time === undefined ? Number.POSITIVE_INFINITY : time.now() + time.totalMs;
  for (const [at, query] of queries.entries()) {
    signal.throwIfAborted();
    if (timeUp.aborted || (time !== undefined && time.now() >= untilMs)) {
      const left = queries.length - at;
      const others = left > 1 ? `; with it ${left - 1} more were left out` : "";
      findings.unknownIs(query.id, `It was not asked: the time for the answers was over${others}.`, left);
      break;
    }
    await judge(query, await askBoth(query.text, sides, options), { findings, sides, options });
    onQuery(at + 1);
  }
  return findings.checkOf(queries.length);
}

type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null;

/** Functions whose value does not depend on the data. */
const chanceful = new Set(["rand", "now", "uuid", "struuid", "bnode"]);
const orderly = new Set(["sample", "group_concat"]);

function isChance(node: Node): boolean {
  if (typeof node["limit"] === "number" || typeof node["offset"] === "number" || node["reduced"] === true) return true;
  if (node["type"] === "operation") return chanceful.has(String(node["operator"]).toLowerCase());
  return node["type"] === "aggregate" && orderly.has(String(node["aggregation"]).toLowerCase());
}

function hasChance(part: unknown): boolean {
  const pending: unknown[] = [part];
  while (pending.length > 0) {
    const node = pending.pop();
    if (!isNode(node) || "termType" in node) continue;
    if (isChance(node)) return true;
    pending.push(...Object.values(node));
  }
  return false;
}

/**
 * Possible differences between two answers of this query over equal data: none; which rows, but not how many; or how many, too. Queries take
 * some rows of an order that may have ties (LIMIT, OFFSET), depend on the order inside groups (SAMPLE, GROUP_CONCAT), on
 * chance and time, or leave repetitions to the store (REDUCED).
 * @throws FedwayError `QUERY_SYNTAX`
 */
export function chanceIn(text: string): "none" | "rows" | "count" {
  const ast: unknown = parseQuery(text).ast;
  if (!isNode(ast)) return "none";
  const { variables, limit, offset, ...rest } = ast;
  if (hasChance(rest)) return "count";
  const takesSome = limit !== undefined || offset !== undefined;
  // A graph is a set, and so are distinct rows: other values may be fewer.
  if (takesSome && ast["queryType"] !== "SELECT") return "count";
  if (hasChance(variables)) return ast["distinct"] === true ? "count" : "rows";
  return takesSome ? "rows" : "none";
}
