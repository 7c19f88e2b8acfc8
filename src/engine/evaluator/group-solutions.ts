import type { Bindings } from "../../results/model.ts";
import { type KeyBlock, keyRows, type BlockSizes } from "../clause-query.ts";
import { type HeldBytes, rowBytes } from "../held-bytes.ts";
import { interleave } from "../interleave.ts";
import type { MergedGraph } from "../sources/merged-graph.ts";
import { hasSubject } from "../sources/pattern-units.ts";
import type { PathEvaluator } from "../sources/property-path.ts";
import { type BoundJoin, boundJoin } from "./bound-join.ts";
import { bufferedInnerJoin, keyOn } from "./buffered-join.ts";
import { pathSolutions } from "./path-solutions.ts";
import { inBatches } from "../../results/item-reader.ts";
import { joinOrder } from "./join-order.ts";
import { each } from "./execution.ts";
import type { PushedCondition } from "../demand.ts";
import type { GroupPart, PlannedGroup } from "./group-plan.ts";
/** What groups are evaluated with. */
export interface GroupContext {
  readonly graph: MergedGraph;
  readonly paths: PathEvaluator;
  readonly sizes: BlockSizes;
  /** Key of the learned block sizes. */
  readonly blocksOf: string;
  readonly held: HeldBytes;
  /** Aborted when the execution is over. */
  readonly signal: AbortSignal;
}

/**
 * Solutions of a group (SPARQL 1.1 Query, section 18.5, Join), compatible with one of the keys, whose variables they bind.
 * The parts are joined one after the other, the smallest first; small ones are asked for at once.
 */
export async function* groupSolutions(
  context: GroupContext,
  group: PlannedGroup,
  keys: KeyBlock | undefined,
): AsyncIterable<readonly Bindings[]> {
  const [only] = group.parts;
  // Keys for other variables, as a branch of a union gets them, are joined like other solutions.
  if (only && group.parts.length === 1 && bindsAll(only, keys)) {
    yield* partSolutions(context, only, keys);
    return;
  }
  let joined: JoinedSoFar = {
    solutions: each([keys ? keyRows(keys) : [new Map()]]),
    names: new Set(keys?.variables),
    certain: new Set(keys?.variables),
  };
  const open = new Set(group.conditions);
  for (const { part, size, rows } of await started(context, group, keys)) {
    const solutions = rows
      ? hashJoin(context, joined, { part, rows })
      : keyJoin(context, joined, { part, size, wanted: group.enough });
    const certain = part.variables.filter((variable) => variable.certain);
    joined = {
      solutions,
      names: joined.names.union(new Set(part.variables.map(({ name }) => name))),
      certain: joined.certain.union(new Set(certain.map(({ name }) => name))),
    };
    joined = fulfilling(joined, open);
  }
  yield* joined.solutions;
}

interface StartedPart {
  readonly part: GroupPart;
  /** About how many solutions it has, where that is known. */
  readonly size: number | undefined;
  /** Its solutions, asked for already. */
  readonly rows: AsyncIterable<readonly Bindings[]> | undefined;
}

// For what no member can tell without being asked.
const UNKNOWN_SIZE = 1_000;
// Solutions that are asked for at once, whatever they will be joined with.
const SMALL = 64;
// Larger parts are asked by key, however many keys there are.
const MOST_IN_WHOLE = 20_000;
// A key costs about as much to send as two solutions to receive.
const ROWS_FOR_A_KEY = 2;

/** The parts in the order in which they are joined. */
async function started(
  context: GroupContext,
  group: PlannedGroup,
  keys: KeyBlock | undefined,
): Promise<readonly StartedPart[]> {
  const { parts } = group;
  const sized = await Promise.all(
    parts.map(async (part) => {
      const size = part.kind === "unit" ? await context.graph.estimate(part.unit) : undefined;
      const { variables } = part;
      const names = variables.map(({ name }) => name);
      return { part, known: size, names, variables, size: size ?? UNKNOWN_SIZE / (1 + part.selectivity) };
    }),
  );
  const bound = new Set(keys?.variables);
  const asKeys = keys?.variables.map((name) => ({ name, certain: true }));
  const ordered = joinOrder(sized, keys && { size: keys.rows.length, variables: asKeys ?? [] });
  return ordered.map(({ part, known: size, names }, index) => {
    const isAlone = !names.some((name) => bound.has(name));
    const mostInWhole = Math.max(SMALL, keysExpected(group, ordered.slice(0, index), names) * ROWS_FOR_A_KEY);
    const isSmall = size !== undefined && size <= Math.min(mostInWhole, MOST_IN_WHOLE);
    const isAtOnce = !keys && index > 0 && part.kind === "unit" && (isAlone || isSmall);
    for (const name of names) bound.add(name);
    return { part, size, rows: isAtOnce ? begun(context, part) : undefined };
  });
}

interface SizedPart {
  readonly part: GroupPart;
  /** About how many solutions it has, where that is known. */
  readonly known: number | undefined;
  readonly names: readonly string[];
}

/**
 * How many keys earlier parts have for one with these variables: as many as the smallest has solutions, if they differ in them
 * because they are subjects. 0 where that is not known, where conditions leave fewer, or few solutions are wanted.
 */
