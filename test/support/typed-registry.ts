import { createQueryCheck } from "../../src/diagnosis/check/query-check.ts";
import { createPlanner } from "../../src/plan/create-planner.ts";
import type { KnownSources } from "../../src/plan/plan-request.ts";
import type { Harvest } from "../../src/registry/find/read/harvest.ts";
import { termFromText } from "../../src/results/terms.ts";
import { clauseEstimates, emptyClauses } from "../../src/selection/clause-facts.ts";
import { createKeyStore, createTermKeeper, withKeys } from "../../src/selection/endpoint-keys.ts";
import { FactTable } from "../../src/selection/fact-table.ts";
import { selectSources } from "../../src/selection/select-sources.ts";
import { factsOf } from "../../src/selection/source-facts.ts";
import { catalogEntry, createCatalog } from "./catalog-entry.ts";
import { describedModels } from "./described-models.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { triplesOf } from "./published-questions.ts";
import { truthfulDescription } from "./truthful-description.ts";
import { truthOf } from "./void-truth.ts";
import type { VoidDescription } from "../../src/registry/descriptions.ts";

const seenAt = "2026-01-01T00:00:00.000Z";
const dayMs = 86_400_000;

/** What is known of endpoints with some data, and how much of that is certain. */
export interface TypedRegistry {
  /** N-Triples by id of the endpoint. */
  readonly data: Readonly<Record<string, string>>;
  /** Values that were read, by id. */
  readonly values?: ReadonlyMap<string, Harvest>;
  readonly federations?: Readonly<Record<string, readonly string[]>>;
  /** "read": all triples were read; "counted": classes and properties; "partial": the lists are not complete; "old": long ago. */
  readonly known?: "read" | "counted" | "partial" | "old" | undefined;
}

/** A check over endpoints of which all of this is known; nothing is asked. */
export async function typedCheck({
  data,
  federations = {},
  known = "read",
  values: harvests = new Map(),
}: TypedRegistry) {
  const store = openSqliteStore({ path: ":memory:" });
  const now = (): number => Date.parse(seenAt) + 3_600_000;
  const startedAt = known === "old" ? "2025-01-01T00:00:00.000Z" : seenAt;
  const described = Object.entries(data).map(([id, text]): [string, VoidDescription] => {
    const whole = truthfulDescription(truthOf(triplesOf(text)));
    const endpoint = `http://${id}.example/sparql`;
    const partial = { unfinished: true, classesComplete: false, propertiesComplete: false };
    return [id, { ...whole, endpoint, startedAt, finishedAt: startedAt, ...(known === "partial" && partial) }];
  });
  const entries = described.map(([id]) => catalogEntry(id));
  const { models, finder } = describedModels({ entries, descriptions: described, values: harvests });
  const table = new FactTable({ models, now });
  const [{ keepTriples }, keys] = [createTermKeeper(store), createKeyStore(store)];
  for (const [id, description] of described) {
    const facts = factsOf(models.get(id)?.described, 7 * dayMs);
    const triples = [...triplesOf(data[id] ?? "")].map(([subject, property, object]) => ({
      subject: termFromText(subject),
      property: property.slice(1, -1),
      object: termFromText(object),
    }));
    await keepTriples(id, description, triples);
    const read = known === "read" ? await keys.get(id) : undefined;
    table.set(id, facts && (read ? withKeys(facts, read) : facts));
  }
  const sources: KnownSources = {
    version: 1,
    select: (plan, how) => selectSources(plan, table, how),
    emptyClauses: (clauses) => emptyClauses(clauses, table),
    clauseEstimates: (clauses) => clauseEstimates(clauses, table),
    facts: ({ id, url }) => table.get(id, url),
    subjectPartition: () => undefined,
  };
  const catalog = createCatalog(entries, [], {
    publicUrl: "http://fedway.example",
    federations: Object.entries(federations).map(([id, members]) => ({ id, title: id, members, memberKeywords: [] })),
  });
  const planner = createPlanner({
    catalog,
    egress: "catalog",
    publicUrl: "http://fedway.example",
    terms: finder,
    sources,
  });
  const check = createQueryCheck({ catalog, planner, finder, models, sources, now });
  const { signal } = new AbortController();
  return {
    models,
    check: (query: string, place: { readonly endpoint?: string; readonly federation?: string } = {}) =>
      check.check({ query, owner: "tests", ...place }, { signal }),
  };
}
