import type { Algebra, AlgebraFactory } from "@comunica/utils-algebra";
import { algebraUtils } from "@comunica/utils-algebra";
import type * as RDF from "@rdfjs/types";
import { ClauseSource } from "./clause-source.ts";
import {
  bgpConjuncts,
  type Conjunct,
  connectedConjuncts,
  groupVariables,
  pathConjuncts,
  withTerm,
} from "./conjuncts.ts";
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
  /** The operation with terms in place of a leaf's variables, which keep these values. */
  readonly fixed: (operation: Algebra.Operation, terms: FixedTerms) => Algebra.Operation;
}

/** Terms that FILTERs demand of variables. */
export type FixedTerms = ReadonlyMap<string, RDF.NamedNode | RDF.Literal>;

/** What the assigner builds with. */
export interface AssignerOptions {
  /** Undefined: patterns have no data. */
  readonly leaves: PatternLeaves | undefined;
  readonly factory: AlgebraFactory;
  readonly toOperation: (source: ClauseSource) => Algebra.Operation;
}

/** Creates the assigner of one query. */
export function createPatternAssigner(options: AssignerOptions): PatternAssigner {
  const { leaves, factory, toOperation } = options;
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
    fixed: (operation, terms) => fixLeaf(operation, terms, options),
    parts(operation) {
      const parts = connectedConjuncts(conjunctsOf(operation) ?? []);
      return leaves && parts.length > 1 ? parts.map((part) => toOperation(leaves.leaf(part))) : [operation];
    },
  };
}

function fixLeaf(operation: Algebra.Operation, terms: FixedTerms, options: AssignerOptions): Algebra.Operation {
  const { leaves, factory, toOperation } = options;
  let conjuncts = conjunctsOf(operation) ?? [];
  const fixed = new Map<string, RDF.NamedNode | RDF.Literal>();
  for (const { name } of groupVariables(conjuncts)) {
    const term = terms.get(name);
    const replaced: readonly Conjunct[] | undefined = term && withTerm(conjuncts, name, term);
    if (!term || !replaced) continue;
    conjuncts = replaced;
    fixed.set(name, term);
  }
  if (!leaves || fixed.size === 0) return operation;
  const variables = [...fixed.keys()].map((name) => leaves.variable(name));
  const values = factory.createValues(variables, [Object.fromEntries(fixed)]);
  return factory.createJoin([values, toOperation(leaves.leaf(conjuncts))], false);
}

/** The conjuncts behind a leaf of patterns. */
function conjunctsOf({ metadata }: Algebra.Operation): readonly Conjunct[] | undefined {
  const assigned = metadata?.["scopedSource"] as { readonly source?: unknown } | undefined;
  const clause = assigned?.source instanceof ClauseSource ? assigned.source.clause : undefined;
  return clause instanceof PatternClause ? clause.conjuncts : undefined;
}
