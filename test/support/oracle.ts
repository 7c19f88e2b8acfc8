import oxigraph from "oxigraph";
import {
  bindingsAnswer,
  canonicalRow,
  canonicalTerm,
  graphAnswer,
  isNonEmpty,
  type CanonicalAnswer,
} from "./canonical-answer.ts";
import { nTriplesAt, type GeneratedCase } from "./query-generator-data.ts";
import { printQuery, type GeneratedQuery } from "./query-generator-syntax.ts";

/** Says what a federated query must answer: each endpoint is a named graph of one store and SERVICE is GRAPH. */
export interface Oracle {
  /**
   * Answers a query in its GRAPH spelling.
   * @throws Error when Oxigraph refuses the query
   */
  answer(query: string, options?: { readonly inOrder?: boolean }): CanonicalAnswer;
}

/** @param data N-Triples of each endpoint by its URL */
export function createOracle(data: ReadonlyMap<string, string>): Oracle {
  const store = new oxigraph.Store();
  for (const [url, text] of data) store.load(text, { format: "nt", to_graph_name: oxigraph.namedNode(url) });
  return {
    answer(query, options) {
      const result = store.query(query);
      if (typeof result === "boolean") return { kind: "boolean", value: result };
      if (!Array.isArray(result)) throw new Error("Oxigraph answered with text");
      return collect(result, { isGraph: isConstruct(query), inOrder: options?.inOrder === true });
    },
  };
}

interface Shape {
  readonly isGraph: boolean;
  readonly inOrder: boolean;
}

function collect(result: readonly (oxigraph.Quad | Map<string, oxigraph.Term>)[], shape: Shape): CanonicalAnswer {
  const triples: string[] = [];
  const rows: string[] = [];
  for (const one of result) {
    if (one instanceof Map)
      rows.push(canonicalRow([...one].map(([name, term]) => [name, canonicalTerm(term)] as const)));
    else triples.push([one.subject, one.predicate, one.object].map(canonicalTerm).join(" "));
  }
  return shape.isGraph ? graphAnswer(triples) : bindingsAnswer(rows, shape.inOrder);
}

/** Generated and hand-written test queries start with their form, after prefixes at most. */
function isConstruct(query: string): boolean {
  return /^\s*(?:PREFIX\s+\S*\s*<[^>]*>\s*)*(?:CONSTRUCT|DESCRIBE)\b/iu.test(query);
}

/** The expected answer of a generated case at these endpoint URLs. */
export function expectedAnswer(value: GeneratedCase, endpoints: readonly string[]): CanonicalAnswer {
  const data = new Map(endpoints.map((url, index) => [url, nTriplesAt(value.data, index)]));
  return createOracle(data).answer(printQuery(value.query, { keyword: "GRAPH", endpoints }), {
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
