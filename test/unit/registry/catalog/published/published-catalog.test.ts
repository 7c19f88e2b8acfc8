import { describe, expect, it } from "vitest";
import { parseFactsFile } from "../../../../../src/registry/catalog/published/facts-file.ts";
import { toEntry } from "../../../plan/plan-cases.ts";
import { createCatalog, publishedFacts } from "../../../../support/catalog-entry.ts";

const sources = ["one/models", "one/models", "two/queries"].map((repo) => ({
  repo,
  commit: "abc",
  path: "x",
  date: "2026-01-01",
  licence: "MIT",
}));
const facts = (url: string, more: object) =>
  publishedFacts(parseFactsFile(JSON.stringify({ format: 1, url, asOf: "2026-02-03", sources, ...more })));

const things = facts("https://things.example/sparql", {
  aliases: ["http://old.example/query"],
  parts: ["https://things.example/sparql/toys"],
  pages: ["https://things.example/"],
  mirrors: ["https://copy.example/sparql", "https://nobody.example/sparql", "https://both.example/sparql"],
  prefixes: {
    predefined: { basis: "engine-config", map: { t: "http://t/", x: "http://x/predefined/" } },
    usedUndeclared: { x: "http://x/used/", u: "http://u/" },
    examples: { x: "http://x/example/", u: "http://u/example/", e: "http://e/" },
  },
  classes: { "http://t/": { Thing: 3, Toy: { instances: 7, by: ["models"] } } },
  properties: { "http://t/": { name: { uses: 2, triples: 9 } } },
  resourceSpaces: { "http://t/id/": 4 },
});
const stuff = facts("https://stuff.example/sparql", { mirrors: ["https://both.example/sparql"] });
const gone = facts("https://gone.example/sparql", { aliases: ["https://once.example/"] });
const catalog = createCatalog(
  ["copy", "both", "own-copy", "stuff"]
    .map((id) => toEntry(id, { url: `https://${id}.example/sparql` }))
    .concat(
      toEntry("toys", { url: "https://things.example/sparql" }),
      toEntry("stated", { url: "https://stated.example/sparql", mirrorOf: "stuff" }),
    ),
  [],
  { publicUrl: "http://fedway.example", published: [things, stuff, gone] },
).published;

describe("published facts", () => {
  it("belong to the entry with their URL, whatever its id", () => {
    expect(catalog.ids).toEqual(["stuff", "toys"]);
    expect(catalog.facts("toys")).toBe(things);
    expect(catalog.facts("copy")).toBeUndefined();
  });
  it("name when and from where they are", () => {
    expect(things.provenance).toBe("published, as of 2026-02-03, from one/models and 1 more");
  });
  it.each([
    ["t", { namespace: "http://t/", how: "predefined" }],
    ["x", { namespace: "http://x/predefined/", how: "predefined" }],
    ["u", { namespace: "http://u/", how: "used" }],
    ["e", { namespace: "http://e/", how: "example" }],
  ])("take the surest meaning of %s:", (prefix, meant) => {
    expect(things.prefixes.get(prefix)).toEqual(meant);
  });
  it("have classes and properties apart, with uses and counts", () => {
    expect([...things.terms.values()]).toEqual([
      { kind: "class", iri: "http://t/Thing", uses: 3, count: undefined },
      { kind: "class", iri: "http://t/Toy", uses: 0, count: 7 },
      { kind: "property", iri: "http://t/name", uses: 2, count: 9 },
    ]);
  });
  it.each([
    ["http://old.example/query", "alias"],
    ["https://things.example/sparql/toys", "part"],
    ["https://THINGS.example:443/", "page"],
  ])("lead from %s to their entry", (url, as) => {
    expect(catalog.byOtherUrl(url)).toMatchObject({ entry: { id: "toys" }, as });
  });
  it("lead nowhere from an entry's own URL or to an endpoint that is no entry", () => {
    expect(catalog.byOtherUrl("https://things.example/sparql")).toBeUndefined();
    expect(catalog.byOtherUrl("https://once.example/")).toBeUndefined();
  });
  it.each([
    ["copy", "toys"],
    ["stated", "stuff"],
    ["both", "both"],
    ["toys", "toys"],
  ])("count %s as %s", (id, original) => {
    expect(catalog.originalOf(id)).toBe(original);
  });
  it.each([
    ["[]", "object"],
    ["{", "JSON"],
    [JSON.stringify({ format: 2, url: "http://x/", asOf: "2026-01-01", sources: [] }), "/format"],
    [JSON.stringify({ format: 1, url: "http://x/", asOf: "today", sources: [] }), "/asOf"],
  ])("refuse %s", (text, reason) => {
    expect(() => parseFactsFile(text)).toThrow(reason);
  });
});
