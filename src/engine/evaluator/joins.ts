import type { ClauseVariable } from "../../plan/query-plan.ts";
import type { PushedCondition } from "../demand.ts";
import type { EqualityJoin, Expression, Join, LeftJoin, Minus, Operation } from "./algebra.ts";
import { type BoundJoin, boundJoin, type BoundSide } from "./bound-join.ts";
import {
  type BufferedJoin,
  bufferedInnerJoin,
  bufferedLeftJoin,
  bufferedMinus,
  type Condition,
  keyOn,
} from "./buffered-join.ts";
import { GatheredRows } from "./gathered-rows.ts";
import { boundTogether, expectedJoin, joinOrder, ranked, sharesValues, type Sized } from "./join-order.ts";
import { equalityKey } from "./equality-join.ts";
import {
  each,
  type Execution,
  made,
  passedOn,
  type Rows,
  type Solutions,
  solutionsOf,
  wantingAll,
} from "./execution.ts";
import { type OrderedJoin, orderedJoin } from "./ordered-join.ts";
import { prepareExistences } from "./existence.ts";
import { conditionOf } from "./expressions.ts";
import { askedInBlocks, certainIn, leavesOf, sideOf, takesKeys } from "./keyed-operation.ts";
import { isSmallBeside, sizeOfText } from "./leaf.ts";
import { existencesIn } from "./operations.ts";

// What EXISTS in the condition of an OPTIONAL is asked for.
const ROWS_PREPARED_AT_ONCE = 512;

/** An operand and its solutions. */
interface Operand {
  readonly operation: Operation;
  readonly solutions: Solutions;
}

const operandOf = async (operation: Operation, execution: Execution): Promise<Operand> => ({
  operation,
  solutions: await solutionsOf(operation, execution),
});

/**
 * Joins any number of operands: those that are no clauses first, then clause after clause with the keys at hand. Small ones
 * are asked for at once.
 */
export async function join({ input, conditions = [] }: Join, execution: Execution): Promise<Solutions> {
  const operands = await Promise.all(
    input.map(async (operation) => {
      if (operation.type === "fedway:leaf") await operation.clause.measure?.();
      return operandOf(operation, execution);
    }),
  );
  const all = operands.map(({ solutions }) => solutions);
  if (all.some(({ isEmpty }) => isEmpty))
    return none(
      all.reduce<readonly ClauseVariable[]>((variables, other) => boundTogether({ variables }, other), []),
      execution,
    );
  const asked = operands.filter(({ operation }) => isAsked(operation, input));
  const others = operands.filter((operand) => !asked.includes(operand)).map(({ solutions }) => solutions);
  const whole = joinOrder(others).reduce<Solutions | undefined>(
    (left, right) => (left ? joinedInWhole(left, right, execution) : right),
    undefined,
  );
  // Keys can be sent along with each next clause, and no product of unrelated solutions is made.
  const [bound, free] = [asked.filter(hasBoundTarget), asked.filter((operand) => !hasBoundTarget(operand))];
  const isSome = whole !== undefined || execution.wanted !== undefined;
  const isLast = bound.length === 0;
  const joined = free.length > 0 ? inOrder(whole, free, { conditions, isSome, isLast, execution }) : whole;
  const result = bound.reduce(
    (left, operand) => (left ? joinedByKeys(left, operand, { conditions, execution }) : operand.solutions),
    joined,
  );
  return result ?? made({ variables: [], size: 1 }, execution, () => each([[new Map()]]));
}

interface Conditioned {
  readonly conditions: readonly PushedCondition[];
  readonly execution: Execution;
}

interface InOrder extends Conditioned {
  /** Only some of the solutions are wanted: those for keys, or the first ones. */
  readonly isSome: boolean;
  /** Nothing is joined with them. */
  readonly isLast: boolean;
}

