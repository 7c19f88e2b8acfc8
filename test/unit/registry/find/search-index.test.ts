import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HitKind, SearchRequest } from "../../../../src/registry/find/answers.ts";
import { describedModels } from "../../../support/described-models.ts";
import {
  classPartition,
  descriptionOf,
  propertyPartition,
  syntheticDescription,
  syntheticEntries,
} from "../../../support/synthetic-catalog.ts";
import { anyText } from "../../../support/any-text.ts";
import { catalogEntry } from "../../../support/catalog-entry.ts";
import type { CatalogEntry } from "../../../../src/registry/catalog.ts";
import type { Finder } from "../../../../src/registry/find.ts";

const entry = (id: string, parts: Partial<CatalogEntry> = {}): CatalogEntry =>
  catalogEntry(id, { url: `https://${id}.example/sparql`, ...parts });

const core = "http://purl.uniprot.org/core/";
const proteins = descriptionOf({
  classPartitions: [
    classPartition(`${core}Protein`, 320_960, [propertyPartition(`${core}encodedBy`, { triples: 5 })]),
    classPartition(`${core}Gene`, 12),
  ],
  propertyPartitions: [propertyPartition(`${core}encodedBy`, { triples: 300 })],
});
const coins = descriptionOf({
  classPartitions: [classPartition("http://nomisma.example/ontology#Coin", 7), classPartition(`${core}Protein`)],
  propertyPartitions: [propertyPartition("http://xmlns.com/foaf/0.1/name", {})],
});

const indexed = (...known: Parameters<typeof describedModels>) => {
  const { models, finder } = describedModels(...known);
  return Object.assign(finder, { models });
};

function sample() {
  const index = indexed();
  index.models.setEntries([
    entry("uniprot", { title: "UniProt", description: "Protein sequences and their function.", keywords: ["biology"] }),
    entry("coins", { title: "Münzkabinett", description: "Ancient coins.", keywords: ["museum"] }),
    entry("proteins", { title: "Other data", notes: ["Slow at night."] }),
  ]);
  index.models.setDescription("uniprot", proteins);
  index.models.setDescription("coins", coins);
  return index;
}

const found = (index: Finder, q: string, more: Partial<SearchRequest> = {}): readonly string[] =>
  index.search({ q, limit: 50, offset: 0, ...more }).hits.map(({ kind, id, iri }) => `${kind} ${id ?? iri ?? ""}`);

const shouldFindFirst = (q: string, first: string, kinds?: readonly HitKind[]) =>
  it(`finds ${first} first for ${JSON.stringify(q)}`, () => {
    expect(found(sample(), q, kinds && { kinds })[0]).toBe(first);
  });

