import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
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
    const names = (await readdir(shipped))
      .filter((name) => name.endsWith(".json"))
      .map((name) => name.replace(".json", ""));
    expect(catalog.problems).toEqual([]);
    expect(names.length).toBeGreaterThan(70);
    expect(catalog.published.ids).toEqual(names.toSorted());
    expect(catalog.published.facts("uniprot")?.provenance).toMatch(/^published, as of 2026-11-26, from \S+\/\S+ and/);
  });
  it("have shapes of terms that stand together, also those of endpoints like them", async () => {
    const { published } = await loadCatalog({
      dirs: [{ path: catalogDir }],
      published: [shipped],
      baseUrl: "http://h:1",
    });
    const shapesAt = (id: string) => published.facts(id)?.shapes ?? [];
    const shaped = published.ids.filter((id) => shapesAt(id).length > 0);
    expect(shaped).toHaveLength(59);
    expect(shapesAt("qlever-wikidata")).toEqual(shapesAt("wikidata"));
    expect(shapesAt("wikidata")[0]?.typeBy).toBe("http://www.wikidata.org/prop/direct/P31");
    const known = published.facts("bgee")?.terms;
    for (const { steps } of shapesAt("bgee"))
      for (const { property } of steps) expect(known?.has(`p ${property}`)).toBe(true);
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

it("a folder and a named pipe with the name of a file are reported, and not waited for", async () => {
  const folder = newFolder();
  await mkdir(join(folder, "a.json"));
  execFileSync("mkfifo", [join(folder, "b.json")]);
  await mkdir(join(folder, "shapes"));
  execFileSync("mkfifo", [join(folder, "shapes", "c.json")]);
  const { facts, problems } = await readPublished([folder]);
  const reason = "This is not a file.";
  expect(facts).toEqual([]);
  expect(problems).toEqual(["a.json", "b.json", "shapes/c.json"].map((name) => ({ file: join(folder, name), reason })));
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
  it("writes shapes beside the facts, which have their terms then", async () => {
    const folder = newFolder();
    const file = join(folder, "shapes.txt");
    const shaped = {
      id: "a",
      url: "https://a.example/sparql",
      queries: 3,
      terms: ["http://v/A", "http://v/p", "http://v/B", "http://v/q", "http://v/g"],
      shapes: [
        {
          of: 0,
          chain: [
            [1, 2],
            [3, null, "^*"],
          ],
          uses: 2,
          src: [1],
          graph: [4],
        },
      ],
      models: [{ star: [[3, 2, "="]], src: [1] }],
    };
    const endpoints = [shaped, { id: "b", url: "https://b.example/sparql", like: ["a", "unknown"] }];
    const sources = [{ ...source, repo: "not/used" }, source];
    await refresh(folder, collected("a"));
    const text = JSON.stringify({ format: 1, asOf: "2026-03-05", sources, endpoints });
    await writeFile(file, text);
    const refreshed = await refreshPublished(file, join(folder, "published"));
    expect(refreshed).toEqual({ written: ["a", "b"], unchanged: 0 });
    const { facts, problems } = await readPublished([join(folder, "published")]);
    expect(problems).toEqual([]);
    const [a, b] = facts;
    expect(a?.shapes).toEqual(b?.shapes);
    expect(a?.shapes).toEqual([
      {
        form: "chain",
        of: "http://v/A",
        steps: [
          { property: "http://v/p", class: "http://v/B", isInverse: false, repeated: "" },
          { property: "http://v/q", class: undefined, isInverse: true, repeated: "*" },
        ],
        uses: 2,
        typeBy: undefined,
        graphs: ["http://v/g"],
      },
      {
        form: "star",
        of: undefined,
        steps: [{ property: "http://v/q", value: "http://v/B", isInverse: false, repeated: "" }],
        uses: 0,
        typeBy: undefined,
        graphs: undefined,
      },
    ]);
    expect([...(a?.terms.values() ?? [])].map(({ kind, iri, uses }) => `${kind} ${iri} ${uses}`)).toEqual([
      "class http://v/A 2",
      "property http://v/p 2",
      "class http://v/B 2",
      "property http://v/q 2",
    ]);
    expect([a?.provenance, b?.provenance, b?.terms.size]).toEqual([
      "published, as of 2026-03-04, from a/b",
      "published, as of 2026-03-05",
      0,
    ]);
  });
  it.each([
    ["a number of no term", { shapes: [{ star: [[1]], uses: 1 }] }, "no term 1"],
    ["a negative number", { shapes: [{ star: [[-1]], uses: 1 }] }, "no term -1"],
    ["a name for a number", { shapes: [{ star: [["length"]], uses: 1 }] }, 'no term "length"'],
    ["an unknown mark", { shapes: [{ star: [[0, null, "/"]], uses: 1 }] }, 'no mark "/"'],
    ["too many steps", { shapes: [{ star: Array.from({ length: 9 }, () => [0]), uses: 1 }] }, "/shapes/0/star"],
    ["too many shapes", { shapes: Array.from({ length: 1_001 }, () => ({ star: [[0]], uses: 1 })) }, "/shapes"],
    ["another format", { format: 2 }, "/format"],
  ])("leaves out a file of shapes with %s", async (_, fields, reason) => {
    const folder = newFolder();
    await refresh(folder, collected("a"));
    const shapes = join(folder, "published", "shapes");
    await mkdir(shapes);
    const file = { format: 1, url: "https://a.example/sparql", asOf: "2026-01-01", terms: ["http://v/p"], sources: [] };
    await writeFile(join(shapes, "a.json"), JSON.stringify({ ...file, ...fields }));
    const { facts, problems } = await readPublished([join(folder, "published")]);
    expect(facts.map(({ shapes: read }) => read)).toEqual([[]]);
    expect(problems).toEqual([{ file: join(shapes, "a.json"), reason: expect.stringContaining(reason) }]);
  });
});
