import { createTestedEngine } from "./tested-engine.ts";
import type { ExecutionBounds } from "../../src/engine/execution-bounds.ts";
import type { FederationEngine } from "../../src/engine/executor.ts";
import type { SparqlClient } from "../../src/outbound/sparql-request.ts";
import { termToText } from "../../src/results/terms.ts";
import { createStoreClient } from "./store-client.ts";
import type { FederatedPlan } from "../../src/plan/query-plan.ts";
import { parseQuery, splitClauses } from "../../src/sparql/query.ts";

/** An engine in this process, over endpoints with data in N-Triples, and what it may hold. */
export function testEngine(data: Readonly<Record<string, string>> = {}, maxHeldBytes?: number): FederationEngine {
  return testEngineOver(createStoreClient(data), maxHeldBytes);
}

export function testEngineOver(client: SparqlClient, maxHeldBytes?: number): FederationEngine {
  return createTestedEngine({
    client,
    maxSolutions: 500_000,
    now: () => performance.now(),
    ...(maxHeldBytes !== undefined && { maxHeldBytes }),
  });
}

const plain = testEngine();

/** The rows or triples of a query, a line each; an unbound variable is `-`. */
export async function engineAnswer(query: string, engine = plain, timeoutMs = 120_000): Promise<string[]> {
  const bounds = { ...toBounds(), signal: AbortSignal.timeout(timeoutMs) };
  const result = await engine.execute(toFederatedPlan(query), bounds);
  if (result.kind === "boolean") return [String(result.value)];
  const lines: string[] = [];
  if (result.kind === "bindings") {
    for await (const row of result.rows) {
      const terms = result.variables.map((name) => row.get(name));
      lines.push(terms.map((term) => (term ? termToText(term) : "-")).join(" "));
    }
  } else {
    for await (const { subject, predicate, object } of result.quads) {
      lines.push([subject, predicate, object].map(termToText).join(" "));
    }
  }
  return lines;
}

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
