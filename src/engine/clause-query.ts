import type * as RDF from "@rdfjs/types";
import type { FederatedClause } from "../plan/federated-clause.ts";
import { termToText } from "../results/terms.ts";

/** Join keys for a bound join: every row binds every variable, to IRIs or literals (blank nodes have no name elsewhere). */
export interface KeyBlock {
  readonly variables: readonly string[];
  readonly rows: readonly (readonly RDF.Term[])[];
  /** The clause is asked for nothing else: all of its solutions come in one answer. */
  readonly only?: boolean;
}

/** The text that asks an endpoint for a clause's solutions, restricted to those compatible with a block of keys. */
export function clauseQuery(clause: FederatedClause, keys?: KeyBlock): string {
  const names = [...new Set([...clause.variables.map(({ name }) => name), ...(keys?.variables ?? [])])];
  // A clause without variables still has solutions to count.
  const projection = names.length === 0 ? "(1 AS ?fedway_solution)" : names.map((name) => `?${name}`).join(" ");
  const select = clause.distinct ? "SELECT DISTINCT" : "SELECT";
  const where = keys && keys.variables.length > 0 ? `{ ${keysText(clause, keys)} ${clause.pattern} }` : clause.pattern;
  return `${clause.prologue}${select} ${projection} WHERE ${where}`;
}

/** Whether the clause begins with triples that bind all of the keys' variables. */
export const takesKeysInside = ({ opening }: FederatedClause, { variables }: KeyBlock): boolean =>
  variables.every((name) => opening?.includes(name) === true);

/**
 * The text that is evaluated here for the same solutions. Keys stand within the clause's braces where it begins with
 * triples that bind them: then they narrow what OPTIONAL, MINUS and EXISTS behind those are asked for, and no solution
 * that the clause has for them changes.
 */
export function evaluatedQuery(clause: FederatedClause, keys?: KeyBlock): string {
  const endpoint = { url: clause.endpoint.url };
  if (!keys || !takesKeysInside(clause, keys)) return clauseQuery({ ...clause, endpoint }, keys);
  const pattern = clause.pattern.replace("{", () => `{ ${valuesBlock(keys)} `);
  return clauseQuery({ ...clause, endpoint, pattern });
}

const keysText = ({ endpoint }: FederatedClause, keys: KeyBlock): string =>
  endpoint.inlineData === "bind" ? bindBlock(keys) : valuesBlock(keys);

/** The same solutions as those of `valuesBlock`, for endpoints without VALUES. */
function bindBlock({ variables, rows }: KeyBlock): string {
  const branches = rows.map((row) => {
    const binds = row.map((term, index) => `BIND(${termToText(term)} AS ?${variables[index] ?? ""})`);
    return `{ ${binds.join(" ")} }`;
  });
  return `{ ${branches.join(" UNION ")} }`;
}

function valuesBlock({ variables, rows }: KeyBlock): string {
  const data = rows.map((row) => `(${row.map(termToText).join(" ")})`).join(" ");
  return `VALUES (${variables.map((name) => `?${name}`).join(" ")}) { ${data} }`;
}
