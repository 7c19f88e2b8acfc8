import oxigraph from "oxigraph";
import { isNonEmpty, storeAnswer, type CanonicalAnswer } from "./canonical-answer.ts";
import { nTriplesAt, type GeneratedCase } from "./query-generator-data.ts";
import { printQuery, type GeneratedQuery, type Urls } from "./query-generator-syntax.ts";

export type Oracle = ReturnType<typeof createOracle>;

/**
 * Says what a federated query must answer: each endpoint is a named graph of one store and SERVICE is GRAPH.
 * @param data N-Triples of each endpoint by its URL
 */
export function createOracle(data: ReadonlyMap<string, string>) {
  const store = new oxigraph.Store();
  for (const [url, text] of data) store.load(text, { format: "nt", to_graph_name: oxigraph.namedNode(url) });
  return {
    /** Answers a query in its GRAPH spelling. @throws Error when Oxigraph refuses the query */
    answer: (query: string, { inOrder = false } = {}) => storeAnswer(store, query, inOrder),
  };
}

/** The expected answer of a generated case at these endpoint URLs. */
export function expectedAnswer(value: GeneratedCase, endpoints: readonly string[], dead?: string): CanonicalAnswer {
  const urls: Urls = { endpoints, ...(dead === undefined ? {} : { dead }) };
  const data = new Map(endpoints.map((url, index) => [url, nTriplesAt(value.data, index, urls)]));
  return createOracle(data).answer(printQuery(value.query, { keyword: "GRAPH", ...urls }), {
    inOrder: isTotallyOrdered(value.query),
  });
}

/** The generator orders by everything that is projected, or by the keys of the groups: then the order is part of the answer. */
export function isTotallyOrdered(query: GeneratedQuery): boolean {
  if (query.form !== "select" || query.select.orderBy.length === 0) return false;
  const { orderBy, groupBy, projection } = query.select;
  const keys = new Set(orderBy.map((key) => key.replace(/^DESC\((.*)\)$/u, "$1")));
  const wanted = groupBy.length > 0 ? groupBy : projection.map((item) => item.variable);
  return wanted.length > 0 && wanted.every((variable) => keys.has(variable));
}

/** The answer tells something: an aggregate without GROUP BY has a row even over nothing, so there only a value other than 0 counts. */
export function isInformative(query: GeneratedQuery, answer: CanonicalAnswer): boolean {
  if (!isNonEmpty(answer)) return false;
  if (answer.kind !== "bindings" || query.form !== "select") return true;
  const { projection, groupBy } = query.select;
  if (groupBy.length > 0 || !projection.some((item) => item.aggregate)) return true;
  return answer.rows.some((row) => row.split(" ").some((cell) => cell !== "" && !cell.includes("=0^^")));
}
