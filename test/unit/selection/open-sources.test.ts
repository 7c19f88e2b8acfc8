import { expect, it } from "vitest";
import { steadyClock } from "../../../src/clock.ts";
import type { FederatedPlan } from "../../../src/plan/query-plan.ts";
import { EndpointModels } from "../../../src/registry/model/endpoint-models.ts";
import { openSources } from "../../../src/selection/open-sources.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { scriptedAsker } from "../../support/scripted-asker.ts";

const ids = Array.from({ length: 8 }, (_, n) => `m${n}`);
const urlOf = (id: string): string => `http://${id}.example/sparql`;
const query = "SELECT * { ?s <x:a> ?a ; <x:b> ?b ; <x:c> ?c }";

/** Eight members without descriptions, each with a triple that no pattern matches. */
async function opened() {
  const entries = ids.map((id) => catalogEntry(id));
  const asker = scriptedAsker({ data: Object.fromEntries(ids.map((id) => [urlOf(id), "<x:s> <x:other> 1 ."])) });
  const sources = await openSources({
    isOwn: () => true,
    catalog: {
      entries,
      byId: (id) => entries.find((entry) => entry.id === id),
      document: () => undefined,
    },
    renew: async () => Promise.reject(new Error("nothing is described")),
    models: new EndpointModels(),
    settings: {
      publicUrl: "http://fedway.example",
      factsMaxAgeMs: 86_400_000,
      factsCheckMs: 0,
      factsVerifyMs: 300_000,
    },
    store: openSqliteStore({ path: ":memory:" }),
    asker,
    clock: steadyClock,
    lacksSubqueries: () => false,
    onFault: (error) => {
      throw error;
    },
  });
  const members = ids.map((id) => ({ id, url: urlOf(id) }));
  const plan: FederatedPlan = {
    kind: "federated",
    answer: "bindings",
    query,
    skeleton: query,
    clauses: [],
    over: { federation: "all", members, selection: { patterns: {}, disjointSubjects: [], leftOut: 0 } },
    members: members.map((endpoint) => ({ endpoint, clauses: 0, silent: false })),
    notes: [],
  };
  return {
    sources,
    asker,
    narrow: () => sources.verifier.narrow(plan, { signal: new AbortController().signal, onAnswer: () => {} }),
  };
}

it("an endpoint that is not there is asked again what it has; one that refuses a query is not", async () => {
  const { sources, asker, narrow } = await opened();
  expect((await narrow()).over?.members).toEqual([]);
  for (const status of [undefined, 200, 400, 500, 503]) sources.answered("m1", status);
  await narrow();
  expect(asker.log).toHaveLength(8);
  sources.answered("m1", 404);
  sources.answered("m2", 410);
  await narrow();
  expect(asker.log).toHaveLength(10);
  await sources.close();
});
