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
  const pattern = withSubstituted(clause, keys);
  const where = keys && keys.variables.length > 0 ? `{ ${keysText(clause, keys)} ${pattern} }` : pattern;
  return `${clause.prologue}${select} ${projection} WHERE ${where}`;
}

/** Whether the clause begins with triples that bind all of the keys' variables. */
export const takesKeysInside = ({ opening, substituted }: FederatedClause, { variables }: KeyBlock): boolean =>
  !substituted && variables.every((name) => opening?.includes(name) === true);

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

/**
 * The pattern with the keys in every group that needs them. Keys that come from a neighbour inside the same EXISTS stay
 * outside where that makes a difference: the neighbour is joined with.
 */
function withSubstituted(clause: FederatedClause, keys?: KeyBlock): string {
  const { pattern, substitution, substituted } = clause;
  if (!keys || !substitution || !substituted) return pattern;
  const isReached = (name: string): boolean => substituted.includes(name) || !substitution.variables.includes(name);
  let text = pattern;
  for (const { at, variables } of substitution.sites.toReversed()) {
    const part = columns(keys, (name) => variables.includes(name) && isReached(name));
    if (part.variables.length > 0) text = `${text.slice(0, at)} ${keysText(clause, part)} ${text.slice(at)}`;
  }
  return text;
}

/** The distinct rows of some of the columns. */
function columns(keys: KeyBlock, isWanted: (name: string) => boolean): KeyBlock {
  const at = [...keys.variables.keys()].filter((index) => isWanted(keys.variables[index] ?? ""));
  const rows = new Map<string, readonly RDF.Term[]>();
  for (const row of keys.rows) {
    const part = at.flatMap((index) => row[index] ?? []);
    rows.set(part.map(termToText).join(" "), part);
  }
  return { variables: at.flatMap((index) => keys.variables[index] ?? []), rows: [...rows.values()] };
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
