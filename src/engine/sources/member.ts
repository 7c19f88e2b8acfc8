import type * as RDF from "@rdfjs/types";
import type { PlannedEndpoint } from "../../plan/query-plan.ts";
import type { Bindings } from "../../results/model.ts";
import type { KeyBlock } from "../clause-query.ts";
import type { KnownVariable, UnitDemand } from "../demand.ts";
import type { MatchEstimate } from "./pattern-source.ts";
import { type Graphs, type TriplePattern, variablesOf } from "./triple-pattern.ts";

type Batches = AsyncIterable<readonly Bindings[]>;

/**
 * One member of a merged graph within one execution. A blank node of a member has one label wherever it is met in the
 * execution, and no label of another member.
 */
export interface Member {
  readonly endpoint: PlannedEndpoint;
  /** Solutions that are compatible with one of the keys. One that does not speak SPARQL is asked for one pattern at a time. */
  solutions(question: MemberQuestion, keys: KeyBlock | undefined): Batches;
  /** The solutions of the branches of a UNION, by the number in `BRANCH`; only of a member that speaks SPARQL. */
  united?(branches: ReadonlyMap<number, MemberQuestion>, keys: KeyBlock | undefined): Batches;
  /** Those of the nodes that are subject or object of a triple of these graphs, as `?node`. */
  nodes(among: readonly RDF.Term[], graphs: Graphs | undefined): Batches;
  /** Undefined when it cannot be known without asking for the solutions. */
  estimate(pattern: TriplePattern): Promise<MatchEstimate | undefined>;
}

/** Question to one member. There are as many solutions as if all variables were selected. */
export interface MemberQuestion extends UnitDemand {
  readonly patterns: readonly TriplePattern[];
  /** Known facts of its variables at that member. */
  readonly known?: KnownVariable | undefined;
  /** About how many solutions it has, where that is known. */
  readonly size?: number | undefined;
}

/** The question for all solutions of a pattern. */
export const wholePattern = (pattern: TriplePattern): MemberQuestion => ({
  patterns: [pattern],
  variables: new Set(variablesOf(pattern)),
  conditions: [],
  distinct: false,
});

/** Demands of the whole query on its patterns. */
export interface QueryNeeds {
  /**
   * Variables that are compared, joined or distinguished: their blank nodes need one label in all answers. Those of the others
   * may have a new label in each answer. @param inside in how many places it stands in what is asked as one
   */
  identified(variable: string, inside: number): boolean;
  /** Every pattern that the execution may ask for, keys aside. */
  readonly patterns: readonly TriplePattern[];
}
