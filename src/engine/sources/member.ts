import type * as RDF from "@rdfjs/types";
import type { PlannedEndpoint } from "../../plan/query-plan.ts";
import type { Bindings } from "../../results/model.ts";
import type { KeyBlock } from "../clause-query.ts";
import type { MatchEstimate } from "./pattern-source.ts";
import type { TriplePattern } from "./triple-pattern.ts";

/**
 * One member of a merged graph within one execution. A blank node of a member has one label wherever it is met in the
 * execution, and no label of another member.
 */
export interface Member {
  readonly endpoint: PlannedEndpoint;
  /** Solutions of a pattern that are compatible with one of the keys; the same solution may come more than once. */
  solutions(pattern: TriplePattern, keys: KeyBlock | undefined): AsyncIterable<Bindings>;
  /** Those of the nodes that are subject or object of a triple. */
  nodes(among: readonly RDF.Term[]): AsyncIterable<RDF.Term>;
  /** Undefined when it cannot be told without asking for the solutions. */
  estimate(pattern: TriplePattern): Promise<MatchEstimate | undefined>;
}

/** What the whole query asks of its patterns. */
export interface QueryNeeds {
  /**
   * Variables that are compared, joined or told apart: their blank nodes need one label in all answers. Those of the others
   * may have a new label in each answer.
   */
  readonly identified: (variable: string) => boolean;
  /** Every pattern that the execution may ask for, keys aside. */
  readonly patterns: readonly TriplePattern[];
}

/** A key block's rows as solutions. */
export function keyRows({ variables, rows }: KeyBlock): Bindings[] {
  return rows.map((row) => new Map(variables.flatMap((name, index) => (row[index] ? [[name, row[index]]] : []))));
}
