import type { ClauseVariable } from "../../plan/query-plan.ts";
import type * as RDF from "../../rdf/term.ts";
import { type KeyBlock, termsText } from "../clause-query.ts";
import { patternVariable } from "../sources/triple-pattern.ts";
import type { Operation, Values } from "./algebra.ts";
import type { BoundSide } from "./bound-join.ts";
import { type Execution, type Solutions, solutionsOf } from "./execution.ts";
import { type LeafClause, leafSide, leafVariables } from "./leaf.ts";
import { expressionsOf, inputsOf, isVolatile, union, valuesOf, volatileFunctions, withInputs } from "./operations.ts";

type Names = ReadonlySet<string>;

/** Solutions of the first input, with more variables or not, some of them left out; each is made of one solution. */
const firstDecides: ReadonlySet<Operation["type"]> = new Set([
  "filter",
  "fedway:prepared",
  "distinct",
  "reduced",
  "orderby",
  "extend",
  "leftjoin",
  "minus",
]);

// An operand with several clauses is taken in whole when it would be asked for more keys than this, and than it is known to
// have solutions.
const KEYS_BEFORE_WHOLE = 4_096;

/**
 * An operand as the side of a join that is asked with the keys of the other one, a clause or an operation with clauses in it:
 * UNION, OPTIONAL, a subselect. Undefined when it can only be taken in whole.
 *
 * @param others variables of the other side
 */
export function sideOf(
  { operation, solutions }: { readonly operation: Operation; readonly solutions: Solutions },
  others: readonly ClauseVariable[],
  execution: Execution,
): BoundSide | undefined {
  if (operation.type === "fedway:leaf") return leafSide(operation.clause);
  const leaves = leavesOf(operation);
  const [first] = leaves;
  const blankKeys = leaves.every((leaf) => leaf.blankKeys);
  const isMixed = !blankKeys && leaves.some((leaf) => leaf.blankKeys);
  if (!first || isMixed || !takesKeys(operation, new Set(others.map(({ name }) => name)))) return undefined;
  return {
    blocks: first.blocks,
    blankKeys,
    wholeFrom: leaves.some(({ targetVariable }) => targetVariable !== undefined)
      ? undefined
      : Math.max(KEYS_BEFORE_WHOLE, leaves.every((leaf) => leaf.size !== undefined) ? solutions.size : 0),
    variables: solutions.variables,
    async *solutions(keys) {
      if (keys?.only !== true) askedInBlocks(operation);
      const asked = keys ? withKeys(operation, keys) : operation;
      yield* (await solutionsOf(asked, execution)).rows;
    },
  };
}

/** Aggregates may choose another of the solutions, too. */
const volatile: ReadonlySet<string> = new Set([...volatileFunctions, "sample", "group_concat"]);

/** The leaves of an operation, those of EXISTS left out. */
export function leavesOf(operation: Operation): readonly LeafClause[] {
  if (operation.type === "fedway:leaf") return [operation.clause];
  return inputsOf(operation).flatMap((input) => leavesOf(input));
}

/** Says that an operation is evaluated for several blocks of keys. */
export function askedInBlocks(operation: Operation): void {
  for (const leaf of leavesOf(operation)) leaf.askedInBlocks?.();
}

/** Variables that every solution of an operation binds, as far as it is plain to see. */
export function certainIn(operation: Operation): Names {
  if (operation.type === "fedway:leaf") {
    return new Set(leafVariables(operation.clause).flatMap(({ name, certain }) => (certain ? [name] : [])));
  }
  if (operation.type === "values") return certainInRows(operation);
  const inputs = inputsOf(operation).map((input) => certainIn(input));
  const [first = new Set<string>(), ...others] = inputs;
  if (operation.type === "join") return union(inputs);
  if (operation.type === "union") return new Set([...first].filter((name) => others.every((names) => names.has(name))));
  return handedOn(operation, first) ?? new Set();
}

function certainInRows({ variables, bindings }: Values): Names {
  const names = variables.map(({ value }) => value);
  return new Set(names.filter((name) => bindings.every((row) => row[name] !== undefined)));
}

/**
 * True if every clause in an operation can be asked with keys when the operation is needed for values of these variables
 * only. Where one could not, all of its solutions would be asked for with each block of keys.
 */
export function takesKeys(operation: Operation, names: Names): boolean {
  if (operation.type === "fedway:leaf") {
    const { targetVariable: target } = operation.clause;
    return target === undefined ? shared(names, certainIn(operation)).size > 0 : names.has(target);
  }
  // A solution that is needed for two blocks of keys would be another one each time.
  if (expressionsOf(operation).some((expression) => isVolatile(expression, volatile))) return false;
  const inputs = inputsOf(operation);
  if (operation.type === "join") return joinTakesKeys(inputs, shared(names, certainIn(operation)));
  if (operation.type === "union") return inputs.every((input) => takesKeys(input, names));
  const [left, right] = inputs;
  const inside = handedOn(operation, names);
  if (!left || !inside) return leavesOf(operation).length === 0;
  return takesKeys(left, inside) && (!right || takesKeys(right, certainIn(left)));
}

/** The variables whose values narrow the first input of an operation; undefined where that would change the others. */
function handedOn(operation: Operation, names: Names): Names | undefined {
  if (operation.type === "project" || operation.type === "group")
    return shared(names, new Set(operation.variables.map(({ value }) => value)));
  return firstDecides.has(operation.type) ? names : undefined;
}

/** Each part is asked with what those before it have bound. */
function joinTakesKeys(inputs: readonly Operation[], keys: Names): boolean {
  const bound = new Set(keys);
  let rest = inputs;
  while (rest.length > 0) {
    const next = rest.find((input) => takesKeys(input, bound));
    if (!next) return false;
    for (const name of certainIn(next)) bound.add(name);
    rest = rest.filter((input) => input !== next);
  }
  return keys.size > 0;
}

/**
 * An operation whose solutions are those of the given one that are compatible with a key, and possibly others of them, each
 * as often. Keys stand beside the clauses, for variables that these always bind, so that nothing is left out but solutions
 * with other values; they commute with all operators but slices and aggregates over other variables.
 */
function withKeys(operation: Operation, keys: KeyBlock): Operation {
  function beside(inputs: readonly Operation[], names: Names): readonly Operation[] {
    const values = valuesOf([...names].map(patternVariable), distinctRows(keys, [...names]));
    return names.size === 0 ? inputs : [values, ...inputs];
  }

  function keyed(one: Operation, names: Names): Operation {
    if (one.type === "fedway:leaf") return { type: "join", input: beside([one], shared(names, certainIn(one))) };
    const inputs = inputsOf(one);
    if (one.type === "join") return { ...one, input: beside(inputs, shared(names, certainIn(one))) };
    if (one.type === "union") return { ...one, input: inputs.map((input) => keyed(input, names)) };
    const [left, ...others] = inputs;
    const inside = handedOn(one, names);
    return left && inside ? withInputs(one, [keyed(left, inside), ...others]) : one;
  }
  return keyed(operation, new Set(keys.variables));
}

function distinctRows({ variables, rows }: KeyBlock, names: readonly string[]): Values["bindings"] {
  const distinct = new Map<string, Readonly<Record<string, RDF.Term>>>();
  for (const row of rows) {
    const entries = names.flatMap((name) => {
      const term = row[variables.indexOf(name)];
      return term ? [[name, term] as const] : [];
    });
    distinct.set(termsText(entries.map(([, term]) => term)), Object.fromEntries(entries));
  }
  return [...distinct.values()];
}

const shared = (names: Names, others: Names): Names => new Set([...names].filter((name) => others.has(name)));
