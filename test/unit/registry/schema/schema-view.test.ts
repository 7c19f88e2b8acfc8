import { estimateTokens } from "../../../../src/token-estimate.ts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type SchemaDetail } from "../../../../src/registry/schema/schema-view.ts";
import type { Count, FactStatus } from "../../../../src/registry/descriptions/void-description.ts";
import {
  classPartition,
  descriptionOf,
  propertyPartition,
  syntheticDescription,
} from "../../../support/synthetic-catalog.ts";
import { anyText } from "../../../support/any-text.ts";
import { processorMsOf } from "../../../support/held-loop.ts";
import { schemaView } from "../../../../src/registry/schema.ts";
import type { VoidDescription } from "../../../../src/registry/descriptions.ts";

type SchemaRequest = Parameters<typeof schemaView>[1];

const core = "http://purl.uniprot.org/core/";
const count = (value: number, status: FactStatus = "exact"): Count => ({ value, status, record: 0 });

const proteins: VoidDescription = descriptionOf({
  id: "uniprot",
  title: "UniProt",
  endpoint: "https://uniprot.example/sparql",
  triples: count(1_000),
  properties: count(40, "lowerBound"),
  propertiesComplete: false,
  languages: ["en"],
  unknown: [{ what: "distinct subjects", why: "timeout" }],
  linksets: [
    {
      property: "http://www.w3.org/2000/01/rdf-schema#seeAlso",
      subjectClass: `${core}Protein`,
      targetEndpoint: "wikidata",
      status: "exact",
      record: 0,
    },
    {
      property: `${core}encodedBy`,
      subjectClass: `${core}Protein`,
      objectClass: `${core}Gene`,
      status: "exact",
      record: 0,
    },
  ],
  classPartitions: [
    classPartition(`${core}Protein`, 320_960, [
      propertyPartition("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", { triples: 900_000 }),
      {
        ...propertyPartition(`${core}encodedBy`, { range: `${core}Gene` }),
        triples: count(299_120, "lowerBound"),
        objectsComplete: false,
      },
      {
        ...propertyPartition(`${core}mnemonic`, { triples: 320_960 }),
        datatypes: [{ iri: "http://www.w3.org/2001/XMLSchema#string", status: "exact", record: 0 }],
      },
    ]),
    { ...classPartition(`${core}Gene`), entities: count(12, "sampled"), propertiesComplete: false },
    { ...classPartition("http://nomisma.example/ontology#Coin"), status: "sampled" },
  ],
  propertyPartitions: [
    propertyPartition("http://purl.org/dc/terms/license", {}),
    propertyPartition(`${core}encodedBy`, { triples: 3 }),
  ],
});

const view = (detail: SchemaDetail, more: Partial<SchemaRequest> = {}, description = proteins) =>
  schemaView(description, { detail, maxTokens: 2_000, ...more });

const linesOf = (detail: SchemaDetail, more: Partial<SchemaRequest> = {}): readonly string[] =>
  view(detail, more).text.split("\n");

