import { toFedwayError } from "../../errors/fedway-error.ts";
import { rowsOf, type StoreAnswer } from "./answer-rows.ts";
import { chanceIn } from "./chance.ts";
import { type Check, createFindings, type Findings } from "./verification.ts";

/** A store with data that queries can be asked of. */
export interface AnswerStore {
  /** The answer in SPARQL results JSON, or a graph in N-Triples. Errors tell that there is none, for whatever reason. */
  answer(query: string, signal: AbortSignal): Promise<StoreAnswer>;
  close(): Promise<void>;
}

/** A query that both are asked. */
export interface VerifiedQuery {
  readonly id: string;
  readonly text: string;
}

/** The two sides. */
export interface AnswerSides {
  readonly whole: AnswerStore;
  readonly union: AnswerStore;
}

/** The time of a comparison. */
export interface AnswersTime {
  /** Of all queries together: none is asked after it; one that is under way may take as long as its store lets it. */
  readonly totalMs: number;
  /** Monotonous milliseconds. */
  readonly now: () => number;
}

/** How a comparison is run. */
export interface AnswerOptions {
  readonly signal: AbortSignal;
  readonly onQuery: (done: number) => void;
  readonly time?: AnswersTime | undefined;
}

/** Rows, or the message of the failure. */
type Answered = { readonly rows: readonly string[] } | { readonly failure: string };

async function ask(store: AnswerStore, query: string, signal: AbortSignal): Promise<Answered> {
  try {
    return { rows: rowsOf(await store.answer(query, signal)) };
  } catch (error) {
    signal.throwIfAborted();
    return { failure: toFedwayError(error).message };
  }
}

const isSame = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((row, at) => row === right[at]);

function chanceOf(text: string): ReturnType<typeof chanceIn> {
  try {
    return chanceIn(text);
  } catch {
    return "none";
  }
}

function judge({ id, text }: VerifiedQuery, [whole, union]: readonly [Answered, Answered], findings: Findings): void {
  if ("failure" in whole) return findings.unknownIs(id, `The whole gave no answer: ${whole.failure}`);
  if ("failure" in union) return findings.unknownIs(id, `The union gave no answer: ${union.failure}`);
  if (isSame(whole.rows, union.rows)) return;
  const [expected, found] = [whole.rows.length, union.rows.length];
  const chance = chanceOf(text);
  if (chance === "count" || (chance === "rows" && expected === found)) {
    return findings.unknownIs(id, "The rows differ, as those of a query that depends on order or chance may.");
  }
  const differ = expected === found ? `${found} rows, but other ones` : `${found} rows, not ${expected}`;
  findings.wrongIs(id, `The union gives ${differ}.`);
}

/** Asks each query of the whole and of the union of the shards, as one dataset each; answers are multisets of rows. */
export async function compareAnswers(
  queries: readonly VerifiedQuery[],
  { whole, union }: AnswerSides,
  { signal, onQuery, time }: AnswerOptions,
): Promise<Check> {
  const findings = createFindings("answers");
  const untilMs = time === undefined ? Number.POSITIVE_INFINITY : time.now() + time.totalMs;
  for (const [at, query] of queries.entries()) {
    signal.throwIfAborted();
    if (time !== undefined && time.now() >= untilMs) {
      const left = queries.length - at;
      const others = left > 1 ? `; with it ${left - 1} more were left out` : "";
      findings.unknownIs(query.id, `It was not asked: the time for the answers was over${others}.`, left);
      break;
    }
    const answers = await Promise.all([ask(whole, query.text, signal), ask(union, query.text, signal)]);
    judge(query, answers, findings);
    onQuery(at + 1);
  }
  return findings.check(queries.length - findings.notLookedAt);
}
