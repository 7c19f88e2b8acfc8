import type * as RDF from "../../rdf/term.ts";
import type { Bindings } from "../../results/model.ts";
import { termKey } from "../../results/terms.ts";
import { compareSpelledKeys, type SortKey, sortKey } from "../expressions/compare.ts";
import { ExpressionError, longestComputed, tooLong } from "../expressions/expression-error.ts";
import { calculate, integer, type Numeric } from "../expressions/numbers.ts";
import { string, numberOf, numeric } from "../expressions/values.ts";
import { type Holding, keyBytes, rowBytes, termBytes } from "../held-bytes.ts";
import type { BoundAggregate, Group } from "./algebra.ts";
import {
  createTurns,
  type Execution,
  passedOn,
  type Rows,
  type Solutions,
  solutionsOf,
  type Turns,
  wantingAll,
} from "./execution.ts";
import { type ValueOf, valueIn } from "./expressions.ts";
import { isVisible } from "./inner-names.ts";
import { rowText, wholeRowText } from "./rows.ts";

/**
 * GROUP BY and aggregates (SPARQL 1.1 Query, section 18.5.1), one row after the other: of a group only its key and what
 * its aggregates have so far are held, and that is counted.
 */
export async function group({ input, variables, aggregates }: Group, execution: Execution): Promise<Solutions> {
  const { rows, size } = await solutionsOf(input, wantingAll(execution));
  const uses = aggregates.map((aggregate) => ({
    aggregate,
    valueOf: aggregatedBy(aggregate) ?? valueIn(aggregate.expression, execution),
  }));
  const names = variables.map(({ value }) => value);
  const assigned = [...names, ...aggregates.map(({ variable }) => variable.value)];
  return passedOn({ variables: assigned.map((name) => ({ name, certain: false })), size }, execution, () =>
    grouped(rows, { names, holding: execution.held.open(), uses, turns: createTurns(execution.signal) }),
  );
}

/** An aggregate, and its operand in a solution. */
interface Use {
  readonly aggregate: BoundAggregate;
  readonly valueOf: ValueOf;
}

/** COUNT(*) counts solutions, each distinct one by what SELECT * shows of it; undefined for other aggregates. */
function aggregatedBy({ expression, distinct }: BoundAggregate): ValueOf | undefined {
  if (expression.subType !== "wildcard") return undefined;
  return distinct ? (row) => string(wholeRowText(row, isVisible)) : () => something;
}

const something = string("");

interface OneGroup {
  /** The variables that are grouped by. */
  readonly key: Bindings;
  /** In the order of the uses. */
  readonly accumulators: readonly Accumulator[];
}

interface Grouping {
  /** Of the variables that are grouped by. */
  readonly names: readonly string[];
  readonly holding: Holding;
  readonly uses: readonly Use[];
  readonly turns: Turns;
}

const GROUPS_PER_BATCH = 64;

async function* grouped(rows: Rows, grouping: Grouping): Rows {
  const { names, uses, holding, turns } = grouping;
  const groups = new Map<string, OneGroup>();
  try {
    for await (const batch of rows) {
      for (const row of batch) {
        const pause = turns();
        if (pause) await pause;
        const accumulators = accumulatorsFor(row, groups, grouping);
        for (let at = 0; at < uses.length; at++) {
          const found = uses[at]?.valueOf(row);
          accumulators[at]?.add(found instanceof Promise ? await found : found);
        }
      }
    }
    // Without GROUP BY all rows are one group, also when there are none.
    if (names.length === 0) accumulatorsFor(new Map(), groups, grouping);
    let batch: Bindings[] = [];
    for (const one of groups.values()) {
      batch.push(resultOf(one, uses));
      if (batch.length < GROUPS_PER_BATCH) continue;
      yield batch;
      batch = [];
    }
    yield batch;
  } finally {
    holding.release();
  }
}

/** The accumulators of the row's group, which is made when it is the first one. */
function accumulatorsFor(row: Bindings, groups: Map<string, OneGroup>, grouping: Grouping): readonly Accumulator[] {
  const { names, holding } = grouping;
  const key = rowText(row, names);
  const known = groups.get(key);
  if (known) return known.accumulators;
  const terms = new Map<string, RDF.Term>();
  for (const name of names) {
    const term = row.get(name);
    if (term) terms.set(name, term);
  }
  holding.add(keyBytes(key) + rowBytes(terms));
  const accumulators = accumulatorsOf(grouping);
  groups.set(key, { key: terms, accumulators });
  return accumulators;
}

function accumulatorsOf({ uses, holding }: Grouping): Accumulator[] {
  return uses.map(({ aggregate }) => {
    const { aggregator: name, distinct, separator } = aggregate;
    return createAccumulator({ name, distinct, separator }, holding);
  });
}

/** An aggregate that fails leaves its variable unbound. */
function resultOf({ key, accumulators }: OneGroup, uses: readonly Use[]): Bindings {
  const terms = new Map(key);
  for (const [at, { aggregate }] of uses.entries()) {
    const term = accumulators[at]?.result();
    if (term) terms.set(aggregate.variable.value, term);
  }
  return terms;
}

/** Which aggregate, over which values. */
interface AggregateUse {
  readonly name: string;
  readonly distinct: boolean;
  /** Separator of GROUP_CONCAT. */
  readonly separator: string | undefined;
}

/** One aggregate over one group, one value after the other. */
interface Accumulator {
  /** Undefined: the expression has no value for a solution. */
  add(term: RDF.Term | undefined): void;
  /** Undefined: there is none. */
  result(): RDF.Term | undefined;
}

const ACCUMULATOR_BYTES = 400;

/**
 * The set functions (SPARQL 1.1 Query, section 18.5.1). There, an unbound variable is an error like any other, and stays in
 * the list of values: COUNT leaves errors out, SAMPLE takes any value, and all others end as an error.
 * Held values are counted; `add` throws when the evaluation holds too much.
 */
function createAccumulator({ name, distinct, separator = " " }: AggregateUse, holding: Holding): Accumulator {
  const state = states[name]?.(holding, separator);
  if (!state) throw new Error(`The aggregate ${name} is not known`);
  const seen = new Set<string>();
  const isNew = (term: RDF.Term): boolean => {
    const text = termKey(term);
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
      if (best && sign * compareSpelledKeys(key, best.key) <= 0) return;
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
