import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wellKnownNamespaces } from "../../../../src/rdf/well-known-prefixes.ts";
import { describedModels } from "../../../support/described-models.ts";
import type { FactStatus } from "../../../../src/registry/descriptions/void-description.ts";
import { anyText } from "../../../support/any-text.ts";
import { classPartition, descriptionOf, propertyPartition } from "../../../support/synthetic-catalog.ts";
import type { CatalogEntry } from "../../../../src/registry/catalog.ts";
import { oneSentence } from "../../../../src/registry/schema.ts";
import type { VoidDescription } from "../../../../src/registry/descriptions.ts";

const iriOf = (name: string): string => {
  const [prefix = "", local = ""] = name.split(/:(.*)/s, 2);
  return `${wellKnownNamespaces.get(prefix) ?? `http://x.example/${prefix}#`}${local}`;
};

const statuses: Readonly<Record<string, FactStatus>> = { ">": "lowerBound", "*": "claimed", "~": "sampled" };

/** `ex:Protein 320960, ex:Gene >12, ex:Cell`: classes with their instances; `>` lower bound, `*` claimed, `~` sampled. */
const kinds = (classes: string) =>
  classes.split(", ").map((each) => {
    const [, name = "", mark = "", count = ""] = /^(\S+) ?([>*~]?)(\d*)$/.exec(each) ?? [];
    const entities = { value: Number(count), status: statuses[mark] ?? "exact", record: 0 };
    return Object.assign(classPartition(iriOf(name)), count === "" ? {} : { entities });
  });