describe("schemaView", () => {
  it("lists classes", () => {
    expect(linesOf("classes")).toEqual([
      "UniProt, https://uniprot.example/sparql",
      "Classes (instances); ~ sampled, >= at least, ? unknown",
      "PREFIX up: <http://purl.uniprot.org/core/>",
      "up:Protein (320960)",
      "up:Gene (~12)",
      "<http://nomisma.example/ontology#Coin> (~?)",
    ]);
    expect(view("classes")).toMatchObject({ truncated: false, complete: true });
  });

  it("writes one line a class, then the properties of no class", () => {
    const lines = linesOf("lines");
    expect(lines.filter((line) => line.startsWith("PREFIX ")).map((line) => line.split(" ")[1])).toEqual([
      "dcterms:",
      "rdf:",
      "up:",
      "xsd:",
    ]);
    expect(lines.slice(-4)).toEqual([
      "up:Protein (320960): up:mnemonic -> xsd:string (320960); up:encodedBy -> up:Gene|? (>=299120); rdf:type -> untyped (900000)",
      "up:Gene (~12): ?",
      "<http://nomisma.example/ontology#Coin> (~?): no properties",
      "any subject: dcterms:license -> untyped (?)",
    ]);
    expect(view("lines")).toMatchObject({ truncated: false, complete: false });
  });

  it("writes paths from and to the chosen classes", () => {
    expect(linesOf("paths", { classes: ["Gene"] }).slice(-1)).toEqual(["up:Protein --up:encodedBy--> up:Gene (?)"]);
    expect(linesOf("paths", { classes: ["up:Protein"] }).slice(-4)).toEqual([
      "up:Protein --up:mnemonic--> xsd:string (?)",
      "up:Protein --up:encodedBy--> up:Gene (?)",
      "up:Protein --rdf:type--> ? (900000)",
      "up:Protein --rdfs:seeAlso--> ? at wikidata (?)",
    ]);
    expect(linesOf("paths").at(-2)).toBe("? --dcterms:license--> ? (?)");
  });

  it("names the other dataset of a publisher's link", () => {
    const link = { property: `${core}encodedBy`, subjectClass: `${core}Protein`, objectClass: `${core}Gene` } as const;
    const claimed = { ...link, targetDataset: "http://genes.example/#d", status: "claimed", record: 0 } as const;
    const { text, json } = view("paths", {}, { ...proteins, linksets: [claimed] });
    expect(text).toContain("up:Protein --up:encodedBy--> up:Gene in <http://genes.example/#d> (?)");
    expect(json.paths?.at(-1)).toMatchObject({ dataset: "http://genes.example/#d" });
  });

  it("sums up", () => {
    const lines = linesOf("summary");
    expect(lines).toEqual(
      expect.arrayContaining([
        "triples: 1000",
        "classes: 3 (list complete)",
        "properties: >=40 (2 listed, perhaps more)",
        "distinct subjects: ?",
        "links to: wikidata",
        "languages: en",
        "not found out: distinct subjects (timeout)",
        "class up:Protein (320960)",
      ]),
    );
    const { json, complete } = view("summary");
    expect(json.facts).toContainEqual({ fact: "distinct subjects", count: null });
    expect(json.facts).toContainEqual({ fact: "triples", count: { value: 1_000, status: "exact" } });
    expect(complete).toBe(false);
  });

  it("gives the same facts as JSON", () => {
    const { json } = view("lines");
    expect(json.prefixes).toMatchObject({ up: core, xsd: "http://www.w3.org/2001/XMLSchema#" });
    expect(json.classes?.[0]).toMatchObject({
      iri: `${core}Protein`,
      entities: { value: 320_960 },
      propertiesComplete: true,
    });
    expect(json.classes?.[0]?.properties?.[1]).toEqual({
      iri: `${core}encodedBy`,
      status: "exact",
      triples: { value: 299_120, status: "lowerBound" },
      objectClasses: [`${core}Gene`],
      datatypes: [],
      objectsComplete: false,
    });
    expect(json.classes?.[2]?.entities).toBeNull();
    expect(json.properties?.map(({ iri }) => iri)).toEqual(["http://purl.org/dc/terms/license"]);
  });

  it.each([["Protein"], ["up:Protein"], [`${core}Protein`], [`<${core}Protein>`], ["protein"]])(
    "finds class %s",
    (name) => {
      expect(view("classes", { classes: [name] }).json.classes?.map(({ iri }) => iri)).toEqual([`${core}Protein`]);
    },
  );

  it("says in every detail that the data are in named graphs only", () => {
    const list = [{ graph: "http://g.example/1", status: "exact", record: 0, triples: count(7) }] as const;
    const description = { ...proteins, namedGraphs: { list, complete: true } };
    for (const detail of ["summary", "classes", "lines", "paths"] as const)
      expect(view(detail, {}, description).text.split("\n")[0]).toContain("the default graph is empty, write GRAPH ?g");
    const { text, json } = view("summary", {}, description);
    expect(text).toContain("named graphs: 1 (list complete)\n");
    expect(text).toContain("graphs: http://g.example/1 (7)\n");
    expect(json.facts).toContainEqual({
      fact: "named graphs",
      count: { value: 1, status: "exact" },
      complete: true,
    });
    expect(view("summary").text).not.toContain("graph");
  });

  it("says what it did not find and what is similar", () => {
    const { text, json } = view("classes", { classes: ["Protien", "Gene"] });
    expect(text).toContain("No class Protien in the description; similar: up:Protein\n");
    expect(json.notFound).toEqual([{ name: "Protien", nearest: ["up:Protein"] }]);
    expect(json.classes?.map(({ iri }) => iri)).toEqual([`${core}Gene`]);
    expect(view("lines", { classes: ["zzz"] }).json).toMatchObject({ classes: [], notFound: [{ name: "zzz" }] });
  });

  it("marks what the publisher told", () => {
    const claimed = { triples: count(9, "claimed") };
    expect(view("summary", {}, descriptionOf({ ...claimed, source: "mixed" })).text).toContain("triples: 9*\n");
    const retrieved = view("summary", {}, descriptionOf({ ...claimed, source: "retrieved" })).text;
    expect(retrieved).toContain("triples: 9\n");
    expect(retrieved).toContain("all as stated by the publisher");
  });

  it("never writes 0 for unknown", () => {
    const nothing = descriptionOf({ classesComplete: false, propertiesComplete: false });
    for (const detail of ["summary", "classes", "lines", "paths"] as const) {
      const { text, complete } = view(detail, {}, nothing);
      expect(text.replace(/2026-\S+|\(0 listed, perhaps more\)/g, "")).not.toContain("0");
      expect(complete).toBe(false);
    }
    expect(view("summary", {}, descriptionOf({ triples: count(-1) })).text).toContain("triples: ?");
    expect(view("summary", {}, descriptionOf({ triples: count(0) })).text).toContain("triples: 0\n");
  });
});

