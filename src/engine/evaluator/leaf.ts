import type { ClauseVariable } from "../../plan/query-plan.ts";
import type { Bindings } from "../../results/model.ts";
import { hasBlankNode } from "../../results/terms.ts";
import type { KeyBlock, KeyBlocks } from "../clause-query.ts";
import type { LeafDemand, PushedCondition, Summary } from "../demand.ts";
import type { UnitBranch } from "../united-clause.ts";
import type { Leaf } from "./algebra.ts";
import type { BoundSide } from "./bound-join.ts";
import { type Execution, made, type Rows, type Solutions } from "./execution.ts";

// For a clause that has not been asked before: one value for all keeps the textual order. Rather large, so that one that is
// known to have some thousand solutions comes before one that may have millions.
const UNKNOWN_SIZE = 10_000;
const MOST_SELECTIVE = 6;
// Leaves with no more solutions are asked at once, and not worth a second kind of request.
const SMALL = 64;
// Larger parts are asked by key, however many keys there are.
const MOST_IN_WHOLE = 50_000;
// A key costs about as much to send as two solutions to receive.
const ROWS_FOR_A_KEY = 2;

/** Content of an algebra leaf: a SERVICE clause at its endpoint, or patterns that are asked as one at their members. */
export interface LeafClause {
  readonly variables: readonly ClauseVariable[];
  /** All variables may be left unbound by a failure. */
  readonly silent: boolean;
  /** Variable without a key for which it cannot be asked, and which all of its solutions bind (`SERVICE ?g`). */
  readonly targetVariable?: string | undefined;
  readonly selectivity: number;
  /** About how many solutions it has, where that is known. */
  readonly size?: number | undefined;
  /** Keys that take as many requests as all solutions, where it is asked key by key. */
  readonly keysForWhole?: number | undefined;
  /** Finds these out where it takes a request. */
  measure?(): Promise<void>;
  /** Solutions differ in the variable: those of a small part are about as many keys. */
  isDistinct?(name: string): boolean;
  readonly blocks: KeyBlocks;
  /** Keys may be blank nodes, whose labels stand for one node throughout the execution. */
  readonly blankKeys: boolean;
  /** Variables for which substituting a value is not the same as joining it. */
  readonly correlated?: readonly string[] | undefined;
  /** The same clause asked for no more than this. */
  demanding?(demand: LeafDemand): LeafClause;
  /** The clause that has a summary of its solutions; undefined where that cannot be. */
  summarising?(summary: Summary): LeafClause | undefined;
  /** Its role as a branch of a UNION that may be asked together with others. */
  readonly branch?: UnitBranch | undefined;
  /** Branches of a UNION as one clause, whose solutions have `BRANCH`; undefined where members are asked for each. */
  uniting?(branches: readonly UnitBranch[]): LeafClause | undefined;
  /** The same clause with the keys for these variables substituted. */
  substituting?(variables: readonly string[]): LeafClause;
  /** Those of a clause that was made so. */
  readonly substituted?: readonly string[] | undefined;
  /** Says that it, or an operation around it, is asked for several blocks of keys. */
  askedInBlocks?(): void;
  /**
   * Its solutions as they come, compatible with one of the keys when given, whose variables they bind.
   * @param wanted number of solutions of the query that are enough: the first ones are then asked for before all are
   * @param conditions others are not needed
   */
  solutions(
    keys: KeyBlock | undefined,
    wanted?: number,
    conditions?: readonly PushedCondition[],
  ): AsyncIterable<readonly Bindings[]>;
}

export const leafOf = (clause: LeafClause): Leaf => ({ type: "fedway:leaf", clause });

/** Solutions of a leaf; the request goes out when the first one is read. */
export async function leaf({ clause }: Leaf, execution: Execution): Promise<Solutions> {
  const facts = { variables: leafVariables(clause), size: clause.size ?? sizeOfText(clause) };
  return made(facts, execution, () => clause.solutions(undefined, execution.wanted));
}

/** About how many solutions a clause has, by its constants alone. */
export const sizeOfText = ({ selectivity }: LeafClause): number =>
  UNKNOWN_SIZE / 10 ** Math.min(selectivity, MOST_SELECTIVE);

/** The clause's variables; those of a SILENT clause may all be left unbound by its failure. */
export function leafVariables({ variables, silent, targetVariable }: LeafClause): readonly ClauseVariable[] {
  return silent ? variables.map(({ name }) => ({ name, certain: name === targetVariable })) : variables;
}

/** The clause as the right side of a bound join. */
export function leafSide(clause: LeafClause): BoundSide {
  const { blocks, blankKeys, variables, substituted = [] } = clause;
  const open = new Set(variables.flatMap(({ name, certain }) => (certain ? [] : [name])));
  // The values that are substituted come back with the number of their key.
  for (const name of substituted) open.delete(name);
  return {
    blocks,
    blankKeys,
    wholeFrom: wholeFrom(clause),
    variables: leafVariables(clause).map(({ name, certain }) => ({
      name,
      certain,
      oneSpelling: !blankKeys && open.has(name),
    })),
    solutions: (keys, conditions) => askedFor(clause, keys, conditions),
  };
}

/** The number of keys beyond which a clause is read whole. */
function wholeFrom({ size, keysForWhole, substituted = [] }: LeafClause): number | undefined {
  if (size === undefined || size > MOST_IN_WHOLE || substituted.length > 0) return undefined;
  return keysForWhole ?? Math.max(SMALL, size / ROWS_FOR_A_KEY);
}

async function* askedFor(
  clause: LeafClause,
  keys: KeyBlock | undefined,
  conditions: readonly PushedCondition[] | undefined,
): Rows {
  // A blank node is not known under any name at an endpoint: no solution can be compatible with it.
  if (!clause.blankKeys && keys?.rows.every((row) => row.some(hasBlankNode))) return;
  yield* clause.solutions(keys, undefined, conditions);
}

type Clauses = readonly (LeafClause | undefined)[];

/** True if a clause is known to be small, also beside the keys that operands before it have for it. */
export function isSmallBeside(
  clause: LeafClause | undefined,
  before: Clauses,
  conditions: readonly PushedCondition[],
): boolean {
  if (!clause || clause.targetVariable !== undefined || clause.substituted !== undefined) return false;
  const { size = Number.POSITIVE_INFINITY, keysForWhole } = clause;
  const keys = keysExpected(clause, before, conditions);
  if (keysForWhole !== undefined) return size <= MOST_IN_WHOLE && keysForWhole <= Math.max(1, keys);
  return size <= Math.min(Math.max(SMALL, keys * ROWS_FOR_A_KEY), MOST_IN_WHOLE);
}

/**
 * How many keys earlier operands have for a clause: as many as the smallest has solutions, if they differ in them.
 * 0 where that is not known, or where conditions leave fewer.
 */
function keysExpected({ variables }: LeafClause, before: Clauses, conditions: readonly PushedCondition[]): number {
  const conditioned = new Set(conditions.flatMap((condition) => condition.variables));
  if (!before.some((earlier) => variables.some(({ name }) => earlier?.isDistinct?.(name)))) return 0;
  const sizes = before.map((earlier) =>
    earlier?.variables.some(({ name }) => conditioned.has(name)) ? 0 : (earlier?.size ?? 0),
  );
  return Math.min(...sizes);
}
