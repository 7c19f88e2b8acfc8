import { editText, textOf } from "./edit-text.ts";
import type { ParsedQuery } from "./parse-query.ts";

/** The text of a query without dataset clauses, with the merge of these graphs as its default graph (section 13.2). */
export function withDefaultGraphs(query: ParsedQuery, graphs: readonly string[]): string {
  const { head } = query.outline;
  const last = { from: head.to - 1, to: head.to };
  const clauses = graphs.map((iri) => ` FROM <${iri}>`).join("");
  return editText(query, [{ range: last, replacement: `${textOf(query, last)}${clauses} ` }]);
}