/** Clauses joined in the order of their figures, which changes where these prove wrong; small ones are asked for at once. */
function inOrder(start: Solutions | undefined, operands: readonly Operand[], options: InOrder): Solutions {
  const { conditions, isSome, isLast, execution } = options;
  const sized = operands.map((operand): SizedOperand => ({ ...operand, ...sizeOf(operand.solutions) }));
  const order = joinOrder(ranked(sized, textualSize, start), start);
  const small = new Map<Operation, GatheredRows>();
  const clauses = order.map(({ operation }) => (operation.type === "fedway:leaf" ? operation.clause : undefined));
  for (const [index, operand] of order.entries()) {
    const { operation, solutions } = operand;
    const isKeyed = order.slice(0, index).some((earlier) => sharesValues(earlier, operand));
    const isSmall =
      index > 0 && !isSome && !isKeyed && isSmallBeside(clauses[index], clauses.slice(0, index), conditions);
    if (isSmall) small.set(operation, new GatheredRows(solutions.rows, execution));
  }
  const [first = order[0], ...rest] = start ? [start, ...order] : order;
  const facts = rest.reduce<Sized>(joinFacts, first ?? { variables: [], size: 1 });
  const rowsOf = ({ operation }: Operand): Rows => small.get(operation)?.rows() ?? askedAgain(operation, execution);
  const evaluation: OrderedJoin<SizedOperand> = {
    held: execution.held,
    isFixed: execution.wanted !== undefined,
    open: (operand) => fulfilling({ ...operand.solutions, rows: rowsOf(operand) }, options).rows,
    step(left, operand, isEnd) {
      const { solutions, operation } = operand;
      const joined = small.has(operation)
        ? hashJoined(left, { ...solutions, rows: rowsOf(operand) }, execution)
        : joinedByKeys(left, operand, options);
      return isEnd && isLast ? joined.rows : fulfilling(joined, options, left).rows;
    },
    askedInBlocks: (parts) => parts.forEach(({ operation }) => askedInBlocks(operation)),
    firstKeys(left, operand) {
      const side = small.has(operand.operation) ? undefined : sideOf(operand, left.variables, execution);
      const most = side?.blocks.next() ?? 0;
      return (side?.wholeFrom ?? most) < most ? 0 : most;
    },
  };
  return passedOn(facts, execution, () => {
    for (const part of small.values()) part.begin();
    return orderedJoin(evaluation, order, start && fulfilling(start, options));
  });
}

type SizedOperand = Operand & Sized;

const sizeOf = ({ variables, size }: Sized): Sized => ({ variables, size });

const textualSize = ({ operation }: Operand): number =>
  leavesOf(operation).reduce((sum, clause) => sum + sizeOfText(clause), 0);

/** Its solutions once more; a reopened operand makes no values of its own (`isAsked`). */
async function* askedAgain(operation: Operation, execution: Execution): Rows {
  yield* (await solutionsOf(operation, execution)).rows;
}

const none = (variables: readonly ClauseVariable[], execution: Execution): Solutions =>
  made({ variables, size: 0, isEmpty: true }, execution, () => each([]));

const namesOf = ({ variables }: Solutions): readonly string[] => variables.map(({ name }) => name);

/** Its endpoints are named by what the others bind: it comes last, in the order of the query. */
const hasBoundTarget = ({ operation }: Operand): boolean =>
  operation.type === "fedway:leaf" && operation.clause.targetVariable !== undefined;

/** It can be asked with keys that the others bind; other operands are taken in whole and come first. */
function isAsked(operation: Operation, operands: readonly Operation[]): boolean {
  if (operation.type === "fedway:leaf") return true;
  if (leavesOf(operation).length === 0) return false;
  const names = operands.flatMap((other) => (other === operation ? [] : [...certainIn(other)]));
  return takesKeys(operation, new Set(names));
}

/** Solutions without those that fail a condition that can be decided by now, and could not before. */
function fulfilling(solutions: Solutions, { conditions, execution }: Conditioned, before?: Sized): Solutions {
  const now = conditions.filter((one) => isDecided(one, solutions) && !(before && isDecided(one, before)));
  if (now.length === 0) return solutions;
  async function* kept(): Rows {
    for await (const rows of solutions.rows) yield rows.filter((row) => now.every(({ holds }) => holds(row)));
  }
  return passedOn(solutions, execution, kept);
}

const isDecided = ({ variables }: PushedCondition, known: Sized): boolean =>
  variables.every((name) => known.variables.some((variable) => variable.name === name && variable.certain));

function joinedByKeys(left: Solutions, right: Operand & Partial<Sized>, conditioned: Conditioned): Solutions {
  const { execution } = conditioned;
  const found = sideOf(right, left.variables, execution);
  if (!found) return hashJoined(left, { ...right.solutions, rows: askedAgain(right.operation, execution) }, execution);
  const bounds = boundsBeside(left, right.solutions, conditioned);
  // What turned out to be large is not taken in whole for a few keys.
  const least = right.isCorrected ? (right.size ?? 0) : 0;
  const side = { ...found, wholeFrom: found.wholeFrom && Math.max(found.wholeFrom, least) };
  return made(joinFacts(left, right.solutions), execution, () =>
    byKeys(left, side, { execution, mode: "inner", bounds }),
  );
}

/** Bounds on variables that only the other side has, beside solutions that always bind the others. */
function boundsBeside(left: Sized, right: Sized, { conditions }: Conditioned): BoundJoin["bounds"] {
  const known = new Map(left.variables.map(({ name, certain }) => [name, certain]));
  const bounds = conditions
    .flatMap((condition) => condition.bounds ?? [])
    .filter(({ variable, of }) => !known.has(variable) && of.every((name) => known.get(name)))
    .filter(({ variable }) => right.variables.some(({ name }) => name === variable));
  return bounds.length === 0 ? undefined : (rows) => bounds.flatMap(({ within }) => within(rows));
}

/** The join of solutions of which the smaller ones are taken in whole. */
const joinedInWhole = (left: Solutions, right: Solutions, execution: Execution): Solutions =>
  left.size < right.size ? hashJoined(right, left, execution) : hashJoined(left, right, execution);