interface Facts extends Pick<Partial<VoidDescription>, "title" | "description" | "languages" | "classesComplete"> {
  readonly classes?: string;
  readonly properties?: string;
  readonly triples?: number;
  /** Label by class or property. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly links?: readonly string[];
  readonly uses?: readonly string[];
}

const link = (targetEndpoint: string) => ({
  property: "http://x/p",
  targetEndpoint,
  status: "exact" as const,
  record: 0,
});

const described = ({ classes, properties, triples, labels = {}, links = [], uses = [], ...rest }: Facts) =>
  descriptionOf({
    ...rest,
    classPartitions: classes === undefined ? [] : kinds(classes),
    propertyPartitions: (properties?.split(", ") ?? []).map((name) => propertyPartition(iriOf(name), {})),
    ...(triples !== undefined && { triples: { value: triples, status: "exact", record: 0 } }),
    terms: Object.entries(labels).map(([name, label]) => ({ iri: iriOf(name), label, status: "exact", record: 0 })),
    linksets: links.map(link),
    namespaces: uses.map((prefix) => iriOf(`${prefix}:`)),
  });

type Entry = Partial<Pick<CatalogEntry, "id" | "title" | "keywords">>;

const sentenceOf = (description: VoidDescription, entry: Entry): string | undefined => {
  const { models } = describedModels({ descriptions: [["any", description]] });
  return oneSentence({ described: models.get("any")?.described, entry: { keywords: [], ...entry } });
};

const shouldSay = (facts: Facts, text: string | undefined, entry: Entry = {}) =>
  it(`says ${text ?? "nothing"}`, () => {
    expect(sentenceOf(described(facts), entry)).toBe(text);
  });

describe("what the publisher says comes first", () => {
  const classes = "ex:Coin 61200, ex:Hoard 800";
  shouldSay(
    { classes, description: "All coins of the Roman mints. Updated each week." },
    "All coins of the Roman mints.",
  );
  shouldSay(
    { classes, description: "<p>Coins, and <b>where</b> they were found</p>" },
    "Coins, and where they were found.",
  );
  shouldSay({ classes, title: "Online Coins" }, "Online Coins: about 61,000 coins, with hoards.");
  shouldSay({ classes, title: "Online Coins." }, "About 61,000 coins, with hoards.", { title: "Online coins" });
  shouldSay({ classes, description: "Coin data" }, "Coin data: about 61,000 coins, with hoards.");
  shouldSay({ title: "Online Coins" }, "Online Coins.");
});

describe("what the data are", () => {
  shouldSay(
    { classes: "owl:Class 47310, owl:ObjectProperty 290, owl:AnnotationProperty 60, owl:Ontology 1" },
    "Vocabulary of about 47,000 classes.",
  );
  shouldSay(
    { classes: "rdf:Property 812, rdfs:Class 311, ex:Chapter 40" },
    "Vocabulary of about 810 properties, with chapters.",
  );
  shouldSay(
    { classes: "skos:Concept 23541, skos:ConceptScheme 3, ex:GuideTerm 120" },
    "Thesaurus of about 24,000 concepts, with guide terms (art, architecture).",
    { keywords: ["art", "architecture"] },
  );
  shouldSay(
    { classes: "dcat:Distribution 9100, dcat:Dataset 4210, foaf:Organization 120" },
    "Catalogue of about 4,200 datasets, with organizations.",
  );
  shouldSay(
    { classes: "sosa:Observation 2345678, sosa:Sensor 120, ex:WeatherStation 17, ex:Town 4" },
    "Measurements: about 2.3 million observations, with sensors and weather stations.",
  );
  shouldSay(
    { classes: "qb:Observation *3000000000, qb:DataSet *320, sdmx:Concept 4" },
    "Measurements: about 3 billion observations, with concepts.",
  );
  shouldSay(
    { classes: "ontolex:LexicalEntry 40100, ontolex:LexicalSense 90000, db:Translation 2000" },
    "Lexicon of about 40,000 lexical entries, with translations.",
  );
  shouldSay({ classes: "void:Dataset 3, obo:IAO_0000030 40", properties: "ex:stressor" }, "Things with stressor.");
  // A description of itself makes no catalogue of a data set, and a few classes no vocabulary.
  shouldSay({ classes: "ex:Pathway 3100, owl:Class 40, void:Dataset 1" }, "3,100 pathways.");
});

describe("the main kinds of things, with one rounded number", () => {
  shouldSay({ classes: "up:Protein 320960, up:Gene 12" }, "About 320,000 proteins, with genes.");
  shouldSay(
    { classes: "ex:City >7, ex:RiverBasin *3, ex:Bus ~2, ex:Zebra 1" },
    "At least 7 cities, with river basins and buses.",
  );
  shouldSay({ classes: "ex:Zebra 1, ex:SpeciesData" }, "1 zebra, with species data.");
  shouldSay({ classes: "ex:Journal, ex:JournalArticle, ex:Person" }, "Journals, journal articles and people.");
  shouldSay({ classes: "ex:Bus ~2" }, "Buses.");
  // What holds other things together does not hide what they are.
  shouldSay(
    {
      classes:
        "up:Catalytic_Activity_Annotation 900000, up:Position 800000, rdf:Statement 700000, up:Protein 50000, up:Taxon 2000",
    },
    "50,000 proteins, with taxa.",
  );
  shouldSay({ classes: "ex:Statement 900, ex:Thing 12" }, "900 statements, with things.");
  shouldSay({ classes: "up:Protein 900, up:Reviewed_Protein 400, up:Enzyme 30" }, "900 proteins, with enzymes.");
  shouldSay({ classes: "owl:Class 99, ex:Coin 300, ex:Empty 0" }, "300 coins.");
});

describe("names and plurals", () => {
  shouldSay(
    { classes: "crm:E12_Production 5100, crm:E21_Person 410, mus:M175_Music_Format 9" },
    "5,100 productions, with people and music formats.",
  );
  shouldSay(
    { classes: "ex:RoleInTime 47, ex:PlaceOfBirth 9, ex:Analysis 3" },
    "47 roles in time, with places of birth and analyses.",
  );
  shouldSay(
    {
      classes: "obo:CHEBI_24431 830, obo:GO_0008150 41",
      labels: { "obo:CHEBI_24431": "chemical compound", "obo:GO_0008150": "biological process" },
    },
    "830 chemical compounds, with biological processes.",
  );
  shouldSay({ classes: "wd:Q5 9, ex:CHEBI_24431 7, ex:RNA_molecule" }, "RNA molecules.");
  shouldSay({ classes: "ex:Woman 21, ex:Human 20, ex:Fisherman 2" }, "21 women, with humans and fishermen.");
  shouldSay(
    { classes: "ex:deputato 630, ex:votazione 41, ex:atto 9", languages: ["it"] },
    "Deputato (630), with votazione and atto.",
  );
  shouldSay({ classes: "ex:%E5%8F%A4%E5%9C%B0%E5%9B%B3 12" }, "12 古地図.");
  shouldSay({ classes: "ex:singers 12, ex:Address, ex:Taxes" }, "12 singers, with addresses and taxes.");
});

describe("what has no readable classes", () => {
  shouldSay(
    { properties: "rdf:type, ex:ref-people_id, ex:latin_commander, ex:hasDate, ex:name, ex:result" },
    "Things with people, latin commander, date and name.",
  );
  shouldSay(
    { classes: "wd:Q5 9, wd:Q6 7", properties: "wdt:P31, wdt:P17", labels: { "wdt:P17": "country" } },
    "Things with country.",
  );
  shouldSay({ classes: "wd:Q5 9, wd:Q6 7" }, "2 kinds of things with codes for names.");
  shouldSay({ classes: "wd:Q5 9", classesComplete: false }, "One kind of thing with codes for names.");
  shouldSay({ triples: 12_345, uses: ["owl", "foaf", "gn"] }, "About 12,000 triples in terms of foaf and gn.");
  shouldSay({}, undefined, { keywords: ["biology"] });
  shouldSay({ links: ["a"] }, undefined);
});

describe("oneSentence", () => {
  shouldSay(
    { classes: "ex:Coin 3", links: ["wikidata", "nomisma", "wikidata"] },
    "3 coins (numismatics, history), linked to nomisma and wikidata.",
    { keywords: ["coin", "numismatics", "history"] },
  );

  it("stays one plain sentence of at most 200 characters, whatever the names", () => {
    const name = fc.oneof(
      anyText(60),
      fc.constantFrom("x".repeat(10_000), "\u202Eevil\nName", "__proto__", "%E0%A4%A"),
    );
    const partition = fc
      .tuple(name, fc.option(fc.nat(), { nil: undefined }))
      .map(([local, value]) => classPartition(`http://x.example/${local}`, value));
    const texts = fc.option(anyText(300), { nil: undefined });
    let said = 0;
    const run = (
      classPartitions: VoidDescription["classPartitions"],
      names: readonly string[],
      [title, description, ...ends]: readonly (string | undefined)[],
    ): void => {
      const linksets = ends.flatMap((end) => (end === undefined ? [] : [link(end)]));
      const sentence = sentenceOf(descriptionOf({ classPartitions, linksets, title, description }), {
        keywords: names,
      });
      if (sentence === undefined) return;
      said++;
      expect(sentence.length).toBeLessThanOrEqual(200);
      expect(sentence).toMatch(/[.!?…]$/);
      expect(sentence).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    };
    const names = fc.array(name, { maxLength: 5 });
    const ends = fc.array(texts, { maxLength: 5 });
    fc.assert(fc.property(fc.array(partition, { maxLength: 6 }), names, ends, run), { seed: 4, numRuns: 200 });
    expect(said).toBeGreaterThan(120);
  });
});
