import type { Bindings } from "../../results/model.ts";
import { summaryVariables, type UnitDemand } from "../demand.ts";
import { BRANCH, certainInAll, type UnitBranch } from "../united-clause.ts";
import type { HeldBytes } from "../held-bytes.ts";
import type { MergedGraph } from "../sources/merged-graph.ts";
import { isTrace } from "../provenance.ts";
import { hasSubject, type PatternUnit, unitSize, unitVariables } from "../sources/pattern-units.ts";
import type { PathEvaluator } from "../sources/property-path.ts";
import { conjunctSelectivity, conjunctVariables, groupSelectivity, type PathConjunct } from "./conjuncts.ts";
import { firstRows } from "./first-rows.ts";
import type { LeafClause } from "./leaf.ts";
import { pathSolutions } from "./path-solutions.ts";

/** Context of patterns over members in one execution. */
export interface GraphContext {
  readonly graph: MergedGraph;
  readonly paths: PathEvaluator;
  readonly held: HeldBytes;
}

/** Patterns that are asked as one at each of their members, as a leaf of the algebra. */
export function unitLeaf(context: GraphContext, unit: PatternUnit, demand: UnitDemand): LeafClause {
  const { graph, held } = context;
  const { summary, conditions, optionals = [] } = demand;
  const blocks = new GrowingBlocks(unit.sources.length);
  const own = new Set(unitVariables(unit));
  const asked = [...demand.variables].map((name) =>
    own.has(name) ? graph.variableOf(unit, name) : { name, certain: false },
  );
  const variables = summary ? summaryVariables(summary, asked) : asked;
  let size = unitSize(unit);
  let keysForWhole: number | undefined;
  return {
    ...patternFacts,
    variables,
    blocks,
    selectivity: groupSelectivity(unit.patterns.map((pattern) => ({ kind: "triple", pattern }))),
    isDistinct: (name) => hasSubject(unit, name),
    get size() {
      return size;
    },
    get keysForWhole() {
      return keysForWhole;
    },
    branch: graph.isBranch({ unit, demand }) ? { unit, demand } : undefined,
    uniting: (branches) => (graph.canUnite(branches) ? unitedLeaf(context, branches) : undefined),
    async measure() {
      ({ size, keysForWhole } = await graph.estimate(unit));
    },
    summarising(made) {
      const isPlain = conditions.length === 0 && optionals.length === 0 && graph.canSummarise(unit, made);
      const by = "by" in made ? new Set(made.by) : demand.variables;
      return isPlain
        ? unitLeaf(context, unit, { conditions, distinct: false, variables: by, summary: made })
        : undefined;
    },
    async *solutions(keys, few, added = []) {
      const { limit } = demand;
      const narrowed = { ...demand, conditions: [...conditions, ...added] };
      const ask = (rows?: number) =>
        graph.solutions(unit, { ...narrowed, limit: rows === undefined ? limit : { rows } }, keys);
      const isOpen = keys === undefined && limit === undefined && summary === undefined;
      const shown = new Set([...variables.map(({ name }) => name), ...(keys?.variables ?? [])]);
      const found = isOpen && few !== undefined ? firstRows(ask, { wanted: few, size, held }) : ask();
      for await (const rows of found) yield rows.map((row) => shownOf(row, shown));
      blocks.answered();
    },
  };
}

/** The branches of a UNION, whose solutions have `BRANCH`. Blank nodes among its keys have none. */
function unitedLeaf({ graph }: GraphContext, branches: readonly UnitBranch[]): LeafClause {
  const sizes = branches.map(({ unit }) => unitSize(unit) ?? 0);
  const blocks = new GrowingBlocks(
    new Set(branches.flatMap(({ unit }) => unit.sources.map(({ member }) => member))).size,
  );
  return {
    ...patternFacts,
    variables: [...certainInAll(branches.map(({ demand }) => demand.variables)), { name: BRANCH, certain: true }],
    blocks,
    selectivity: 0,
    size: sizes.reduce((sum, size) => sum + size, 0),
    async *solutions(keys) {
      yield* graph.united(branches, keys);
      blocks.answered();
    },
  };
}

/** A path with `?`, `*` or `+`, as a leaf of the algebra. */
export function pathLeaf(context: GraphContext, path: PathConjunct): LeafClause {
  const blocks = new GrowingBlocks(1);
  return {
    ...patternFacts,
    variables: conjunctVariables(path),
    blocks,
    selectivity: conjunctSelectivity(path),
    async *solutions(keys) {
      yield* pathSolutions(context, path, keys);
      blocks.answered();
    },
  };
}

/** Several members that have one solution are asked for all variables; some always give them. */
function shownOf(row: Bindings, names: ReadonlySet<string>): Bindings {
  const isShown = (name: string): boolean => names.has(name) || isTrace(name);
  return [...row.keys()].every(isShown) ? row : new Map([...row].filter(([name]) => isShown(name)));
}

const patternFacts = { silent: false, blankKeys: true } as const;

const FIRST_KEYS = 128;
const MOST_KEYS = 8_192;

/** Keys of the next block for all members of a unit together: each member is sent those that it may have. */
class GrowingBlocks {
  #next: number;

  constructor(members: number) {
    this.#next = Math.min(MOST_KEYS, FIRST_KEYS * Math.max(1, Math.ceil(members / 2)));
  }

  next(): number {
    return this.#next;
  }

  answered(): void {
    this.#next = Math.min(MOST_KEYS, this.#next * 2);
  }
}
