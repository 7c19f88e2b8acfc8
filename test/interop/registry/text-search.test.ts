import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { probeCapabilities } from "../../../src/registry/capabilities/prober.ts";
import { createSparqlClient } from "../../../src/outbound/client.ts";
import { createEngineSearch } from "../../../src/registry/find/read/engine-search.ts";
import { catalogEntry, createCatalog } from "../../support/catalog-entry.ts";
import type { Engine } from "../../support/engines/engine.ts";
import { startFuseki } from "../../support/engines/fuseki.ts";
import { startVirtuoso } from "../../support/engines/virtuoso.ts";
import { sparqlAsker } from "../../support/sparql-asker.ts";

const label = "http://www.w3.org/2000/01/rdf-schema#label";
const names = ["Marie Curie", "Pierre Curie", "University of Basel", "AND OR NEAR", "O'Neill, Jim", "Þorsteinsson"];
const data = [
  ...names.map((name, at) => `<http://e/${at}> <${label}> "${name}" .`),
  ...Array.from({ length: 2_000 }, (_, at) => `<http://n/${at}> <${label}> "Filler number ${at}"@en .`),
].join("\n");

const client = createSparqlClient({ version: "1", allowAddresses: ["127.0.0.0/8"], retry: { limit: 0 } });
const asker = sparqlAsker({ client });
const { signal } = new AbortController();

const started: Engine[] = [];
let engines: Readonly<Record<string, Engine>>;
beforeAll(async () => {
  const [virtuoso, bare, jena, plain] = await Promise.all([
    startVirtuoso({ graphs: { "http://g/": data }, textIndex: true }),
    startVirtuoso({ graphs: { "http://g/": data } }),
    startFuseki({ data, store: "text" }),
    startFuseki({ data }),
  ]);
  engines = { virtuoso, bare, jena, plain };
  started.push(virtuoso, bare, jena, plain);
});
afterAll(async () => {
  await client.close();
  await Promise.all(started.map((each) => each.stop()));
});

const hostile = [`Marie "' Curie`, `Marie\\ Curie`, `Marie* Curie?`, `(Marie) Curie')`, "Marie ^~:[]{}+-!&| Curie"];

describe.each([
  ["virtuoso", "virtuoso"],
  ["jena", "jena"],
])("the full-text search of %s", (name, syntax) => {
  async function finder() {
    const entry = catalogEntry(name, { url: engines[name]?.url ?? "" });
    const { textSearch } = await probeCapabilities(entry, { asker, pauseMs: 0, signal });
    expect(textSearch).toEqual({ syntax });
    const catalog = createCatalog([entry], [], { publicUrl: "http://localhost" });
    return createEngineSearch({ asker, catalog, textSearchOf: () => textSearch, mayAsk: () => true });
  }

  it("is proved, and finds names whatever signs and operators they have", async () => {
    const finding = await finder();
    const cases = [...names.map((each) => [each, each]), ...hostile.map((each) => [each, "Marie Curie"])];
    for (const [text = "", found] of cases) {
      const { hits, unanswered } = await finding.find({
        text,
        endpoints: undefined,
        likely: [],
        isComplete: () => false,
        limit: 3,
      });
      expect([text, hits[0]?.label, unanswered]).toEqual([text, found, []]);
    }
  });
});

it.each(["bare", "plain"])("an engine without an index (%s) has none", async (name) => {
  const { textSearch, reachable } = await probeCapabilities(
    { id: name, url: engines[name]?.url ?? "" },
    { asker, pauseMs: 0, signal },
  );
  expect([reachable, textSearch]).toEqual([true, undefined]);
});
