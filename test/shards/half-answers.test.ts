import { readFile } from "node:fs/promises";
import { join } from "node:path";
import oxigraph from "oxigraph";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { exampleFolder, openBuiltWorkspace } from "../support/shard-workspace.ts";

const v = "https://harbour.example/vocabulary#";
const [port, route, sailing] = ["Port", "Route", "Sailing"].map((name) => `h/${v}${name}`);

/** Of shards by the builder's keys: the one asked, what for, and those that have the rest. */
type Case = readonly [asked: string, patterns: string, others: readonly string[]];

const horizontal: readonly Case[] = [
  [`${port}/0`, "?p a v:Port", [`${port}/1`]],
  [`${port}/0`, "?p v:berths ?n", [`${port}/1`]],
  [`${port}/1`, "?p a v:Port ; v:coast ?c", [`${port}/0`]],
  [`${port}/1`, "?p v:latitude ?l ; v:berths ?n", [`${port}/0`]],
  [`${route}/0`, "?r v:to ?p", [`${route}/1`]],
  [`${route}/1`, "?r a v:Route ; v:to ?p", [`${route}/0`]],
  [`${sailing}/0`, "?s v:onRoute ?r", [`${sailing}/1`]],
  [`${sailing}/1`, "?s a v:Sailing", [`${sailing}/0`]],
];
const vertical: readonly Case[] = [
  [`c/${v}Ferry`, "?f v:built ?y ; v:capacity ?n", [`v/${v}capacity`]],
  [`c/${v}Ferry`, "?f a v:Ferry ; v:ownedBy ?o", [`v/${v}ownedBy`]],
  [`v/${v}capacity`, "?f v:capacity ?n ; v:built ?y", [`c/${v}Ferry`]],
  [`v/${v}capacity`, "?f a v:Ferry ; v:capacity ?n ; v:ownedBy ?o", [`v/${v}ownedBy`]],
  [`c/${v}Captain`, "?c v:commands ?f ; v:name ?n", [`v/${v}name`]],
  ["base", "?o a v:Company ; v:name ?n ; v:seat ?p", [`v/${v}name`]],
  [`v/${v}from`, "?r v:from ?p ; v:minutes ?m", [`v/${v}minutes`]],
  [`v/${v}day`, "?s v:day ?d ; v:passengers ?n", [`v/${v}passengers`]],
];

let service: RunningService;
let whole: oxigraph.Store;
let ids: ReadonlyMap<string, string>;

beforeAll(async () => {
  const { dataDir, folder } = await openBuiltWorkspace();
  const text = await readFile(join(folder, "manifest.json"), "utf8");
  const { shards } = JSON.parse(text) as { readonly shards: readonly { readonly id: string; readonly key: string }[] };
  ids = new Map(shards.map(({ key, id }) => [key, `harbour-${id}`]));
  whole = new oxigraph.Store();
  whole.load(await readFile(join(exampleFolder, "harbour.nt"), "utf8"), { format: "application/n-triples" });
  service = await startService({}, { FEDWAY_DATA_DIR: dataDir });
  // Shards are described when they come.
  await eventually(() => {
    const { catalog } = service.app;
    const all = catalog.federation("catalog");
    expect(all && catalog.membersOf(all).length).toBe(ids.size);
  });
}, 120_000);
afterAll(() => service.close());

const idOf = (key: string): string => ids.get(key) ?? `no shard ${key}`;
const prefix = `PREFIX v: <${v}> `;

async function call(tool: string, given: object) {
  const { text, data } = await service.app.toolbox("full").call(tool, given, {
    owner: "test",
    signal: new AbortController().signal,
  });
  const [, suggested] = /\nsuggested:\n([\s\S]*?)(?=\nnext: |$)/.exec(text) ?? [];
  return { text, suggested, rows: data["rows_total"] };
}

const countIn = (patterns: string): number =>
  (whole.query(`${prefix}SELECT * { ${patterns} }`) as readonly unknown[]).length;

describe.each([
  ["horizontal", horizontal],
  ["vertical", vertical],
])("one of two %s shards", (_kind, cases) => {
  it.each(cases)("%s asked for %s", async (asked, patterns, others) => {
    const id = idOf(asked);
    const inService = { query: `${prefix}SELECT * { SERVICE <${id}> { ${patterns} } }` };
    const atEndpoint = { query: `${prefix}SELECT * { ${patterns} }`, endpoint: id };
    for (const given of [inService, atEndpoint]) {
      for (const tool of ["run_query", "check_query"]) {
        const { text, suggested } = await call(tool, given);
        for (const other of others) expect(text, tool).toContain(idOf(other));
        if (given === atEndpoint) continue;
        const { rows } = await call("run_query", { query: suggested });
        expect([tool, rows]).toEqual([tool, countIn(patterns)]);
      }
    }
    const { rows } = await call("run_query", { ...atEndpoint, endpoint: "harbour" });
    expect(rows).toBe(countIn(patterns));
    expect(rows).toBeGreaterThan(0);
  });
});