describe("search", () => {
  shouldFindFirst("uniprot", "endpoint uniprot");
  shouldFindFirst("https://uniprot.example/sparql/", "endpoint uniprot");
  shouldFindFirst("munzkabinett", "endpoint coins");
  shouldFindFirst("Münzkabinett", "endpoint coins");
  shouldFindFirst("museum", "endpoint coins");
  shouldFindFirst("slow night", "endpoint proteins");
  shouldFindFirst("sequence", "endpoint uniprot");
  shouldFindFirst("seqeunces", "endpoint uniprot");
  shouldFindFirst("biologies", "endpoint uniprot");
  shouldFindFirst(`${core}Protein`, `class ${core}Protein`);
  shouldFindFirst(`<${core}Protein>`, `class ${core}Protein`);
  shouldFindFirst("up:Protein", `class ${core}Protein`);
  shouldFindFirst("UP:encodedBy", `property ${core}encodedBy`);
  shouldFindFirst("uniprot:Protein", `class ${core}Protein`);
  shouldFindFirst("nomisma:Coin", "class http://nomisma.example/ontology#Coin");
  shouldFindFirst("proteins", `class ${core}Protein`, ["class"]);
  shouldFindFirst("encoded by", `property ${core}encodedBy`);
  shouldFindFirst("encoded_by", `property ${core}encodedBy`);
  shouldFindFirst("encodedby", `property ${core}encodedBy`);
  shouldFindFirst("protein", `class ${core}Protein`, ["class", "property"]);
  shouldFindFirst("foaf", "property http://xmlns.com/foaf/0.1/name", ["property"]);

  it("gives nothing but the term for its IRI", () => {
    expect(found(sample(), `${core}Gene`)).toEqual([`class ${core}Gene`]);
  });

  it("tells which endpoints have a term, with counts of the whole dataset only, unknown last", () => {
    const { hits } = sample().search({ q: "up:Protein", limit: 1, offset: 0 });
    expect(hits[0]?.endpoints).toEqual([
      { id: "uniprot", count: { value: 320_960, status: "exact" } },
      { id: "coins" },
    ]);
    expect(hits[0]?.endpointsTotal).toBe(2);
    const property = sample().search({ q: "up:encodedBy", limit: 1, offset: 0 }).hits[0];
    expect(property?.endpoints).toEqual([{ id: "uniprot", count: { value: 300, status: "exact" } }]);
  });

  it("tells why", () => {
    const why = (q: string) => sample().search({ q, limit: 1, offset: 0 }).hits[0]?.why;
    expect(why("museum")).toContainEqual({ field: "keywords", term: "museum", matched: "museum" });
    expect(why("seqeunces")).toContainEqual({ field: "description", term: "seqeunces", matched: "sequences" });
    expect(why("function seque")).toContainEqual({ field: "description", term: "seque", matched: "sequences" });
    expect(why("up:Gene")?.[0]).toEqual({ field: "iri", term: "up:Gene", matched: `${core}Gene` });
  });

  it("says when nothing has all the words", () => {
    const { matched, hits } = sample().search({ q: "ancient sequences", limit: 10, offset: 0, kinds: ["endpoint"] });
    expect(matched).toBe("some");
    expect(new Set(hits.map(({ id }) => id))).toEqual(new Set(["coins", "uniprot"]));
    expect(sample().search({ q: "ancient coins", limit: 10, offset: 0 }).matched).toBe("all");
  });

  it("keeps to kinds, endpoints and pages", () => {
    const index = sample();
    expect(found(index, "protein", { kinds: ["property"] })).toEqual([]);
    expect(found(index, "coin", { endpoints: ["uniprot"] })).toEqual([]);
    expect(found(index, "protein", { endpoints: ["coins"], kinds: ["class"] })).toEqual([`class ${core}Protein`]);
    const all = found(index, "protein");
    expect(all.length).toBeGreaterThan(2);
    const pages = [0, 1, 2].flatMap((offset) => found(index, "protein", { limit: 1, offset }));
    expect(pages).toEqual(all.slice(0, 3));
  });

  it("orders ties by id whatever the order of arrival", () => {
    const twins = ["b", "a", "d", "c"].map((id) => entry(id, { title: "The same", url: "https://same.example/" }));
    const orders = [twins, twins.toReversed()].map((entries) => {
      const index = indexed();
      index.models.setEntries(entries);
      return found(index, "same");
    });
    expect(orders[0]).toEqual(["endpoint a", "endpoint b", "endpoint c", "endpoint d"]);
    expect(orders[1]).toEqual(orders[0]);
  });

  it("finds whole words only for federations", () => {
    expect(sample().endpointsMatching("ancient coins")).toEqual(["coins"]);
    expect(sample().endpointsMatching("coin")).toEqual([]);
    expect(sample().endpointsMatching("ancient sequences")).toEqual([]);
    expect(sample().endpointsMatching("Gene")).toEqual([]);
    expect(sample().endpointsMatching("")).toEqual([]);
  });
});

