import type * as RDF from "@rdfjs/types";
import { termToText } from "../../results/terms.ts";
import { type Holding, keyBytes, termBytes } from "../held-bytes.ts";
import { ExpressionError, longestComputed, tooLong } from "../expressions/expression-error.ts";
import { calculate, integer, type Numeric } from "../expressions/numbers.ts";
import { compareKeys, type SortKey, sortKey } from "../expressions/compare.ts";
import { numberOf, numeric, string } from "../expressions/values.ts";

/** Which aggregate, over which values. */
export interface AggregateUse {
  readonly name: string;
  readonly distinct: boolean;
  /** Of GROUP_CONCAT. */
  readonly separator: string | undefined;
}

/** One aggregate over one group, one value after the other. */
export interface Accumulator {
  /** Undefined: the expression has no value for a solution. */
  add(term: RDF.Term | undefined): void;
  /** Undefined: there is none. */
  result(): RDF.Term | undefined;
}

const ACCUMULATOR_BYTES = 400;

/**
 * The set functions (SPARQL 1.1 Query, section 18.5.1). There, an unbound variable is an error like any other, and stays in
 * the list of values: COUNT leaves errors out, SAMPLE takes any value, and all others end as an error.
 * What is kept is counted; `add` throws when the evaluation holds too much.
 */
export function createAccumulator({ name, distinct, separator = " " }: AggregateUse, holding: Holding): Accumulator {
  const state = states[name]?.(holding, separator);
  if (!state) throw new Error(`The aggregate ${name} is not known`);
  const seen = new Set<string>();
  const isNew = (term: RDF.Term): boolean => {
    const text = termToText(term);
    if (seen.has(text)) return false;
    seen.add(text);
    holding.add(keyBytes(text));
    return true;
  };
  let failed = false;
  holding.add(ACCUMULATOR_BYTES);
  return {
    add(term) {
      if (failed) return;
      if (!term) failed = name !== "count" && name !== "sample";
      else if (!distinct || isNew(term)) failed = !succeeds(() => state.add(term));
    },
    result: () => (failed ? undefined : state.result()),
  };
}

function succeeds(add: () => void): boolean {
  try {
    add();
    return true;
  } catch (error) {
    if (error instanceof ExpressionError) return false;
    throw error;
  }
}

interface State {
  /** @throws ExpressionError */
  add(term: RDF.Term): void;
  result(): RDF.Term | undefined;
}

const states: Readonly<Record<string, (holding: Holding, separator: string) => State>> = {
  count: () => {
    let count = 0;
    return { add: () => void count++, result: () => numeric(integer(count)) };
  },
  sum: () => summed((sum) => sum),
  avg: () => summed((sum, count) => (count === 0 ? sum : calculate("/", sum, integer(count)))),
  min: (holding) => extreme(-1, holding),
  max: (holding) => extreme(1, holding),
  sample: (holding) => {
    let sample: RDF.Term | undefined;
    return {
      add(term) {
        if (!sample) holding.add(termBytes(term));
        sample ??= term;
      },
      result: () => sample,
    };
  },
  group_concat: concatenated,
};

function summed(finish: (sum: Numeric, count: number) => Numeric): State {
  let sum = integer(0);
  let count = 0;
  return {
    add(term) {
      sum = calculate("+", sum, numberOf(term));
      count++;
    },
    result: () => numeric(finish(sum, count)),
  };
}

function extreme(sign: -1 | 1, holding: Holding): State {
  let best: { readonly term: RDF.Term; readonly key: SortKey; readonly bytes: number } | undefined;
  return {
    add(term) {
      const key = sortKey(term);
      if (best && sign * compareKeys(key, best.key) <= 0) return;
      const bytes = termBytes(term);
      holding.add(bytes - (best?.bytes ?? 0));
      best = { term, key, bytes };
    },
    result: () => best?.term,
  };
}

function concatenated(holding: Holding, separator: string): State {
  let text: string | undefined;
  return {
    add(term) {
      if (term.termType === "BlankNode") throw new ExpressionError("A blank node has no text.");
      const added = text === undefined ? term.value : separator + term.value;
      if ((text?.length ?? 0) + added.length > longestComputed) throw tooLong();
      holding.add(2 * added.length);
      text = (text ?? "") + added;
    },
    result: () => string(text ?? ""),
  };
}
