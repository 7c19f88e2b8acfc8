import type { MediatorQueryOperation } from "@comunica/bus-query-operation";
import { KeysInitQuery } from "@comunica/context-entries";
import type { ComunicaDataFactory, IActionContext, IJoinEntry } from "@comunica/types";
import { type Algebra, AlgebraFactory } from "@comunica/utils-algebra";
import type * as RDF from "@rdfjs/types";
import { type KeyBlock, termsText } from "../clause-query.ts";
import type { BoundSide } from "./bound-join.ts";
import { batches, bindingsOf, isHoistedFilter, type Leaf, leafOf, leafSide } from "./clause-operands.ts";
import { inputsOf, preparedType, union } from "./prepared-input.ts";

type Names = ReadonlySet<string>;
type Operation = Algebra.Operation;

/** Solutions of the first input, with more variables or not, some of them left out; each by itself. */
const firstDecides: ReadonlySet<string> = new Set([
  "filter",
  preparedType,
  "distinct",
  "reduced",
  "orderby",
  "extend",
  "leftjoin",
  "minus",
]);

// An operand with several clauses is taken in whole when it would be asked for more keys.
const KEYS_BEFORE_WHOLE = 4_096;

interface SideOptions {
  readonly mediatorQueryOperation: MediatorQueryOperation;
  readonly context: IActionContext;
}

/**
 * An operand as the side of a join that is asked with the keys of the other one, a clause or an operation with clauses in it:
 * UNION, OPTIONAL, a subselect. Undefined when it can only be taken in whole.
 *
 * @param names variables of the other side
 */
export async function sideOf(
  { operation: whole, output }: IJoinEntry,
  names: readonly string[],
  { mediatorQueryOperation, context }: SideOptions,
): Promise<BoundSide | undefined> {
  const operation = isHoistedFilter(whole) ? whole.input : whole;
  const leaf = leafOf(operation);
  if (leaf) return leafSide(leaf);
  const leaves = leavesOf(operation);
  const [first] = leaves;
  const blankKeys = leaves.every(({ source }) => source.clause.blankKeys);
  const isMixed = !blankKeys && leaves.some(({ source }) => source.clause.blankKeys);
  if (!first || isMixed || !takesKeys(operation, new Set(names))) return undefined;
  const dataFactory = context.getSafe(KeysInitQuery.dataFactory);
  const { variables } = await output.metadata();
  return {
    endpoint: first.source.clause.blocksOf,
    blankKeys,
    wholeFrom: leaves.some(({ source }) => source.clause.targetVariable !== undefined) ? undefined : KEYS_BEFORE_WHOLE,
    variables: variables.map(({ variable, canBeUndef }) => ({ name: variable.value, certain: !canBeUndef })),
    async *solutions(keys) {
      if (keys?.only !== true) for (const { source } of leaves) source.clause.askedInBlocks?.();
      const asked = keys ? withKeys(operation, keys, dataFactory) : operation;
      yield* batches(bindingsOf(await mediatorQueryOperation.mediate({ operation: asked, context })));
    },
  };
}

/** The leaves of an operation, those of EXISTS left out. */
export function leavesOf(operation: Operation): readonly Leaf[] {
  const leaf = isHoistedFilter(operation) ? undefined : leafOf(operation);
  return leaf ? [leaf] : inputsOf(operation).flatMap((input) => leavesOf(input));
}

/** Variables that every solution of an operation binds, as far as it is plain to see. */
export function certainIn(operation: Operation): Names {
  const leaf = leafOf(operation);
  if (leaf) return new Set(leaf.source.variables().flatMap(({ name, certain }) => (certain ? [name] : [])));
  if (operation.type === "values") return certainInRows(operation as Algebra.Values);
  const inputs = inputsOf(operation).map((input) => certainIn(input));
  const [first = new Set<string>(), ...others] = inputs;
  if (operation.type === "join") return union(inputs);
  if (operation.type === "union") return new Set([...first].filter((name) => others.every((names) => names.has(name))));
  return handedOn(operation, first) ?? new Set();
}

function certainInRows({ variables, bindings }: Algebra.Values): Names {
  const names = variables.map(({ value }) => value);
  return new Set(names.filter((name) => bindings.every((row) => row[name] !== undefined)));
}

/**
 * Whether every clause in an operation can be asked with keys when the operation is wanted for values of these variables
 * only. Where one could not, all of its solutions would be asked for with each block of keys.
 */
export function takesKeys(operation: Operation, names: Names): boolean {
  const leaf = leafOf(operation);
  if (leaf) {
    const { targetVariable: target } = leaf.source.clause;
    return target === undefined ? shared(names, certainIn(operation)).size > 0 : names.has(target);
  }
  // A solution that is needed for two blocks of keys would be another one each time.
  if (isVolatile(operation as Computed)) return false;
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
  if (operation.type === "project" || operation.type === "group") return shared(names, ownVariables(operation));
  return firstDecides.has(operation.type) ? names : undefined;
}

const volatile: ReadonlySet<unknown> = new Set(["rand", "uuid", "struuid", "bnode", "sample", "group_concat"]);

interface Computed {
  readonly operator?: unknown;
  readonly aggregator?: unknown;
  readonly args?: readonly unknown[];
  readonly aggregates?: readonly unknown[];
  readonly expression?: unknown;
}

/** Whether what an operation or expression computes itself may differ from one evaluation to the next. */
function isVolatile({ operator, aggregator, args = [], aggregates = [], expression }: Computed): boolean {
  if (volatile.has(operator) || volatile.has(aggregator)) return true;
  const inner = expression === undefined ? [] : [expression];
  return [...args, ...aggregates, ...inner].some((part) => isVolatile(part as Computed));
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
function withKeys(operation: Operation, keys: KeyBlock, dataFactory: ComunicaDataFactory): Operation {
  const factory = new AlgebraFactory(dataFactory);

  function joined(inputs: readonly Operation[], names: Names): Operation {
    const variables = [...names].map((name) => dataFactory.variable(name));
    const values = factory.createValues(variables, distinctRows(keys, [...names]));
    return names.size === 0 ? factory.createJoin([...inputs], false) : factory.createJoin([values, ...inputs], false);
  }

  function keyed(one: Operation, names: Names): Operation {
    if (leafOf(one)) return joined([one], shared(names, certainIn(one)));
    const inputs = inputsOf(one);
    if (one.type === "join") return joined(inputs, shared(names, certainIn(one)));
    if (one.type === "union") return { ...one, input: inputs.map((input) => keyed(input, names)) } as Operation;
    const [left, right] = inputs;
    const inside = handedOn(one, names);
    if (!left || !inside) return one;
    const narrowed = keyed(left, inside);
    return { ...one, input: right ? [narrowed, right] : narrowed } as Operation;
  }
  return keyed(operation, new Set(keys.variables));
}

function distinctRows({ variables, rows }: KeyBlock, names: readonly string[]): Algebra.Values["bindings"] {
  const distinct = new Map<string, Record<string, RDF.NamedNode | RDF.Literal>>();
  for (const row of rows) {
    const terms = names.flatMap((name) => row[variables.indexOf(name)] ?? []);
    distinct.set(termsText(terms), Object.fromEntries(names.map((name, at) => [name, terms[at] as RDF.NamedNode])));
  }
  return [...distinct.values()];
}

const ownVariables = (operation: Operation): Names =>
  new Set((operation as Algebra.Project | Algebra.Group).variables.map(({ value }) => value));

const shared = (names: Names, others: Names): Names => new Set([...names].filter((name) => others.has(name)));
