import type { Substitution } from "../sparql/substitution.ts";
import type { PlannedEndpoint } from "./query-plan.ts";

/** A variable that a clause can bind. */
export interface ClauseVariable {
  /** Without `?`. */
  readonly name: string;
  /** Bound in every solution of the clause (no OPTIONAL, UNION branch, UNDEF or failing BIND can leave it out). */
  readonly certain: boolean;
}

/**
 * One SERVICE clause of a federated plan, taken out of the query: what is sent to its endpoint is built from exactly
 * this text, so no algebra is printed back to SPARQL on the way.
 */
export interface FederatedClause {
  /** Stands for the clause in the plan's skeleton: `urn:fedway:clause:N`. */
  readonly iri: string;
  readonly endpoint: PlannedEndpoint;
  readonly silent: boolean;
  /** Variables in scope at the clause's end (SPARQL 1.1 Query, section 18.2.1), in order of appearance. */
  readonly variables: readonly ClauseVariable[];
  /** BASE and PREFIX declarations that `pattern` needs. */
  readonly prologue: string;
  /** The clause's group graph pattern, braces included. */
  readonly pattern: string;
  /** Variables that triples at the very beginning of `pattern` bind, before anything but FILTERs. */
  readonly opening?: readonly string[];
  /** Of a clause inside EXISTS, where substituting values is not the same as joining them. */
  readonly substitution?: Substitution;
  /** Variables whose values the EXISTS around the clause substitutes: keys for them go where `substitution` says. */
  readonly substituted?: readonly string[];
  /** Each solution is wanted once. */
  readonly distinct?: true;
  /** Its endpoint is known not to do what it uses: it is evaluated here over the endpoint's triples. */
  readonly evaluatedHere?: true;
  /** Constants that narrow the pattern (terms other than classes and predicates, FILTERs, VALUES rows); orders joins. */
  readonly selectivity: number;
}
