import type { Bindings } from "../../results/model.ts";
import { interleave } from "../interleave.ts";
import { isTrace } from "../provenance.ts";
import type { Ask, Distinct, Extend, Filter, Project, Slice, Union, Values } from "./algebra.ts";
import {
  createTurns,
  each,
  type Execution,
  passedOn,
  type Rows,
  type Solutions,
  solutionsOf,
  type Truth,
  type Turns,
} from "./execution.ts";
import { conditionOf, type ValueOf, valueIn } from "./expressions.ts";
import { extendedBy } from "./fresh-nodes.ts";
import { once } from "../held-bytes.ts";
import { rowText } from "./rows.ts";

/** VALUES. */
export async function values({ variables, bindings }: Values, execution: Execution): Promise<Solutions> {
  const names = variables.map(({ value }) => value);
  const known = names.map((name) => ({ name, certain: bindings.every((row) => Object.hasOwn(row, name)) }));
  const facts = { variables: known, size: bindings.length, isEmpty: bindings.length === 0 };
  return passedOn(facts, execution, () => each([bindings.map((row) => new Map(Object.entries(row)))]));
}

/** The group without patterns: one solution that binds nothing. */
export async function nothing(_operation: unknown, execution: Execution): Promise<Solutions> {
  return passedOn({ variables: [], size: 1 }, execution, () => each([[new Map()]]));
}

/** UNION: the solutions of all branches, as they come. */
export async function union({ input }: Union, execution: Execution): Promise<Solutions> {
  const branches = await Promise.all(input.map((operation) => solutionsOf(operation, execution)));
  const known = branches.map(({ variables }) => new Map(variables.map(({ name, certain }) => [name, certain])));
  const names = new Set(branches.flatMap(({ variables }) => variables.map(({ name }) => name)));
  const facts = {
    variables: [...names].map((name) => ({ name, certain: known.every((branch) => branch.get(name) === true) })),
    size: branches.reduce((sum, { size }) => sum + size, 0),
    isEmpty: branches.every(({ isEmpty }) => isEmpty),
  };
  return passedOn(facts, execution, () => interleave(each(branches.map(({ rows }) => rows)), branches.length));
}

/** FILTER: the solutions for which a condition is true. */
export async function filter({ input, expression }: Filter, execution: Execution): Promise<Solutions> {
  const solutions = await solutionsOf(input, execution);
  const isTrue = conditionOf(expression, execution);
  return passedOn(solutions, execution, () => filtered(solutions.rows, isTrue, createTurns(execution.signal)));
}

async function* filtered(rows: Rows, isTrue: ReturnType<typeof conditionOf>, turns: Turns): Rows {
  for await (const batch of rows) {
    const kept: Bindings[] = [];
    for (const row of batch) {
      const pause = turns();
      if (pause) await pause;
      const verdict = isTrue(row);
      if (verdict instanceof Promise ? await verdict : verdict) kept.push(row);
    }
    yield kept;
  }
}

/** BIND, and expressions of SELECT: solutions with one more variable, where the expression has a value. */
export async function extend({ input, expression, variable }: Extend, execution: Execution): Promise<Solutions> {
  const solutions = await solutionsOf(input, execution);
  const { value: name } = variable;
  const extension = { name, valueOf: valueIn(expression, execution), turns: createTurns(execution.signal) };
  const variables = [...solutions.variables, { name, certain: false }];
  return passedOn({ ...solutions, variables }, execution, () => extended(solutions.rows, extension));
}

interface Extension {
  readonly name: string;
  readonly valueOf: ValueOf;
  readonly turns: Turns;
}

// Computed texts may be long: more of them than this do not wait in one batch.
const LONGEST_BATCH = 64 * 1024;

async function* extended(rows: Rows, { name, valueOf, turns }: Extension): Rows {
  for await (const batch of rows) {
    let wider: Bindings[] = [];
    let length = 0;
    for (const row of batch) {
      const pause = turns();
      if (pause) await pause;
      const found = valueOf(row);
      const term = found instanceof Promise ? await found : found;
      wider.push(term ? extendedBy(row, name, term) : row);
      length += term?.value.length ?? 0;
      if (length <= LONGEST_BATCH) continue;
      yield wider;
      wider = [];
      length = 0;
    }
    yield wider;
  }
}

/** SELECT: solutions with some of their variables. */
export async function project({ input, variables }: Project, execution: Execution): Promise<Solutions> {
  const solutions = await solutionsOf(input, execution);
  const isCertain = new Map(solutions.variables.map(({ name, certain }) => [name, certain]));
  const names = variables.map(({ value }) => value);
  const hides = [...isCertain.keys()].some((name) => !names.includes(name));
  const facts = { ...solutions, variables: names.map((name) => ({ name, certain: isCertain.get(name) === true })) };
  const { traced } = execution;
  return hides
    ? passedOn(facts, execution, () => projected(solutions.rows, { names, traced }))
    : { ...solutions, ...facts };
}

interface Projection {
  readonly names: readonly string[];
  readonly traced: boolean;
}

async function* projected(rows: Rows, { names, traced }: Projection): Rows {
  const only = (row: Bindings): Bindings => {
    const terms = new Map(traced ? [...row].filter(([name]) => isTrace(name)) : []);
    for (const name of names) {
      const term = row.get(name);
      if (term) terms.set(name, term);
    }
    return terms;
  };
  for await (const batch of rows) yield batch.map(only);
}

/** DISTINCT: each solution once; remembered solutions are counted. */
export async function distinct({ input }: Distinct, execution: Execution): Promise<Solutions> {
  const solutions = await solutionsOf(input, execution);
  const names = solutions.variables.map(({ name }) => name);
  const keyOf = (row: Bindings): string => rowText(row, names);
  return passedOn(solutions, execution, () => once(solutions.rows, keyOf, execution.held.open()));
}

/** LIMIT and OFFSET: stops reading with the last solution. */
export async function slice(
  { input, start, length = Number.POSITIVE_INFINITY }: Slice,
  execution: Execution,
): Promise<Solutions> {
  const wanted = start + Math.min(length, execution.wanted ?? Number.POSITIVE_INFINITY);
  const few = Number.isFinite(wanted) ? { ...execution, wanted } : execution;
  const solutions = await solutionsOf(input, few);
  const size = Math.max(0, Math.min(solutions.size - start, length));
  return passedOn({ ...solutions, size }, execution, () => sliced(solutions.rows, start, length));
}

async function* sliced(rows: Rows, start: number, length: number): Rows {
  let [skipped, left] = [start, length];
  if (left <= 0) return;
  for await (const batch of rows) {
    const kept = batch.slice(skipped, skipped + left);
    skipped = Math.max(0, skipped - batch.length);
    left -= kept.length;
    yield kept;
    if (left <= 0) return;
  }
}

/** ASK. */
export async function ask({ input }: Ask, execution: Execution): Promise<Truth> {
  const { rows } = await solutionsOf(input, { ...execution, wanted: 1 });
  return {
    kind: "boolean",
    async value() {
      for await (const batch of rows) if (batch.length > 0) return true;
      return false;
    },
  };
}
