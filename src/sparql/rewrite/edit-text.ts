import type { Query, TextEdit } from "../parse/query.ts";
import type { Group, TokenRange } from "../parse/outline.ts";

/** `range` with each of the groups in it replaced by what `render` makes of it. */
export function replaceGroups(
  query: Query,
  range: TokenRange,
  replacing: { readonly groups: readonly Group[]; readonly render: (group: Group) => string },
): string {
  const edits = replacing.groups.map((group) => ({ range: group, replacement: replacing.render(group) }));
  return query.cutRange(range, edits);
}

/** Takes FROM and FROM NAMED out. */
export const datasetEdits = ({ outline }: Query): TextEdit[] =>
  outline.datasets.map((range) => ({ range, replacement: "" }));

/** A group without solutions that still brings variables into scope, so that `SELECT *` has the same columns. */
export function emptyGroup(variables: Iterable<string>): string {
  // Oxigraph leaves out the row of an aggregate over what it knows to be empty, as with FILTER(false).
  return `{ ${undefRow(variables)} FILTER(1 = 0) }`;
}

/** A group with one solution that binds nothing but brings variables into scope. */
export function unitGroup(variables: Iterable<string>): string {
  const row = undefRow(variables);
  return row === "" ? "{}" : `{ ${row} }`;
}

function undefRow(variables: Iterable<string>): string {
  const names = [...variables].toSorted();
  if (names.length === 0) return "";
  return `VALUES (${names.map((name) => `?${name}`).join(" ")}) { (${names.map(() => "UNDEF").join(" ")}) }`;
}

/**
 * The text of a query without dataset clauses, with the merge of these graphs as its default graph (section 13.2), and with
 * these named graphs.
 */
export function withDefaultGraphs(query: Query, graphs: readonly string[], named: readonly string[] = []): string {
  const { head } = query.outline;
  const last = { from: head.to - 1, to: head.to };
  const clauses = [...graphs.map((iri) => ` FROM <${iri}>`), ...named.map((iri) => ` FROM NAMED <${iri}>`)].join("");
  return query.cut([{ range: last, replacement: `${query.textOf(last)}${clauses} ` }]);
}
