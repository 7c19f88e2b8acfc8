import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it } from "vitest";
import { loadCatalog } from "../../../../src/registry/catalog/read-files.ts";
import { federationTurtle, shapesFile } from "../../../support/catalog-folder.ts";
import { newFolder } from "../../../support/scratch-folder.ts";
import { checkCatalog } from "../../../../src/registry/catalog.ts";

let dir = "";
beforeEach(async () => {
  dir = newFolder();
});

const service = (id: string, url: string) => `@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
<> a dcat:DataService ;
  dcterms:identifier "${id}" ;
  dcterms:title "Title of ${id}" ;
  dcat:endpointURL <${url}> .
`;
const write = (files: Readonly<Record<string, string | Uint8Array>>) =>
  Promise.all(Object.entries(files).map(([name, content]) => writeFile(join(dir, name), content)));
const load = (...dirs: readonly string[]) =>
  loadCatalog({ dirs: [dir, ...dirs].map((path) => ({ path })), baseUrl: "http://127.0.0.1:4000" });

/** One bad file between two good ones: they load, and the problem says where and why. */
async function shouldReport(content: string | Uint8Array, line: number | undefined, reason: RegExp) {
  await write({
    "a.ttl": service("a", "http://a.example/"),
    "bad.ttl": content,
    "c.ttl": service("c", "http://c.example/"),
  });
  const catalog = await load();
  expect(catalog.entries.map(({ id }) => id)).toEqual(["a", "c"]);
  expect(catalog.problems).toEqual([{ file: join(dir, "bad.ttl"), reason: expect.stringMatching(reason), line }]);
}

describe("a catalogue file that cannot be used", () => {
  it.each<[string, ...Parameters<typeof shouldReport>]>([
    ["has a syntax error", `${service("b", "http://b.example/")}\n<x> <y> .`, 8, /not valid Turtle: Expected entity/],
    ["has a bad identifier", service("B b", "http://b.example/"), 5, /"B b" is not a lower-case name/],
    ["has a bad URL", service("b", "mailto:b@example.org"), 6, /not an http or https URL/],
    ["has a password", service("b", "http://u:pw@b.example/"), 6, /user name or password/],
    ["has a taken identifier", service("a", "http://b.example/"), 4, /"a" is already taken by .*a\.ttl/],
    ["has a taken URL", service("b", "HTTP://A.example:80"), 6, /endpointURL <.*> is already taken by .*a\.ttl/],
    ["is empty", "", undefined, /no dcat:DataService/],
    ["is Latin-1", Uint8Array.of(0x23, 0xe9, 0x0a), undefined, /not UTF-8/],
    ["is over 1 MB", `${service("b", "http://b.example/")}#${"x".repeat(1_000_000)}`, undefined, /larger than 1 MB/],
    [
      "has too many triples",
      `${service("b", "http://b.example/")}<x> <y> ${"1,".repeat(10_000)}1 .`,
      undefined,
      /more than 10000 triples/,
    ],
  ])("%s", (_name, ...row) => shouldReport(...row));
});

