import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { openPackage } from "../../shards/src/package/open-package.ts";
import type { PackageManifest } from "../../shards/src/package/package-shards.ts";
import { baseUrl, makePackage } from "../support/benchmark-package.ts";
import { openWorkspace } from "../support/shard-workspace.ts";

// A package is found and cited by Croissant, DCAT and CFF; each is checked by the validator that others use.

const run = promisify(execFile);
const here = (path: string): string => new URL(path, import.meta.url).pathname;
const creators = ["Ada Example", 'Coast Office: "North" & Söhne'];
const citation = "Invented for tests: 2026.";

let python: string;
let folder: string;
let unknown: string;
let manifest: PackageManifest;
beforeAll(async () => {
  python = `${(await run(here("../support/engines/fetch-validators.sh"))).stdout.trim()}/bin/python`;
  const made = async (spec: object): Promise<string> => {
    const workspace = await openWorkspace();
    const queries = JSON.parse(await readFile(join(workspace.input, "queries.json"), "utf8")) as object[];
    expect(queries.length).toBeGreaterThan(3);
    await workspace.describe(spec);
    return (await makePackage((await workspace.build()).folder ?? "")).folder;
  };
  folder = await made({ creators, citation, source: "https://harbour.example/" });
  // The licence that `shards init` writes says that the copyright was not evaluated.
  unknown = await made({ citation: undefined, licence: "http://rightsstatements.org/vocab/CNE/1.0/" });
  ({ manifest } = await openPackage(folder));
}, 600_000);

async function checked<Result>(tool: string, path = folder): Promise<Result> {
  const script = here("validators/check_catalogue.py");
  const { stdout } = await run(python, [script, tool, path], { timeout: 250_000, maxBuffer: 1e8 });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Result;
}

interface Croissant {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly records: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>;
  readonly broken: boolean;
}

it("mlcroissant takes the description, and its records are the texts of the files", async () => {
  const { errors, warnings, records, broken } = await checked<Croissant>("croissant");
  expect([errors, broken]).toEqual([[], true]);
  // When it is published, and as which version, the package does not know.
  expect(warnings.map((each) => /Property "([^"]*)"/u.exec(each)?.[1])).toEqual([
    "https://schema.org/datePublished",
    "https://schema.org/version",
  ]);
  const { questions, queries } = await openPackage(folder);
  const asked = questions.map(({ id, question, query }) => ({
    "questions/id": id,
    "questions/question": question,
    "questions/sparql": queries.get(query)?.query,
  }));
  expect(records["questions"]).toEqual(asked);
  const shards = manifest.files.filter(({ name }) => name.startsWith("build/shards/"));
  expect(Object.keys(records)).toHaveLength(shards.length + 1);
  for (const { name } of shards) {
    const id = name.slice("build/".length, -".nt".length);
    expect(records[id], name).toEqual([{ [`${id}/text`]: await readFile(join(folder, name), "utf8") }]);
  }
}, 300_000);

interface Dcat {
  readonly violations: readonly string[];
  readonly broken: readonly string[];
  readonly files: Readonly<Record<string, readonly [number, string]>>;
  readonly parts: readonly (readonly [number, number, string])[];
}

it("the shapes of DCAT-AP 3.0 hold, and it lists the files and the endpoints", async () => {
  const { violations, broken, files, parts } = await checked<Dcat>("dcat");
  expect([violations, broken]).toEqual([[], ["http://purl.org/dc/terms/title"]]);
  const added = ["CITATION.cff", "compose.yaml", "croissant.json", "dcat.ttl"];
  const listed = manifest.files.filter(({ name }) => !added.includes(name));
  expect(manifest.files.length - listed.length).toBe(added.length);
  expect(files).toEqual(Object.fromEntries(listed.map(({ name, bytes, sha256 }) => [name, [bytes, sha256]])));
  const { endpoints } = await openPackage(folder);
  expect(parts.map(([, , url]) => url).toSorted()).toEqual(endpoints.map(({ url }) => url).toSorted());
  expect(parts.reduce((sum, [, triples]) => sum + triples, 0)).toBe(manifest.data.triples);
  expect(parts.every(([whole, , url]) => whole === manifest.data.triples && url.startsWith(baseUrl))).toBe(true);
}, 300_000);

it("cffconvert takes the citation, with the names as they are written", async () => {
  const { bibtex, zenodo, broken } = await checked<{ bibtex: string; zenodo: object; broken: boolean }>("cff");
  expect(broken).toBe(true);
  expect(zenodo).toMatchObject({ creators: creators.map((name) => ({ name })) });
  expect(bibtex).toContain(manifest.title);
});

it("what is unknown is left out", async () => {
  expect(existsSync(join(unknown, "CITATION.cff"))).toBe(false);
  const texts = await Promise.all(["croissant.json", "dcat.ttl"].map((name) => readFile(join(unknown, name), "utf8")));
  for (const text of texts)
    expect(text).not.toMatch(/CNE|licen[cs]e"|dcterms:license|creator"|dcterms:creator|citeAs": "(?!cr:)/u);
  const { errors } = await checked<Croissant>("croissant", unknown);
  const { violations } = await checked<Dcat>("dcat", unknown);
  expect([errors, violations]).toEqual([[], []]);
}, 300_000);