const hashJoined = (left: Solutions, right: Solutions, execution: Execution): Solutions =>
  made(joinFacts(left, right), execution, () => bufferedInnerJoin(buffered(left, right, execution)));

/** The join of two operands whose solutions a FILTER finds equal, as a hash join. */
export async function equalityJoin({ input, names }: EqualityJoin, execution: Execution): Promise<Solutions> {
  const [left, right] = await Promise.all(input.map((operation) => solutionsOf(operation, execution)));
  const [leftName, rightName] = names;
  if (!left || !right || leftName === undefined || rightName === undefined) throw missing();
  const key = { left: keyAt(leftName), right: keyAt(rightName) };
  const facts = { ...joinFacts(left, right), size: Math.max(left.size, right.size) };
  return made(facts, execution, () => bufferedInnerJoin({ ...buffered(left, right, execution), key, shared: [] }));
}

/** Without a value there is no key that another solution has: the FILTER would find an error. */
function keyAt(name: string): BufferedJoin["key"]["left"] {
  return (row) => {
    const term = row.get(name);
    return term && equalityKey(term);
  };
}

/** OPTIONAL with its condition: a clause is asked by key, everything else is taken in whole. */
export async function leftJoin({ input, expression }: LeftJoin, execution: Execution): Promise<Solutions> {
  const [left, right] = await bothSides(input, execution);
  const condition = expression && judging(expression, execution);
  const known = new Set(namesOf(left));
  const added = right.solutions.variables.filter(({ name }) => !known.has(name));
  const variables = [...left.variables, ...added.map(({ name }) => ({ name, certain: false }))];
  const side = sideOf(right, left.variables, execution);
  return made({ variables, size: left.size }, execution, () =>
    side
      ? byKeys(left, side, { execution, mode: "optional", condition })
      : bufferedLeftJoin(buffered(left, right.solutions, execution), condition),
  );
}

function judging(expression: Expression, execution: Execution): Condition {
  const isTrue = conditionOf(expression, execution);
  const existences = existencesIn(expression);
  return {
    atOnce: existences.length > 0 ? ROWS_PREPARED_AT_ONCE : 1,
    async holds(solutions) {
      if (existences.length > 0) await prepareExistences(existences, solutions, execution);
      const verdicts: boolean[] = [];
      for (const row of solutions) verdicts.push(await isTrue(row));
      return verdicts;
    },
  };
}

/** MINUS: a clause whose shared variables are always bound is asked by key, everything else is taken in whole. */
export async function minus({ input }: Minus, execution: Execution): Promise<Solutions> {
  const [left, right] = await bothSides(input, execution);
  const known = new Set(namesOf(left));
  const shared = right.solutions.variables.filter(({ name }) => known.has(name));
  // Solutions without a shared variable are never taken away (SPARQL 1.1 Query, section 8.3.3).
  if (shared.length === 0) return left;
  // Keys sent along would bind what the clause itself leaves unbound, and so look like a variable in common.
  const side = shared.every(({ certain }) => certain) ? sideOf(right, left.variables, execution) : undefined;
  return made(left, execution, () =>
    side ? byKeys(left, side, { execution, mode: "minus" }) : bufferedMinus(buffered(left, right.solutions, execution)),
  );
}

async function bothSides(input: readonly Operation[], execution: Execution): Promise<[Solutions, Operand]> {
  const [left, right] = await Promise.all(
    input.map((operation, index) => operandOf(operation, index === 0 ? execution : wantingAll(execution))),
  );
  if (!left || !right) throw missing();
  return [left.solutions, right];
}

const missing = (): Error => new Error("A join needs two operands");

interface KeyJoin extends Pick<BoundJoin, "mode" | "condition" | "bounds"> {
  readonly execution: Execution;
}

/** Solutions joined with an operand that is asked block by block. */
const byKeys = (left: Solutions, right: BoundSide, { execution, ...options }: KeyJoin): Solutions["rows"] =>
  boundJoin({
    ...options,
    left: left.rows,
    leftVariables: namesOf(left),
    right,
    wanted: execution.wanted,
    held: execution.held,
  });

function buffered(left: Solutions, right: Solutions, { held, signal }: Execution): BufferedJoin {
  const isCertain = new Map(left.variables.map(({ name, certain }) => [name, certain]));
  const shared = right.variables.filter(({ name }) => isCertain.has(name));
  const key = keyOn(shared.flatMap(({ name, certain }) => (certain && isCertain.get(name) ? [name] : [])));
  const names = shared.map(({ name }) => name);
  return { left: left.rows, right: right.rows, key: { left: key, right: key }, shared: names, held, signal };
}

const joinFacts = (left: Sized, right: Sized): Pick<Solutions, "variables" | "size"> => ({
  variables: boundTogether(left, right),
  size: expectedJoin(left, right),
});
