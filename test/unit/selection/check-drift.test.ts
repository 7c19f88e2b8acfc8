import { expect, it } from "vitest";
import { steadyClock } from "../../../src/clock.ts";
import { createDriftCheck } from "../../../src/selection/check-drift.ts";
import { FactTable } from "../../../src/selection/fact-table.ts";
import { factsOf } from "../../../src/selection/source-facts.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { describedModels } from "../../support/described-models.ts";
import { described } from "../../support/described-members.ts";
import { scriptedAsker } from "../../support/scripted-asker.ts";

const url = "http://people.example/sparql";
const name = "<http://x.example/name>";
const turtle = (count: number): string =>
  Array.from({ length: count }, (_, at) => `<http://x.example/p${at}> ${name} "${at}" .`).join("\n");

/** A described endpoint of three triples; what is asked, and whether it is described again. */
function checking(data: Readonly<Record<string, string>>, entryUrl = url, isOwn = true, build?: string) {
  const { models } = describedModels({
    descriptions: [["people", { ...described("people"), endpoint: entryUrl, build: build && "first" }]],
  });
  const table = new FactTable({ models, buildOf: () => build, now: () => Date.parse("2026-01-01T01:00:00Z") });
  const facts = factsOf(models.get("people")?.described, 86_400_000);
  table.set("people", facts);
  const requested: string[] = [];
  const wrong = new Set<string>();
  const asker = scriptedAsker({ data });
  const entries = [catalogEntry("people", { url: entryUrl })];
  const { check } = createDriftCheck({
    table,
    end(id) {
      table.set(id, undefined);
      wrong.add(id);
      requested.push(id);
    },
    wrong,
    catalog: { entries, byId: () => entries[0] },
    isOwn: () => isOwn,
    asker,
    settings: { factsCheckMs: 1 },
    clock: steadyClock,
    onFault: () => {},
  });
  return { check: () => check().catch(() => {}), known: () => table.get("people", entryUrl), requested, asker };
}

it("another number of triples ends what was known, and the endpoint is described anew", async () => {
  const { check, known, requested } = checking({ [url]: turtle(4) });
  await check();
  expect(known()).toBeUndefined();
  expect(requested).toEqual(["people"]);
});

it("facts that have ended are asked for at each look until they are there again, and not counted", async () => {
  const { check, requested, asker } = checking({ [url]: turtle(4) });
  for (let look = 0; look < 3; look += 1) await check();
  expect(requested).toEqual(["people", "people", "people"]);
  expect(asker.log).toHaveLength(1);
});

it.each([
  ["of one's own is asked at each look", true, 3],
  ["of others is asked once a day", false, 1],
])("an endpoint %s", async (_, isOwn, questions) => {
  const { check, asker } = checking({ [url]: turtle(3) }, url, isOwn);
  for (let look = 0; look < 3; look += 1) await check();
  expect(asker.log).toHaveLength(questions);
});

it.each([
  ["that was described stays", "first", []],
  ["than was described ends its facts", "second", ["people"]],
])("the build of hosted data is compared, and they are not asked: one %s", async (_, build, expected) => {
  const { check, requested, asker } = checking({ [url]: turtle(3) }, url, true, build);
  await check();
  expect([requested, asker.log]).toEqual([expected, []]);
});

it("the same number leaves everything as it is", async () => {
  const { check, known, requested } = checking({ [url]: turtle(3) });
  await check();
  expect(known()).toBeDefined();
  expect(requested).toEqual([]);
});

it("an endpoint that does not answer keeps its facts until they are too old", async () => {
  const { check, known, requested } = checking({});
  await check();
  expect(known()).toBeDefined();
  expect(requested).toEqual([]);
});

it("a shard that the service hosts may have been built anew", async () => {
  const shard = "http://fedway.example/shards/people/a/sparql";
  const { check, known, requested } = checking({ [shard]: turtle(4) }, shard);
  await check();
  expect(known()).toBeUndefined();
  expect(requested).toEqual(["people"]);
});
