import oxigraph from "oxigraph";
import type { KnownSources } from "../../src/plan/plan-request.ts";
import type { PlannedEndpoint } from "../../src/plan/query-plan.ts";
import { clauseEstimates, emptyClauses } from "../../src/selection/clause-facts.ts";
import { FactTable } from "../../src/selection/fact-table.ts";
import { selectSources } from "../../src/selection/select-sources.ts";
import { factsOf } from "../../src/selection/source-facts.ts";
import type { Triple } from "./described-data.ts";
import type { Knowledge } from "./federated-case.ts";
import { truthfulDescription } from "./truthful-description.ts";
import { truthOf } from "./void-truth.ts";
import { EndpointModels } from "../../src/registry/model.ts";
import type { VoidDescription } from "../../src/registry/descriptions.ts";

const seenAt = "2026-01-01T00:00:00.000Z";
const hourMs = 3_600_000;

/**
 * What planning knows of members that have these N-Triples: the truth of some, and of others descriptions that must leave
 * them out of nothing, because they are old, not complete, contradicted, unfinished or about something else.
 */
export function knownSources(
  members: readonly { readonly endpoint: PlannedEndpoint; readonly data: string; readonly knowledge: Knowledge }[],
  seed: number,
): KnownSources {
  const models = new EndpointModels();
  const table = new FactTable({ models, now: () => Date.parse(seenAt) + hourMs });
  for (const [index, { endpoint, data, knowledge }] of members.entries()) {
    if (knowledge === "none" || endpoint.id === undefined) continue;
    const truth = { ...truthfulDescription(truthOf(triplesOf(data))), endpoint: endpoint.url, startedAt: seenAt };
    models.setDescription(endpoint.id, distorted(truth, knowledge, seed + index));
    table.set(endpoint.id, factsOf(models.get(endpoint.id)?.described, 24 * hourMs));
  }
  return {
    version: 1,
    select: (plan, how) => selectSources(plan, table, how),
    emptyClauses: (clauses) => emptyClauses(clauses, table),
    clauseEstimates: (clauses) => clauseEstimates(clauses, table),
    facts: ({ id, url }) => table.get(id, url),
    subjectPartition: ({ id, url }) => table.get(id, url)?.partition,
  };
}

/** As an endpoint counts them that stores values. */
function triplesOf(data: string): readonly Triple[] {
  const store = new oxigraph.Store();
  store.load(data, { format: "nt" });
  const rows = store.query("SELECT * { ?s ?p ?o }") as Map<string, oxigraph.Term>[];
  return rows.map((row): Triple => [String(row.get("s")), String(row.get("p")), String(row.get("o"))]);
}

function distorted(truth: VoidDescription, knowledge: Knowledge, seed: number): VoidDescription {
  const half = <T>(items: readonly T[]): readonly T[] => items.filter((_, index) => index % 2 === seed % 2);
  const lists = {
    propertyPartitions: half(truth.propertyPartitions),
    classPartitions: half(truth.classPartitions),
  };
  switch (knowledge) {
    case "stale":
      return { ...truth, ...lists, startedAt: "2025-12-30T00:00:00.000Z" };
    case "partial":
      return { ...truth, ...lists, propertiesComplete: false, classesComplete: false };
    case "wrong":
      return { ...truth, ...lists, ...doubts[seed % doubts.length]?.(truth) };
    default:
      return truth;
  }
}

/** What shows that a description must not be trusted. */
const doubts: readonly ((truth: VoidDescription) => Partial<VoidDescription>)[] = [
  () => ({ unfinished: true }),
  () => ({ endpoint: "http://elsewhere.example/sparql" }),
  () => ({ unknown: [{ what: "the number of triples", why: "contradicted", record: 0 }] }),
  () => ({ namedGraphs: { list: [], complete: false } }),
  // The numbers of triples of its properties do not add up.
  ({ classPartitions }) => ({ classPartitions }),
  ({ propertyPartitions }) => ({
    classesComplete: false,
    propertyPartitions: propertyPartitions
      .slice(1)
      .map((one) => Object.assign({}, one, { triples: { value: 1, status: "claimed" as const, record: 0 } })),
  }),
];
