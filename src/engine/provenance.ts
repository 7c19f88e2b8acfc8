import { FedwayError } from "../errors/fedway-error.ts";
import { inBatches, itemsOf } from "../results/item-reader.ts";
import type { Bindings, QueryResult } from "../results/model.ts";
import { literalFromParts } from "../results/terms.ts";

/** Variable that says which endpoints a row came from: their catalogue ids or URLs, with blanks between them. */
const provenanceVariable = "fedway_from";

/** The columns of a query and the one for the endpoints. @throws FedwayError `REQUEST_INVALID` where the query has that one */
export function withProvenanceColumn(variables: readonly string[]): readonly string[] {
  if (!variables.includes(provenanceVariable)) return [...variables, provenanceVariable];
  throw new FedwayError("REQUEST_INVALID", `The query has a column ${provenanceVariable} itself.`, {
    next: "Rename it, or leave out provenance.",
  });
}

/**
 * A row is followed by entries that no variable can be named like, one an endpoint. Joins merge them like other terms, and
 * as the entry of an endpoint always has the same value, none of them keeps two rows apart.
 */
const prefix = "\u0000";
const mark = literalFromParts("");

/** True if an entry of a row names an endpoint that it came from. */
export const isTrace = (name: string): boolean => name.startsWith(prefix);

/** Rows of an endpoint that say so. */
export const tracedTo = (endpoint: string, rows: readonly Bindings[]): readonly Bindings[] =>
  rows.map((row) => new Map(row).set(prefix + endpoint, mark));

/**
 * A row with its traces as a term. Rows that aggregates have made have none, and the variable is unbound. Of a solution that
 * several members have and that counts once, one of them is named.
 */
export function withProvenance(row: Bindings): Bindings {
  const told = new Map([...row].filter(([name]) => !isTrace(name)));
  const endpoints = [...row.keys()].filter(isTrace).map((name) => name.slice(prefix.length));
  if (endpoints.length > 0) told.set(provenanceVariable, literalFromParts(endpoints.toSorted().join(" ")));
  return told;
}

/** Rows of a nested execution, whose last column says which endpoints they came from, with traces of these again. */
export const tracedToMembers = (rows: readonly Bindings[]): readonly Bindings[] =>
  rows.map((row) => {
    const from = row.get(provenanceVariable);
    if (from === undefined) return row;
    const traces = from.value.split(" ").map((endpoint) => [prefix + endpoint, mark] as const);
    return new Map([...[...row].filter(([name]) => name !== provenanceVariable), ...traces]);
  });

/** The answer of one endpoint, whose rows all came from there. @throws FedwayError as `withProvenanceColumn` */
export function cameFrom(endpoint: string, result: QueryResult): QueryResult {
  if (result.kind !== "bindings") return result;
  const { variables, rows } = result;
  const term = literalFromParts(endpoint);
  async function* told(): AsyncIterable<readonly Bindings[]> {
    for await (const batch of inBatches(rows)) yield batch.map((row) => new Map(row).set(provenanceVariable, term));
  }
  return { ...result, variables: withProvenanceColumn(variables), rows: itemsOf(told()) };
}
