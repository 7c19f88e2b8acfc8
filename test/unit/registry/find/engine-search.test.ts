import type * as RDF from "@rdfjs/types";
import { DataFactory } from "rdf-data-factory";
import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import type { WholeAnswer } from "../../../../src/outbound/whole-answer.ts";
import { createEngineSearch } from "../../../../src/registry/find/read/engine-search.ts";
import { catalogEntry, createCatalog } from "../../../support/catalog-entry.ts";
import { describedModels } from "../../../support/described-models.ts";

const terms = new DataFactory();
const label = "http://www.w3.org/2000/01/rdf-schema#label";
const row = (name: string, at: number) =>
  new Map<string, RDF.Term>([
    ["s", terms.namedNode(`http://e/${at}`)],
    ["p", terms.namedNode(label)],
    ["v", terms.literal(name)],
  ]);
const whole: Omit<WholeAnswer, "rows"> = {
  variables: [],
  quads: [],
  httpStatus: 200,
  mediaType: "application/sparql-results+json",
  bytes: 1,
  durationMs: 1,
  requests: 1,
};

const harvest = (names: readonly string[], complete: boolean) => ({
  endpoint: "http://a.example/sparql",
  describedAt: "2026-01-01T00:00:00Z",
  harvestedAt: "2026-01-01T00:00:00Z",
  complete,
  classes: [],
  properties: [label],
  rows: names.map((name, at) => [`http://h/${at}`, JSON.stringify(name), -1, 0, 1] as const),
  whole: [],
  cost: { requests: 1, bytes: 1, ms: 1 },
});

/** A linker over five endpoints, all but `e` with a full-text search; `down` fails. */
function opened({ names = ["Marie Curie", "Marie Curie Street"], harvested = harvest([], false) } = {}) {
  const asked: string[] = [];
  const entries = ["a", "b", "c", "d", "e", "down", "forbidden"].map((id) => catalogEntry(id));
  const catalog = createCatalog(entries, [], { publicUrl: "http://localhost" });
  const engineSearch = createEngineSearch({
    catalog,
    asker: {
      ask: async ({ endpoint }) => {
        asked.push(endpoint.id ?? "");
        if (endpoint.id === "down") throw new FedwayError("ENDPOINT_UNREACHABLE", "It is down.");
        return { ...whole, rows: names.map(row) };
      },
    },
    textSearchOf: (id) => (id === "e" ? undefined : { syntax: "virtuoso" }),
    mayAsk: (id) => id !== "forbidden",
  });
  const { finder: linker } = describedModels({ entries, catalog, values: [["a", harvested]], engineSearch });
  const find = async (query: string, more: { endpoints?: readonly string[]; kinds?: readonly ["entity"] } = {}) => {
    const { entities, unanswered } = await linker.searchTerms({ query, limit: 5, ...more });
    return { found: entities.map((each) => each.label), unanswered };
  };
  return { asked, find };
}

describe("names are asked of engines", () => {
  const at = (...endpoints: string[]) => ({ endpoints });
  const curies = ["Marie Curie", "Marie Curie Street"];
  it.each([
    ["of a named endpoint", "marie curie", at("b"), ["b"], curies],
    ["of at most three", "Marie Curie", {}, ["a", "b", "c"], curies],
    ["of a question, by what it names", "Where was Marie Curie born?", at("b"), ["b"], curies],
    ["in quotation marks", 'who is "marie curie"?', at("b"), ["b"], curies],
    ["of an entity in small letters", "marie curie", { kinds: ["entity"] as const }, ["a", "b", "c"], curies],
    ["not for a word that may be a class", "street", {}, [], []],
    ["not without a proof", "Marie Curie", at("e"), [], []],
    ["not where it is forbidden", "Marie Curie", at("forbidden"), [], []],
    ["not for a question without a name", "where were painters born?", at("b"), [], []],
  ])("%s: %s", async (_why, query, more, expected, labels) => {
    const { asked, find } = opened();
    const { found } = await find(query, more);
    expect([asked.toSorted(), [...new Set(found)].slice(0, 2)]).toEqual([expected, labels]);
  });

  it("once in five minutes", async () => {
    const { asked, find } = opened();
    await Promise.all([find("Marie Curie", at("b")), find("Marie Curie", at("b"))]);
    await find("Marie Curie", at("b"));
    expect(asked).toEqual(["b"]);
  });

  it("and who does not answer is named, and asked again", async () => {
    const { asked, find } = opened();
    expect(await find("Marie Curie", at("b", "down"))).toEqual({ found: curies, unanswered: ["down"] });
    await find("Marie Curie", at("down"));
    expect(asked).toEqual(["b", "down", "down"]);
  });

  it.each([
    ["has the name", ["Marie Curie"], false],
    ["is complete", ["Pierre Curie"], true],
  ])("not where the harvest %s", async (_why, names, complete) => {
    const { asked, find } = opened({ harvested: harvest(names, complete) });
    await find("Marie Curie", at("a"));
    expect(asked).toEqual([]);
  });
});
