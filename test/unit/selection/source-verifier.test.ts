import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { AskRequest } from "../../../src/outbound/whole-answer.ts";
import type { PlannedEndpoint } from "../../../src/plan/query-plan.ts";
import type { Exclusions } from "../../../src/plan/source-selection.ts";
import { EndpointModels } from "../../../src/registry/model.ts";
import { Existence } from "../../../src/selection/existence.ts";
import { FactTable } from "../../../src/selection/fact-table.ts";
import { SourceVerifier } from "../../../src/selection/source-verifier.ts";
import { scriptedAsker } from "../../support/scripted-asker.ts";
import { createSimulatedClock } from "../../support/simulated-clock.ts";

const hourMs = 3_600_000;
const urlOf = (id: string): string => `http://${id}.example/sparql`;
const endpointOf = (id: string): PlannedEndpoint => ({ id, url: urlOf(id) });
const patternOf = (name: string) => ({ key: name, text: `?s <x:${name}> ?o` });
const before = "<x:a> <x:p> 1 . <x:a> <x:q> 2 .";
/** As many triples, one of them with another property. */
const after = "<x:a> <x:p> 1 . <x:a> <x:lost> 2 .";
const { signal } = new AbortController();

/** Members that are described with two triples each; `dead` cannot be asked. */
function described(ids: readonly string[], lacking: readonly string[] = []) {
  const data: Record<string, string> = Object.fromEntries(
    ids.filter((id) => id !== "dead").map((id) => [urlOf(id), before]),
  );
  const clock = createSimulatedClock(1_000 * hourMs);
  const asked: AskRequest[] = [];
  const asker = {
    ask(request: AskRequest) {
      asked.push(request);
      return scriptedAsker({ data }).ask(request);
    },
  };
  const existence = new Existence({ asker, clock, lacksSubqueries: (id) => lacking.includes(id), keepMs: hourMs });
  const table = new FactTable({ models: new EndpointModels(), now: clock.now });
  for (const id of ids) table.set(id, { url: urlOf(id), seenAt: 1, until: Number.POSITIVE_INFINITY, triples: 2 });
  const ended: string[] = [];
  const verifier = new SourceVerifier({
    existence,
    table,
    now: clock.now,
    narrows: true,
    end(id) {
      ended.push(id);
      table.set(id, undefined);
    },
    hasChanged: () => false,
    oldMs: 24 * hourMs,
  });
  const leaving = (members: readonly string[], ...names: readonly string[]): Exclusions => ({
    decisive: false,
    list: members.map((id) => ({ endpoint: endpointOf(id), patterns: names.map(patternOf), seenAt: 1 })),
  });
  /** What a run with rows does with its exclusions. */
  const used = async (exclusions: Exclusions): Promise<void> => {
    verifier.verifiedAt(exclusions);
    verifier.verifyLater(exclusions);
    for (let turn = 0; turn < 20; turn++) {
      await nextTurn();
      await clock.advance(100);
    }
  };
  return { data, clock, asked, existence, verifier, ended, leaving, used };
}

it("a pattern that was asked once is asked again with a later count, though other queries have the endpoint counted", async () => {
  const { data, clock, used, leaving, ended } = described(["a"]);
  const lost = leaving(["a"], "lost");
  await used(lost);
  data[urlOf("a")] = after;
  for (let hour = 0; hour < 3; hour++) {
    await clock.advance(hourMs);
    await used(leaving(["a"], "other"));
    await used(lost);
  }
  expect(ended).toEqual(["a"]);
});

it("patterns wait at an endpoint though another one that the query leaves out is dead", async () => {
  const { data, clock, used, leaving, ended } = described(["a", "dead"]);
  await used(leaving(["a"], "other"));
  data[urlOf("a")] = after;
  await used(leaving(["a", "dead"], "lost"));
  await clock.advance(hourMs);
  await used(leaving(["a"], "other"));
  expect(ended).toEqual(["a"]);
});

it("patterns that come each hour are asked though 40 others come once", async () => {
  const { data, clock, used, leaving, ended } = described(["a"]);
  await used(leaving(["a"], "lost"));
  data[urlOf("a")] = after;
  for (let hour = 0; hour < 3; hour++) {
    await clock.advance(hourMs);
    await used(leaving(["a"], "other"));
    await used(leaving(["a"], "lost"));
    for (let once = 0; once < 40; once++) await used(leaving(["a"], `once${hour}-${once}`));
  }
  expect(ended).toEqual(["a"]);
});

it("a match that was found without facts is no verification, and ends the facts when it is found again", async () => {
  const { data, used, leaving, existence, verifier, ended } = described(["a"]);
  await used(leaving(["a"], "other"));
  data[urlOf("a")] = after;
  await existence.ask([{ endpoint: endpointOf("a"), patterns: [patternOf("lost")] }], { signal, timeoutMs: 1_000 });
  const lost = leaving(["a"], "lost");
  expect(verifier.verifiedAt(lost)).toBeUndefined();
  await used(lost);
  expect(ended).toEqual(["a"]);
});

it("an endpoint without subqueries is counted, but not verified by its number", async () => {
  const same = described(["a"], ["a"]);
  await same.verifier.checkTriples(endpointOf("a"), signal);
  const lost = same.leaving(["a"], "lost");
  expect(same.verifier.verifiedAt(lost)).toBeUndefined();
  expect(await same.verifier.verify(lost, { signal })).toEqual({ refuted: [], unverified: ["a"] });
  const other = described(["a"], ["a"]);
  other.data[urlOf("a")] = `${before} <x:a> <x:lost> 3 .`;
  await other.verifier.checkTriples(endpointOf("a"), signal);
  expect([same.ended, other.ended]).toEqual([[], ["a"]]);
});

it("endpoints wait for the background in the order in which they were left out, four of them in a tenth of a second", async () => {
  const ids = Array.from({ length: 10 }, (_, at) => `e${at}`);
  const { clock, asked, leaving, verifier } = described(ids);
  verifier.verifyLater(leaving(ids, "other"));
  const urls: string[][] = [];
  for (let tenth = 0; tenth < 3; tenth++) {
    await clock.advance(tenth === 0 ? 99 : 100);
    urls.push(asked.splice(0).map(({ endpoint }) => endpoint.url));
  }
  expect(urls).toEqual([ids.slice(0, 4), ids.slice(4, 8), ids.slice(8)].map((own) => own.map(urlOf)));
  await verifier.close();
});
