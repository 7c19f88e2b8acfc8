import { expect, it } from "vitest";
import { createDriftCheck } from "../../../src/selection/check-drift.ts";
import { Existence } from "../../../src/selection/existence.ts";
import { FactTable } from "../../../src/selection/fact-table.ts";
import { SourceVerifier } from "../../../src/selection/source-verifier.ts";
import { factsOf } from "../../../src/selection/source-facts.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { describedModels } from "../../support/described-models.ts";
import { described } from "../../support/described-members.ts";
import { createSimulatedClock } from "../../support/simulated-clock.ts";
import { scriptedAsker } from "../../support/scripted-asker.ts";

const url = "http://people.example/sparql";
const hourMs = 3_600_000;
const name = "<http://x.example/name>";
const turtle = (count: number): string =>
  Array.from({ length: count }, (_, at) => `<http://x.example/p${at}> ${name} "${at}" .`).join("\n");

/** A described endpoint of three triples; what is asked, and whether it is described again. */
function checking(data: Readonly<Record<string, string>>, entryUrl = url, isOwn = true, build?: string) {
  const { models } = describedModels({
    descriptions: [["people", { ...described("people"), endpoint: entryUrl, build: build && "first" }]],
  });
  const clock = createSimulatedClock(Date.parse("2026-01-01T01:00:00Z"));
  const { now } = clock;
  const table = new FactTable({ models, buildOf: () => build, now });
  const facts = factsOf(models.get("people")?.described, 86_400_000);
  table.set("people", facts);
  const requested: string[] = [];
  const wrong = new Set<string>();
  const asker = scriptedAsker({ data });
  const entries = [catalogEntry("people", { url: entryUrl })];
  const end = (id: string): void => {
    table.set(id, undefined);
    wrong.add(id);
    requested.push(id);
  };
  const existence = new Existence({ asker, clock, lacksSubqueries: () => false, keepMs: hourMs });
  const parts = { existence, table, end, hasChanged: () => false };
  const verifier = new SourceVerifier({ ...parts, now, narrows: false, oldMs: 86_400_000 });
  const { check } = createDriftCheck({
    table,
    end,
    wrong,
    catalog: { entries },
    isOwn: () => isOwn,
    verifier,
    settings: { factsCheckMs: 1 },
    clock,
    onFault: () => {},
  });
  return { clock, check: () => check().catch(() => {}), known: () => table.get("people", entryUrl), requested, asker };
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
  ["of one's own is asked at each look", true, hourMs, 3],
  ["of one's own is not asked while its number is known", true, hourMs / 4, 1],
  ["of others is asked once a day", false, hourMs, 1],
])("an endpoint %s", async (_, isOwn, apartMs, questions) => {
  const { clock, check, asker } = checking({ [url]: turtle(3) }, url, isOwn);
  for (let look = 0; look < 3; look += 1) {
    await check();
    await clock.advance(apartMs);
  }
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