describe("the budget", () => {
  const large = syntheticDescription(3, { classes: 80, properties: 120 });

  it("cuts at whole lines and says how to get the rest", () => {
    const whole = new Set(view("classes", { maxTokens: 100_000 }, large).text.split("\n"));
    const cut = view("classes", { maxTokens: 300 }, large);
    const lines = cut.text.split("\n");
    expect(lines.at(-1)).toMatch(/^\d+ of 80 classes left out; raise maxTokens, or name classes=\.\.\.$/);
    expect(lines.slice(0, -1).every((line) => whole.has(line))).toBe(true);
    expect(cut.truncated).toBe(true);
    expect(cut.omitted.lines).toBe(80 - (cut.json.classes?.length ?? 0));
    expect(lines.at(-1)).toContain(`${cut.omitted.lines} of`);
    expect(cut.estimatedTokens).toBeGreaterThan(250);
  });

  it("shortens lines before it leaves classes out", () => {
    const full = view("lines", { maxTokens: 100_000 }, large);
    const wide = descriptionOf({
      classPartitions: ["A", "B", "C"].map((name) => classPartition(`http://x/${name}`, 1, large.propertyPartitions)),
    });
    const short = view("lines", { maxTokens: 1_500 }, wide);
    expect(full.truncated).toBe(false);
    expect(short.omitted).toMatchObject({ lines: 0, properties: 3 * (120 - 15) });
    expect(short.truncated).toBe(true);
    expect(short.text).toContain("; +105");
  });

  it("passes over names too long to show, and says so", () => {
    const long = descriptionOf({
      classPartitions: [classPartition(`http://x/${"a".repeat(10_000)}`, 9), classPartition("http://x/b", 3)],
    });
    const { text, truncated, omitted, json } = view("lines", {}, long);
    expect(omitted).toMatchObject({ lines: 1, longNames: 1 });
    expect([truncated, json.classes?.length]).toEqual([true, 1]);
    expect(text).toContain("1 of 2 classes left out");
  });

  it("is never overrun, whatever the names", () => {
    const name = fc.oneof(
      fc.constantFrom(
        "__proto__",
        "constructor",
        "\u202Egnirts\u202C",
        "a\nb",
        "عربي",
        "x".repeat(10_000),
        "Ω",
        "",
        "#",
        "9",
      ),
      anyText(20),
    );
    const iri = fc
      .tuple(fc.constantFrom("http://a.example/", "http://xmlns.com/foaf/0.1/", "urn:x:", ""), name)
      .map((all) => all.join(""));
    const property = iri.map((each) => propertyPartition(each, { range: each }));
    const partition = fc
      .tuple(iri, fc.option(fc.nat(), { nil: undefined }), fc.array(property, { maxLength: 12 }))
      .map(([each, entities, properties]) => classPartition(each, entities, properties));
    const request = fc.record({
      detail: fc.constantFrom<SchemaDetail>("summary", "classes", "lines", "paths"),
      maxTokens: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 60, max: 3_000 })),
      classes: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, fc.array(name, { maxLength: 3 })),
    });
    let shown = 0;
    let cut = 0;
    const run = (
      partitions: readonly ReturnType<typeof classPartition>[],
      asked: SchemaRequest,
      title: string,
    ): void => {
      const description = descriptionOf({ title, classPartitions: partitions });
      const { text, estimatedTokens, truncated, omitted, json } = schemaView(description, asked);
      expect(estimatedTokens).toBe(estimateTokens(text));
      expect(estimatedTokens).toBeLessThanOrEqual(asked.maxTokens);
      expect(text).not.toMatch(/[\p{Cf}\p{Cs}]|[^\P{Cc}\n]/u);
      if (omitted.lines + omitted.properties + omitted.values > 0) expect(truncated).toBe(true);
      expect(JSON.parse(JSON.stringify(json))).toMatchObject({ detail: asked.detail });
      shown += (json.classes ?? json.paths ?? []).length;
      cut += truncated ? 1 : 0;
    };
    fc.assert(fc.property(fc.array(partition, { minLength: 1, maxLength: 25, size: "max" }), request, name, run), {
      seed: 9,
      numRuns: 60,
    });
    expect(shown).toBeGreaterThan(200);
    expect(cut).toBeGreaterThan(30);
  });

  it("takes bounded time for a large description", async () => {
    const properties = Array.from({ length: 40 }, (_, at) =>
      propertyPartition(`http://a.example/p${at}`, { triples: at }),
    );
    const partitions = Array.from({ length: 5_000 }, (_, at) =>
      classPartition(`http://a.example/C${at}`, at, properties),
    );
    const names = Array.from({ length: 60 }, (_, at) => `${"Cx".repeat(60)}${at}`);
    const ms = await processorMsOf(() => {
      view("paths", { maxTokens: 500 }, descriptionOf({ classPartitions: partitions }));
      view("lines", { maxTokens: 500, classes: names }, descriptionOf({ classPartitions: partitions }));
    });
    expect(ms).toBeLessThan(8_000);
  });
});
