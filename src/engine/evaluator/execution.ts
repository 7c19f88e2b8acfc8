import type * as RDF from "../../rdf/term.ts";
import type { ClauseVariable } from "../../plan/query-plan.ts";
import type { Bindings } from "../../results/model.ts";
import type { Surroundings } from "../expressions/functions.ts";
import type { HeldBytes } from "../held-bytes.ts";
import type { Operation } from "./algebra.ts";
import type { Truths } from "./existence.ts";

/** One evaluation of a query: what its operators share. */
export interface Execution {
  /** Evaluates an operand; how it finds its operator is the dispatcher's. */
  readonly evaluate: Evaluate;
  /** Aborted when the execution is over. */
  readonly signal: AbortSignal;
  /** Counts solutions that were made; throws when there are too many. */
  readonly count: (solutions?: number) => void;
  /** Memory account of the whole evaluation. */
  readonly held: HeldBytes;
  /** Rows name the endpoints they came from (`../provenance.ts`). */
  readonly traced: boolean;
  /** The query's surroundings, for functions. */
  readonly surroundings: Surroundings;
  /** Known truths of EXISTS patterns. */
  readonly truths: Truths;
  /** Number of solutions that are enough, in any order: those of the operation that is being evaluated. */
  readonly wanted?: number | undefined;
}

/** Starts the evaluation of an operation. Nothing is asked before its solutions are read. */
export type Evaluate = (operation: Operation, execution: Execution) => Promise<Result>;

/** Batches of solutions; single use. */
export type Rows = AsyncIterable<readonly Bindings[]>;

/** The value of an operation. */
export type Result = Solutions | Triples | Truth;

/** Solutions, and facts known before the first one. */
export interface Solutions extends SolutionFacts {
  readonly kind: "bindings";
  readonly rows: Rows;
}

interface SolutionFacts {
  readonly variables: readonly ClauseVariable[];
  /** About how many there are. */
  readonly size: number;
  /** There are none. */
  readonly isEmpty?: boolean | undefined;
}

/** Result of CONSTRUCT and DESCRIBE. */
export interface Triples {
  readonly kind: "quads";
  readonly quads: AsyncIterable<readonly RDF.Quad[]>;
}

/** Result of ASK. */
export interface Truth {
  readonly kind: "boolean";
  readonly value: () => Promise<boolean>;
}

/** The solutions of an operand. */
export async function solutionsOf(operation: Operation, execution: Execution): Promise<Solutions> {
  const result = await execution.evaluate(operation, execution);
  if (result.kind !== "bindings") throw new Error(`An operand gave ${result.kind} in place of solutions`);
  return result;
}

/** For operands that are read to their end, however few solutions are wanted of the operator. */
export const wantingAll = (execution: Execution): Execution => ({ ...execution, wanted: undefined });

/** Solutions that an operator makes of others; they are counted. */
export function made({ variables, size, isEmpty }: SolutionFacts, execution: Execution, open: () => Rows): Solutions {
  return { kind: "bindings", variables, size, isEmpty, rows: followed(open, execution) };
}

/** Solutions that an operator passes on, changed or not: they were counted before. */
export function passedOn(facts: SolutionFacts, execution: Execution, open: () => Rows): Solutions {
  return made(facts, { ...execution, count: () => {} }, open);
}

// Solutions can be made of rows in memory for seconds on end; timers and other queries must have their turn.
const ITEMS_BETWEEN_TURNS = 256;

/**
 * Batches that are counted, and between which others have their turn. Nothing runs before the first read; leaving early ends
 * the source, but does not wait for its pending requests.
 */
export function followed<T>(
  open: () => AsyncIterable<readonly T[]>,
  { count, signal }: Pick<Execution, "count" | "signal">,
): AsyncIterable<readonly T[]> {
  let source: AsyncIterator<readonly T[]> | undefined;
  let sinceTurn = 0;
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        if (sinceTurn >= ITEMS_BETWEEN_TURNS) {
          sinceTurn = 0;
          await turnOfOthers(signal);
        }
        source ??= open()[Symbol.asyncIterator]();
        const next = await source.next();
        if (next.done === true) return next;
        count(next.value.length);
        sinceTurn += next.value.length;
        return next;
      },
      async return() {
        source?.return?.().catch(() => {});
        return { done: true, value: undefined };
      },
    }),
  };
}

/** Undefined while the work may go on; a promise when others must have their turn first. */
export type Turns = () => Promise<void> | undefined;

const CALLS_BETWEEN_LOOKS = 256;
const LONGEST_TURN_MS = 10;

/**
 * For loops that work for seconds on rows in memory: called once a step, it gives timers and other queries their turn
 * every few milliseconds. @param signal ends the loop when the execution is over
 */
export function createTurns(signal: AbortSignal): Turns {
  let calls = 0;
  let since = performance.now();
  const pause = async (): Promise<void> => {
    await turnOfOthers(signal);
    since = performance.now();
  };
  return () => {
    calls++;
    if (calls % CALLS_BETWEEN_LOOKS > 0 || performance.now() - since < LONGEST_TURN_MS) return undefined;
    return pause();
  };
}

async function turnOfOthers(signal: AbortSignal): Promise<void> {
  await new Promise(setImmediate);
  signal.throwIfAborted();
}

/** The items as a stream. */
export async function* each<T>(items: Iterable<T>): AsyncIterable<T> {
  yield* items;
}
