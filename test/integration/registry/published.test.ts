import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { loadCatalog, readPublished } from "../../../src/registry/catalog/read-files.ts";
import { newFolder } from "../../support/scratch-folder.ts";
import { refreshPublished } from "../../../src/registry/catalog.ts";

const catalogDir = fileURLToPath(new URL("../../../catalog", import.meta.url));
const shipped = join(catalogDir, "published");
const source = { repo: "a/b", commit: "c", path: "p", date: "2026-01-01", licence: "MIT" };
const collected = (id: string, more: object = {}) => ({
  id,
  url: `https://${id}.example/sparql`,
  prefixes: { predefined: {}, usedUndeclared: {}, examples: {} },
  sources: [source],
  ...more,
});

describe("the facts that are shipped", () => {
  it("can be read and belong to entries, with their sources", async () => {
    const catalog = await loadCatalog({ dirs: [{ path: catalogDir }], published: [shipped], baseUrl: "http://h:1" });
    const names = (await readdir(shipped)).map((name) => name.replace(".json", ""));
    expect(catalog.problems).toEqual([]);
    expect(names.length).toBeGreaterThan(70);
    expect(catalog.published.ids).toEqual(names.toSorted());
    expect(catalog.published.facts("uniprot")?.provenance).toMatch(/^published, as of 2026-11-26, from \S+\/\S+ and/);
  });
  it.each([
    ["http://query.wikidata.org/sparql", "wikidata", "alias"],
    ["https://query.wikidata.org/bigdata/namespace/wdq/sparql", "wikidata", "alias"],
    ["https://idsm.elixir-czech.cz/sparql/endpoint/chebi", "idsm", "part"],
    ["https://ld.admin.ch/sparql", "lindas", "page"],
  ])("know %s", async (url, id, as) => {
    const catalog = await loadCatalog({ dirs: [{ path: catalogDir }], published: [shipped], baseUrl: "http://h:1" });
    expect(catalog.published.byOtherUrl(url)).toMatchObject({ entry: { id }, as });
  });
});

describe("a refresh", () => {
  const refresh = async (folder: string, ...facts: object[]) => {
    const file = join(folder, "collection.txt");
    await writeFile(file, JSON.stringify({ format: 1, asOf: "2026-03-04", facts }));
    return refreshPublished(file, join(folder, "published"));
  };
  it("writes what has changed, and what it wrote can be read", async () => {
    const folder = newFolder();
    const terms = { classes: [{ iri: "http://v/A", uses: 2 }], properties: [{ iri: "http://v/p", triples: 5 }] };
    expect(await refresh(folder, collected("a", terms), collected("b"))).toEqual({ written: ["a", "b"], unchanged: 0 });
    expect(await refresh(folder, collected("a", terms))).toEqual({ written: [], unchanged: 1 });
    const { facts, problems } = await readPublished([join(folder, "published")]);
    expect(problems).toEqual([]);
    expect(facts.map(({ url, terms: { size } }) => [url, size])).toEqual([
      ["https://a.example/sparql", 2],
      ["https://b.example/sparql", 0],
    ]);
  });
  it("changes nothing for a collection with a fault", async () => {
    const folder = newFolder();
    const refreshed = refresh(folder, collected("a"), collected("../b"));
    await expect(refreshed).rejects.toMatchObject({ code: "REQUEST_INVALID", message: expect.stringContaining("/id") });
    await expect(readdir(join(folder, "published"))).rejects.toThrow("ENOENT");
  });
  it("leaves files that cannot be read to the operator, who is told", async () => {
    const folder = newFolder();
    await refresh(folder, collected("a"));
    const path = join(folder, "published", "z.json");
    await writeFile(
      path,
      (await readFile(join(folder, "published", "a.json"), "utf8")).replace('"format": 1', '"format": 9'),
    );
    const { facts, problems } = await readPublished([join(folder, "published"), join(folder, "missing")]);
    expect([facts.length, problems]).toEqual([1, [{ file: path, reason: expect.stringContaining("/format") }]]);
  });
});
