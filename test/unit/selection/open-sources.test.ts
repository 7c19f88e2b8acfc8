import { expect, it } from "vitest";
import { steadyClock } from "../../../src/clock.ts";
import type { FederatedPlan } from "../../../src/plan/query-plan.ts";
import { openSources } from "../../../src/selection/open-sources.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { eventually } from "../../support/eventually.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { scriptedAsker } from "../../support/scripted-asker.ts";
import { EndpointModels } from "../../../src/registry/model.ts";

const ids = Array.from({ length: 8 }, (_, n) => `m${n}`);
const urlOf = (id: string): string => `http://${id}.example/sparql`;
const query = "SELECT * { ?s <x:a> ?a ; <x:b> ?b ; <x:c> ?c }";

/** Eight members without descriptions, each with a triple that no pattern matches. */
async function opened(
  store = openSqliteStore({ path: ":memory:" }),
  renew = (): Promise<void> => Promise.reject(new Error("nothing is described")),
) {
  const entries = ids.map((id) => catalogEntry(id));
  const asker = scriptedAsker({ data: Object.fromEntries(ids.map((id) => [urlOf(id), "<x:s> <x:other> 1 ."])) });
  const sources = await openSources({
    isOwn: () => true,
    catalog: {
      entries,
      authorship: () => undefined,
    },
    renew,
    models: new EndpointModels(),
    settings: {
      publicUrl: "http://fedway.example",
      factsMaxAgeMs: 86_400_000,
      factsCheckMs: 0,
      factsVerifyMs: 300_000,
      factsNoteMs: 86_400_000,
    },
    store,
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
  for (const status of [400, 500, 503]) sources.refused("m1", status);
  await narrow();
  expect(asker.log).toHaveLength(8);
  sources.refused("m1", 404);
  sources.refused("m2", 410);
  await narrow();
  expect(asker.log).toHaveLength(10);
  await sources.close();
});

it("an endpoint whose facts were wrong has changed, for all processes of the store and the next start", async () => {
  const store = openSqliteStore({ path: ":memory:" });
  const renew = async (): Promise<void> => {};
  const [one, other] = [await opened(store, renew), await opened(store, renew)];
  const endpoint = { id: "m1", url: urlOf("m1") };
  const list = [{ endpoint, patterns: [{ key: "k", text: "?s ?p ?o" }], seenAt: steadyClock.now() }];
  const changed = ({ sources }: typeof one) => sources.verifier.age({ list, decisive: false }).changed;
  expect([one, other].map(changed)).toEqual([[], []]);
  one.sources.verifier.refute({ endpoint: "m1", patterns: ["k"], since: 0 });
  expect(changed(one)).toEqual(["m1"]);
  await eventually(async () => expect(changed(other)).toEqual(["m1"]));
  const next = await opened(store, renew);
  expect(changed(next)).toEqual(["m1"]);
  await next.sources.remove("m1");
  await eventually(async () => expect([one, other, next].map(changed)).toEqual([[], [], []]));
  await Promise.all([one, other, next].map(({ sources }) => sources.close()));
});
