import type { ExecutionBounds } from "../../src/engine/federation-engine.ts";
import type { FederatedPlan } from "../../src/plan/query-plan.ts";
import { parseQuery } from "../../src/sparql/parse-query.ts";
import { splitClauses } from "../../src/sparql/split-clauses.ts";

/** A federated plan for a query whose SERVICE targets are absolute IRIs, without planning. */
export function toFederatedPlan(text: string): FederatedPlan {
  const parsed = parseQuery(text);
  const { skeleton, clauses } = splitClauses(parsed);
  const planned = clauses.map((clause) => Object.assign({}, clause, { endpoint: { url: clause.target.slice(1, -1) } }));
  const urls = [...new Set(planned.map(({ endpoint }) => endpoint.url))];
  return {
    kind: "federated",
    answer: parsed.kind,
    query: text,
    skeleton,
    clauses: planned,
    members: urls.map((url) => ({ endpoint: { url }, clauses: 1, silent: false })),
    notes: [],
  };
}

/** Bounds that nothing reaches. */
export function toBounds(partial = false): ExecutionBounds {
  const signal = new AbortController().signal;
  return { signal, deadlineMs: Number.MAX_SAFE_INTEGER, partial, sources: new Map() };
}