function keysExpected(group: PlannedGroup, before: readonly SizedPart[], names: readonly string[]): number {
  const conditioned = new Set(group.conditions.flatMap(({ variables }) => variables));
  const areSubjects = before.some(
    ({ part }) => part.kind === "unit" && names.some((name) => hasSubject(part.unit, name)),
  );
  if (!areSubjects || group.enough !== undefined) return 0;
  return Math.min(
    ...before.map(({ known = 0, names: own }) => (own.some((name) => conditioned.has(name)) ? 0 : known)),
  );
}

/** The solutions of a part, whose requests go out now. */
function begun(context: GroupContext, part: GroupPart): AsyncIterable<readonly Bindings[]> {
  const gather = async (): Promise<readonly Bindings[]> => {
    const rows: Bindings[] = [];
    const holding = context.held.open();
    for await (const batch of partSolutions(context, part, undefined)) {
      for (const row of batch) {
        holding.add(rowBytes(row));
        rows.push(row);
      }
    }
    return rows;
  };
  const gathered = gather();
  // The reader of the rows gets the failure.
  gathered.catch(() => {});
  return (async function* () {
    yield await gathered;
  })();
}

interface JoinedSoFar {
  readonly solutions: AsyncIterable<readonly Bindings[]>;
  /** Variables that they may bind. */
  readonly names: ReadonlySet<string>;
  /** Those that all of them bind. */
  readonly certain: ReadonlySet<string>;
}

interface WholePart {
  readonly part: GroupPart;
  readonly rows: AsyncIterable<readonly Bindings[]>;
}

/** A part that is taken in whole. */
function hashJoin(
  { held, signal }: GroupContext,
  { solutions: left, names, certain }: JoinedSoFar,
  { part, rows: right }: WholePart,
): AsyncIterable<readonly Bindings[]> {
  const shared = part.variables.map(({ name }) => name).filter((name) => names.has(name));
  const isCertain = new Set(part.variables.flatMap((variable) => (variable.certain ? [variable.name] : [])));
  const key = keyOn(shared.filter((name) => certain.has(name) && isCertain.has(name)));
  return bufferedInnerJoin({ left, right, shared, key: { left: key, right: key }, held, signal });
}

/** A part that is asked for the keys of what is joined so far; in whole, where it turns out to be smaller than its keys. */
async function* keyJoin(
  context: GroupContext,
  left: JoinedSoFar,
  { part, size, wanted }: Pick<StartedPart, "part" | "size"> & Pick<BoundJoin, "wanted">,
): AsyncIterable<readonly Bindings[]> {
  const blocks = new PartBlocks(part);
  const right = {
    endpoint: context.blocksOf,
    blankKeys: true,
    variables: part.variables,
    wholeFrom: size !== undefined && size <= MOST_IN_WHOLE ? Math.max(SMALL, size / ROWS_FOR_A_KEY) : undefined,
    async *solutions(keys: KeyBlock | undefined): AsyncIterable<readonly Bindings[]> {
      yield* partSolutions(context, part, keys);
      blocks.answered();
    },
  };
  yield* boundJoin({
    left: left.solutions,
    leftVariables: [...left.names],
    right,
    sizes: blocks,
    wanted,
    held: context.held,
    mode: "inner",
  });
}

const FIRST_KEYS = 128;
const MOST_KEYS = 8_192;

/** Keys of the next block for all members of a part together: each member is sent those that it may have. */
class PartBlocks {
  #next: number;

  constructor(part: GroupPart) {
    const members = part.kind === "unit" ? part.unit.sources.length : 1;
    this.#next = Math.min(MOST_KEYS, FIRST_KEYS * Math.max(1, Math.ceil(members / 2)));
  }

  next(): number {
    return this.#next;
  }

  answered(): void {
    this.#next = Math.min(MOST_KEYS, this.#next * 2);
  }
}

/** The same without what fails a condition, of those that can be decided by now; these are not open any more. */
function fulfilling(joined: JoinedSoFar, open: Set<PushedCondition>): JoinedSoFar {
  const now = [...open].filter(({ variables }) => variables.every((name) => joined.certain.has(name)));
  if (now.length === 0) return joined;
  for (const condition of now) open.delete(condition);
  async function* kept(): AsyncIterable<readonly Bindings[]> {
    for await (const rows of joined.solutions) yield rows.filter((row) => now.every(({ holds }) => holds(row)));
  }
  return { ...joined, solutions: kept() };
}

const BRANCHES_AT_ONCE = 8;

function bindsAll(part: GroupPart, keys: KeyBlock | undefined): boolean {
  const names = new Set(part.variables.map(({ name }) => name));
  return part.kind === "union" || (keys?.variables.every((name) => names.has(name)) ?? true);
}

async function* partSolutions(
  context: GroupContext,
  part: GroupPart,
  keys: KeyBlock | undefined,
): AsyncIterable<readonly Bindings[]> {
  switch (part.kind) {
    case "unit":
      yield* inBatches(context.graph.solutions(part.unit, part.wanted, keys));
      return;
    case "path":
      yield* pathSolutions(context, part.path, keys);
      return;
    default:
      yield* interleave(each(part.branches.map((branch) => groupSolutions(context, branch, keys))), BRANCHES_AT_ONCE);
  }
}
