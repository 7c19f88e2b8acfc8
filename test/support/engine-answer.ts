import { createComunicaEngine } from "../../src/engine/comunica/comunica-engine.ts";
import type { FederationEngine } from "../../src/engine/federation-engine.ts";
import { termToText } from "../../src/results/terms.ts";
import { toBounds, toFederatedPlan } from "./federated-plan.ts";
import { createStoreClient } from "./store-client.ts";

/** An engine in this process, over endpoints with data in N-Triples, and what it may hold. */
export function testEngine(data: Readonly<Record<string, string>> = {}, maxHeldBytes?: number): FederationEngine {
  return createComunicaEngine({
    client: createStoreClient(data),
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