it("lets others have their turn in a search that finds thousands of endpoints", async () => {
  const entries = syntheticEntries(8_000);
  const index = indexed();
  index.models.setEntries(entries);
  let turns = 0;
  let isOver = false;
  const look = (): void => {
    turns += 1;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  for (let round = 0; round < 4; round += 1) {
    expect((await index.searchInTurns({ q: "dataset", limit: 20, offset: 0 })).total).toBe(8_000);
    const page = await index.filterEntriesInTurns(entries, { q: "dataset", limit: 20, offset: 0 });
    expect(page.total).toBe(8_000);
  }
  isOver = true;
  expect(turns).toBeGreaterThan(4);
});

describe("changes of the index", () => {
  it("forgets what is removed", () => {
    const index = sample();
    index.models.setDescription("uniprot", undefined);
    expect(found(index, "encodedBy")).toEqual([]);
    expect(index.search({ q: "up:Protein", limit: 1, offset: 0 }).hits[0]?.endpoints).toEqual([{ id: "coins" }]);
    index.models.remove("coins");
    expect(found(index, "up:Protein", { kinds: ["class", "property"] })).toEqual([]);
    expect(index.models.size).toEqual({ terms: 0, uses: 0 });
  });

  it("is the same as one built afresh after any changes", () => {
    const entries = syntheticEntries(12);
    const small = { classes: 4, properties: 6 };
    interface Wanted {
      readonly entry?: CatalogEntry;
      readonly how?: number;
    }
    const apply = (index: ReturnType<typeof indexed>, id: string, { entry: each, how }: Wanted): void => {
      if (each !== undefined) index.models.setEntry(each);
      if (how !== undefined) index.models.setDescription(id, syntheticDescription(how, small));
    };
    const change = fc.record({
      what: fc.constantFrom("entry", "description", "no entry", "no description"),
      which: fc.nat(11),
      how: fc.nat(5),
    });
    let described = 0;
    const run = (changes: readonly { what: string; which: number; how: number }[]): void => {
      const index = indexed();
      const wanted = new Map<string, Wanted>();
      for (const { what, which, how } of changes) {
        const id = `dataset-${which}`;
        const { entry: kept, how: known } = wanted.get(id) ?? {};
        described += known === undefined ? 0 : 1;
        const step = what === "entry" ? { entry: entry(id, { ...entries[which], title: `title ${how}` }) } : { how };
        if (what === "no entry") {
          index.models.remove(id);
          wanted.delete(id);
        } else if (what === "no description") {
          index.models.setDescription(id, undefined);
          wanted.set(id, kept === undefined ? {} : { entry: kept });
        } else {
          apply(index, id, step);
          wanted.set(id, { ...wanted.get(id), ...step });
        }
      }
      const fresh = indexed();
      for (const [id, each] of wanted) apply(fresh, id, each);
      expect(index.models.size).toEqual(fresh.models.size);
      for (const q of ["title", "title 3", "protein", "vocab2", "museums ancient", "dataset-3"]) {
        expect(index.search({ q, limit: 100, offset: 0 })).toEqual(fresh.search({ q, limit: 100, offset: 0 }));
      }
    };
    fc.assert(fc.property(fc.array(change, { minLength: 5, maxLength: 40 }), run), { numRuns: 40, seed: 7 });
    expect(described).toBeGreaterThan(20);
  });

  it("keeps to its limits and says so", () => {
    const index = indexed({ limits: { terms: 10, termsPerEndpoint: 6, uses: 12 } });
    for (const number of [0, 1, 2]) {
      index.models.setDescription(`d${number}`, syntheticDescription(number, { classes: 5, properties: 5 }));
    }
    expect(index.models.size).toMatchObject({ terms: 10, uses: 10 });
    expect(index.search({ q: "protein", limit: 1, offset: 0 }).complete).toBe(false);
    index.models.setDescription("d0", descriptionOf({}));
    expect(index.models.size).toMatchObject({ terms: 4, uses: 4 });
    expect(sample().search({ q: "protein", limit: 1, offset: 0 }).complete).toBe(true);
  });
});

describe("hostile input", () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];
  it.each(names)("takes %s for a word", (name) => {
    const index = indexed();
    index.models.setEntry(entry("x", { title: name }));
    index.models.setDescription("x", descriptionOf({ classPartitions: [classPartition(`http://x/${name}`, 3)] }));
    expect(found(index, name)).toContain("endpoint x");
    expect(found(index, `http://x/${name}`)).toEqual([`class http://x/${name}`]);
    expect(found(index, name, { kinds: ["class"] })).toEqual([`class http://x/${name}`]);
  });

  it("answers any query within bounds", () => {
    const index = sample();
    let hits = 0;
    const run = (q: string, limit: number, offset: number): void => {
      const answer = index.search({ q, limit, offset });
      hits += answer.total;
      expect(answer.hits.length).toBeLessThanOrEqual(Math.max(1, limit));
      expect(answer.words.length).toBeLessThanOrEqual(12);
    };
    const text = fc.oneof(
      anyText(40),
      fc.constantFrom(
        "*",
        "up:",
        ":Protein",
        "<>",
        "(((",
        "protein AND",
        "\u202Eprotein",
        "prot".repeat(900),
        "a:".repeat(999),
      ),
    );
    fc.assert(fc.property(text, fc.integer(), fc.integer(), run), { seed: 11, numRuns: 120 });
    expect(hits).toBeGreaterThan(20);
  });

  it("shows titles without control characters", () => {
    const index = indexed();
    const terms = [{ iri: "http://x/a", label: "evil\n\u202Elabel", status: "exists", record: 0 } as const];
    index.models.setDescription("x", descriptionOf({ classPartitions: [classPartition("http://x/a")], terms }));
    expect(index.search({ q: "label", limit: 1, offset: 0 }).hits[0]?.title).toBe("evil label");
  });
});