describe("loadCatalog", () => {
  it("takes federations", async () => {
    await write({
      "a.ttl": service("a", "http://a.example/"),
      "f.ttl": federationTurtle("a", 'fedway:member "a"'),
    });
    const catalog = await load();
    expect(catalog.problems).toEqual([]);
    expect(catalog.membersOf(catalog.federation("a")!)).toEqual([catalog.byId("a")]);
  });
  it("does not wait for a named pipe", async () => {
    execFileSync("sh", ["-c", 'mkfifo "$0"', join(dir, "b.ttl")]);
    expect((await load()).problems).toEqual([{ file: join(dir, "b.ttl"), reason: "This is not a file." }]);
  });
  it("takes a byte order mark", async () => {
    await write({ "a.ttl": `\uFEFF${service("a", "http://a.example/")}` });
    expect((await load()).byId("a")?.title).toBe("Title of a");
  });
  it("takes a file of exactly 1 MB", async () => {
    const text = service("a", "http://a.example/");
    await write({ "a.ttl": `${text}#${"x".repeat(1_000_000 - text.length - 1)}` });
    expect(await load()).toMatchObject({ entries: [{ id: "a" }], problems: [] });
  });
  it("reads neither other files nor sub-folders", async () => {
    await mkdir(join(dir, "sub"));
    await write({ "a.ttl": service("a", "http://a.example/"), "b.txt": "?", "sub/c.ttl": "?" });
    expect(await load()).toMatchObject({ entries: [{ id: "a" }], problems: [] });
  });
  it("reports a folder with the name of a file", async () => {
    await mkdir(join(dir, "b.ttl"));
    expect((await load()).problems).toEqual([{ file: join(dir, "b.ttl"), reason: expect.any(String) }]);
  });
  it("reads several folders, the first one first", async () => {
    await mkdir(join(dir, "more"));
    await write({ "z.ttl": service("a", "http://z.example/"), "more/a.ttl": service("a", "http://a.example/") });
    const catalog = await load(join(dir, "more"));
    expect(catalog.byId("a")?.url).toBe("http://z.example/");
    expect(catalog.problems).toHaveLength(1);
  });
  it("resolves relative URLs against the public URL", async () => {
    await write({ "a.ttl": service("a", "hosted/a/sparql") });
    const catalog = await load();
    expect(catalog.byId("a")?.url).toBe("http://127.0.0.1:4000/hosted/a/sparql");
    expect(catalog.byUrl("http://localhost:4000/hosted/a/sparql")?.id).toBe("a");
  });
  it("fails when the folder is missing", async () => {
    await expect(load(join(dir, "missing"))).rejects.toMatchObject({ code: "CATALOG_INVALID" });
  });
});

describe("the catalogue in the repository", () => {
  const catalogDir = fileURLToPath(new URL("../../../../catalog", import.meta.url));
  const dirs = [catalogDir, join(catalogDir, "examples")].map((path) => ({ path }));
  const shipped = () => loadCatalog({ dirs, baseUrl: "http://h:1" });
  const examples = ["library", "museums", "people", "places", "weather"];
  it("has nothing to mend", async () => {
    const report = await checkCatalog({ dirs, baseUrl: "http://h:1", shapesFile });
    expect(report.findings.filter(({ severity }) => severity !== "info")).toEqual([]);
    expect(report.endpoints).toBeGreaterThanOrEqual(8);
  });
  it("has the examples and well-known endpoints", async () => {
    const { entries } = await shipped();
    expect(entries.map(({ id }) => id)).toEqual(
      expect.arrayContaining([...examples, "dbpedia", "uniprot", "wikidata"]),
    );
  });
  it("has one sentence of description for each", async () => {
    const { entries } = await shipped();
    expect(entries.length).toBeGreaterThanOrEqual(8);
    expect(entries.filter(({ description }) => !/^[A-Z].{20,300}\.$/.test(description ?? ""))).toEqual([]);
  });
  it("keeps Wikidata's label service inside the query", async () => {
    expect((await shipped()).byId("wikidata")?.pseudoServices).toContain("http://wikiba.se/ontology#label");
  });
  it("names hosted endpoints by the public URL", async () => {
    expect((await shipped()).byUrl("http://h:1/hosted/museums/sparql")?.id).toBe("museums");
  });
});

it("reads the entries of the guide, those with default graphs, too", async () => {
  const guide = await readFile(new URL("../../../../deploy/guide/catalogue-entries.md", import.meta.url), "utf8");
  const blocks = [...guide.matchAll(/^```turtle\n(.*?)^```/gmsu)].map(([, turtle = ""]) => turtle);
  await write(Object.fromEntries(blocks.map((turtle, at) => [`${at}.ttl`, turtle])));
  const { problems, entries } = await load();
  expect(problems).toEqual([]);
  expect(await checkCatalog({ dirs: [{ path: dir }], baseUrl: "http://h:1", shapesFile })).toMatchObject({
    conforms: true,
  });
  const graphs = ["https://beta.example/data", "https://beta.example/labels"];
  expect(entries.map(({ id, defaultGraphs = [] }) => [id, defaultGraphs])).toEqual([
    ["alpha", []],
    ["beta", graphs],
  ]);
});
