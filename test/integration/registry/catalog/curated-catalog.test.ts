import { readdirSync, readFileSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type * as RDF from "@rdfjs/types";
import { describe, expect, it } from "vitest";
import { catalogSources } from "../../../../src/app/catalog-files.ts";
import { loadConfig } from "../../../../src/config/config.ts";
import { parseTurtle } from "../../../../src/rdf/turtle.ts";
import { newFolder } from "../../../support/scratch-folder.ts";

const dataService = "http://www.w3.org/ns/dcat#DataService";
const federation = "https://w3id.org/fedway/ns#Federation";
const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const identifier = "http://purl.org/dc/terms/identifier";
const title = "http://purl.org/dc/terms/title";
const description = "http://purl.org/dc/terms/description";
const endpointUrl = "http://www.w3.org/ns/dcat#endpointURL";
const homepage = "http://xmlns.com/foaf/0.1/homepage";
const keyword = "http://www.w3.org/ns/dcat#keyword";
const conformsTo = "http://purl.org/dc/terms/conformsTo";
const note = "http://www.w3.org/2004/02/skos/core#note";
const engine = "https://w3id.org/fedway/ns#engine";
const rowCap = "https://w3id.org/fedway/ns#rowCap";
const needsUserAgent = "https://w3id.org/fedway/ns#needsUserAgent";
const blocksService = "https://w3id.org/fedway/ns#blocksService";
const member = "https://w3id.org/fedway/ns#member";
const memberKeyword = "https://w3id.org/fedway/ns#memberKeyword";

/** One file of the catalogue: everything its only subject says. */
interface CatalogFile {
  readonly name: string;
  readonly subjects: number;
  readonly values: (property: string) => readonly string[];
}

const folder = fileURLToPath(new URL("../../../../catalog", import.meta.url));

function readFile(name: string): CatalogFile {
  const text = readFileSync(join(folder, name), "utf8");
  const quads: RDF.Quad[] = parseTurtle(text, { baseIri: "http://h.example/", maxBytes: 100_000, maxQuads: 1_000 });
  return {
    name,
    subjects: new Set(quads.map(({ subject }) => subject.value)).size,
    values: (property) =>
      quads.filter(({ predicate }) => predicate.value === property).map(({ object }) => object.value),
  };
}

const files = readdirSync(folder)
  .filter((name) => name.endsWith(".ttl"))
  .map(readFile);
const ofType = (type: string) => files.filter((file) => file.values(rdfType).includes(type));
const endpoints = ofType(dataService);
const federations = ofType(federation);
const all = (among: readonly CatalogFile[], property: string) => among.flatMap(({ values }) => values(property));
const repeated = (values: readonly string[]) => values.filter((value, index) => values.indexOf(value) !== index);

/** Names of the files that break a rule. */
const breaking = (among: readonly CatalogFile[], keeps: (file: CatalogFile) => boolean) =>
  among.filter((file) => !keeps(file)).map(({ name }) => name);
const hasOne = (file: CatalogFile, property: string) => file.values(property).length === 1;
/** Ends with the only full stop that ends a word; those inside names (schema.org) do not count. */
const isOneSentence = (text: string) => /^[A-Z][^\n!?]*[^.\s]\.$/.test(text) && !/[.!?]\s/.test(text);

describe("the curated catalogue", () => {
  it("has at least 45 endpoints and four federations, one a file", () => {
    expect(endpoints.length).toBeGreaterThanOrEqual(45);
    expect(federations.length).toBeGreaterThanOrEqual(4);
    expect(endpoints.length + federations.length).toBe(files.length);
    expect(breaking(files, ({ subjects }) => subjects === 1)).toEqual([]);
  });

  it("names files by identifier", () => {
    expect(breaking(endpoints, ({ name, values }) => values(identifier).join() === name.slice(0, -4))).toEqual([]);
    const named = ({ name, values }: CatalogFile) => `federation-${values(identifier).join()}.ttl` === name;
    expect(breaking(federations, named)).toEqual([]);
  });

  it("has no identifier, title, description or URL twice", () => {
    expect(repeated(all(endpoints, identifier))).toEqual([]);
    expect(repeated(all(federations, identifier))).toEqual([]);
    expect(repeated(all(files, title))).toEqual([]);
    expect(repeated(all(files, description))).toEqual([]);
    const urls = all(endpoints, endpointUrl).map((url) => url.replace(/^https?:/, "").replace(/\/$/, ""));
    expect(repeated(urls)).toEqual([]);
  });

  it("describes each in one sentence of at most 200 characters", () => {
    const described = (file: CatalogFile) =>
      hasOne(file, title) &&
      hasOne(file, description) &&
      file.values(description).every((text) => text.length <= 200 && isOneSentence(text));
    expect(breaking(files, described)).toEqual([]);
  });

  it("has one http or https URL and one home page for each endpoint", () => {
    const located = (file: CatalogFile) =>
      hasOne(file, endpointUrl) &&
      hasOne(file, homepage) &&
      [...file.values(endpointUrl), ...file.values(homepage)].every((url) => /^https?:\/\/[^\s#@]+$/.test(url));
    expect(breaking(endpoints, located)).toEqual([]);
  });

  it("gives three to six keywords, each shared by several endpoints", () => {
    const keywords = all(endpoints, keyword);
    const shared = new Set(repeated(keywords));
    expect(keywords.filter((word) => !shared.has(word))).toEqual([]);
    const counted = ({ values }: CatalogFile) => values(keyword).length >= 3 && values(keyword).length <= 6;
    expect(breaking(endpoints, counted)).toEqual([]);
  });

  it("writes notes as sentences and repeats in them what is machine-readable", () => {
    expect(breaking(endpoints, ({ values }) => values(note).every(isOneSentence))).toEqual([]);
    const says = (file: CatalogFile, property: string, pattern: RegExp) =>
      file.values(property).length === 0 || file.values(note).some((text) => pattern.test(text));
    expect(breaking(endpoints, (file) => says(file, rowCap, /^Cuts answers after [\d,]+ rows\.$/))).toEqual([]);
    expect(breaking(endpoints, (file) => says(file, needsUserAgent, /User-Agent/))).toEqual([]);
    expect(breaking(endpoints, (file) => says(file, blocksService, /SERVICE/))).toEqual([]);
  });

  it("names an interface only for what is no SPARQL endpoint", () => {
    const tpf = "https://linkeddatafragments.org/specification/triple-pattern-fragments/";
    const interfaces = all(endpoints, conformsTo);
    expect(interfaces.length).toBeGreaterThan(0);
    expect(interfaces.filter((iri) => iri !== tpf)).toEqual([]);
    expect(breaking(endpoints, (file) => !(file.values(conformsTo).length > 0 && hasOne(file, engine)))).toEqual([]);
  });

  it("has only members that exist in its federations, at least three in each", () => {
    const ids = new Set(all(endpoints, identifier));
    expect(all(federations, member).filter((id) => !ids.has(id))).toEqual([]);
    const sizes = federations.map(({ values }) => {
      const words = new Set(values(memberKeyword));
      const byKeyword = endpoints.filter((endpoint) => endpoint.values(keyword).some((word) => words.has(word)));
      return new Set([...values(member), ...all(byKeyword, identifier)]).size;
    });
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(3);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(20);
  });
});

it("is Fedway's own also behind a link", async () => {
  const links = newFolder();
  await symlink(folder, join(links, "link"));
  await mkdir(join(links, "own"));
  const isOperators = (name: string): boolean[] =>
    catalogSources(loadConfig({ FEDWAY_CATALOG: join(links, name), FEDWAY_EXAMPLES: "on" })).dirs.map(
      (dir) => dir.isOperators,
    );
  expect(isOperators("link")).toEqual([false, false]);
  expect(isOperators("own")).toEqual([true, false]);
  expect(isOperators("missing")).toEqual([true, false]);
});
