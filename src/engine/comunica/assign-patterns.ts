import type { Algebra, AlgebraFactory } from "@comunica/utils-algebra";
import { algebraUtils } from "@comunica/utils-algebra";
import { ClauseSource } from "./clause-source.ts";
import { bgpConjuncts, type Conjunct, connectedConjuncts, pathConjuncts } from "./conjuncts.ts";
import { PatternClause, type PatternLeaves } from "./pattern-leaves.ts";

/** Turns groups of patterns into leaves over the merged graph; undefined where patterns have no data. */
export interface PatternAssigner {
  readonly bgp: (operation: Algebra.Bgp) => Algebra.Operation;
  readonly path: (operation: Algebra.Path) => Algebra.Operation;
  /** Neighbouring leaves are one leaf, so that OPTIONAL, EXISTS and joins ask them with their keys as a whole. */
  readonly join: (operation: Algebra.Join) => Algebra.Operation;
  readonly union: (operation: Algebra.Union) => Algebra.Operation;
  /** The leaves of a leaf's parts that share no variable; what is no leaf stays as it is. */
  readonly parts: (operation: Algebra.Operation) => readonly Algebra.Operation[];
}

/** What the assigner builds with. */
export interface AssignerOptions {
  /** Undefined: patterns have no data. */
  readonly leaves: PatternLeaves | undefined;
  readonly factory: AlgebraFactory;
  readonly toOperation: (source: ClauseSource) => Algebra.Operation;
}

/** Creates the assigner of one query. */
export function createPatternAssigner({ leaves, factory, toOperation }: AssignerOptions): PatternAssigner {
  const leafFor = (operation: Algebra.Operation, conjuncts: readonly Conjunct[] | undefined): Algebra.Operation => {
    if (leaves && conjuncts) return toOperation(leaves.leaf(conjuncts));
    return factory.createValues(algebraUtils.inScopeVariables(operation), []);
  };
  return {
    bgp: (bgp) => (bgp.patterns.length === 0 ? bgp : leafFor(bgp, bgpConjuncts(bgp))),
    path: (path) => leafFor(path, leaves && pathConjuncts(path, () => leaves.fresh())),
    join(join) {
      const groups = join.input.flatMap((input) => conjunctsOf(input) ?? []);
      const others = join.input.filter((input) => !conjunctsOf(input));
      if (!leaves || join.input.length - others.length < 2) return join;
      const leaf = toOperation(leaves.leaf(groups));
      return others.length === 0 ? leaf : factory.createJoin([leaf, ...others], false);
    },
    union(union) {
      const branches = union.input.flatMap((input) => {
        const conjuncts = conjunctsOf(input);
        return conjuncts ? [conjuncts] : [];
      });
      if (!leaves || branches.length < union.input.length) return union;
      return toOperation(leaves.leaf([{ kind: "union", branches }]));
    },
    parts(operation) {
      const parts = connectedConjuncts(conjunctsOf(operation) ?? []);
      return leaves && parts.length > 1 ? parts.map((part) => toOperation(leaves.leaf(part))) : [operation];
    },
  };
}

/** The conjuncts behind a leaf of patterns. */
function conjunctsOf({ metadata }: Algebra.Operation): readonly Conjunct[] | undefined {
  const assigned = metadata?.["scopedSource"] as { readonly source?: unknown } | undefined;
  const clause = assigned?.source instanceof ClauseSource ? assigned.source.clause : undefined;
  return clause instanceof PatternClause ? clause.conjuncts : undefined;
}
