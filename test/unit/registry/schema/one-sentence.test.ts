import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { oneSentence } from "../../../../src/registry/schema/one-sentence.ts";
import type { ClassPartition, FactStatus, VoidDescription } from "../../../../src/registry/void/void-description.ts";
import { classPartition, descriptionOf } from "../../../support/synthetic-catalog.ts";
import { anyText } from "../../../support/any-text.ts";

const kind = (name: string, value?: number, status: FactStatus = "exact"): ClassPartition => ({
  ...classPartition(`http://x.example/${name}`),
  ...(value !== undefined && { entities: { value, status, record: 0 } }),
});

const link = (targetEndpoint: string) => ({
  property: "http://x/p",
  targetEndpoint,
  status: "exact" as const,
  record: 0,
});

const shouldSay = (parts: Partial<VoidDescription>, text: string | undefined, keywords: readonly string[] = []) =>
  it(`says ${text ?? "nothing"}`, () => {
    expect(oneSentence(descriptionOf(parts), { keywords })).toBe(text);
  });

const kinds = (...classPartitions: readonly ClassPartition[]) => ({ classPartitions });

describe("oneSentence", () => {
  shouldSay({}, undefined, ["biology"]);
  shouldSay({ linksets: [link("a")] }, undefined);
  shouldSay({ triples: { value: 12_000, status: "exact", record: 0 } }, "Holds 12,000 triples.");
  shouldSay({ triples: { value: 5, status: "sampled", record: 0 } }, undefined);
  shouldSay(kinds(kind("Protein", 320_960), kind("Gene", 12)), "Describes 320,960 proteins and 12 genes.");
  shouldSay(
    kinds(kind("City", 7, "lowerBound"), kind("RiverBasin", 3, "claimed"), kind("Bus", 2, "sampled"), kind("Zebra", 1)),
    "Describes at least 7 cities, about 3 river basins and buses.",
  );
  shouldSay(kinds(kind("Zebra", 1), kind("SpeciesData")), "Describes 1 zebra and species data.");
  shouldSay(kinds(kind("Q5", 9), kind("CHEBI_24431", 7), kind("RNA_molecule")), "Describes RNA molecules.");
  shouldSay(kinds(kind("Q5", 9), kind("P31", 7)), "Describes 2 kinds of things.");
  shouldSay({ ...kinds(kind("Q5", 9)), classesComplete: false }, "Describes at least one kind of things.");
  shouldSay(
    kinds(classPartition("http://www.w3.org/2002/07/owl#Class", 99), kind("Coin", 3), kind("Empty", 0)),
    "Describes 3 coins.",
  );
  shouldSay(
    { ...kinds(kind("Coin", 3)), linksets: [link("wikidata"), link("nomisma"), link("wikidata")] },
    "Describes 3 coins (numismatics, history), linked to nomisma and wikidata.",
    ["numismatics", "history"],
  );
  shouldSay(
    { ...kinds(kind("Coin", 3)), namespaces: ["http://www.w3.org/2002/07/owl#", "http://xmlns.com/foaf/0.1/"] },
    "Describes 3 coins in terms of foaf.",
  );

  it("stays one plain sentence of at most 200 characters, whatever the names", () => {
    const name = fc.oneof(anyText(60), fc.constantFrom("x".repeat(10_000), "\u202Eevil\nName", "__proto__"));
    const partition = fc
      .tuple(name, fc.option(fc.nat(), { nil: undefined }))
      .map(([local, value]) => kind(local, value));
    let said = 0;
    const run = (partitions: readonly ClassPartition[], keywords: readonly string[], ends: readonly string[]): void => {
      const description = descriptionOf({ classPartitions: partitions, linksets: ends.map(link) });
      const sentence = oneSentence(description, { keywords });
      expect(sentence === undefined).toBe(partitions.length === 0);
      if (sentence === undefined) return;
      said++;
      expect(sentence.length).toBeLessThanOrEqual(200);
      expect(sentence).toMatch(/^Describes .*[.…]$/);
      expect(sentence).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    };
    const names = fc.array(name, { maxLength: 5 });
    fc.assert(fc.property(fc.array(partition, { maxLength: 6 }), names, names, run), { seed: 4, numRuns: 200 });
    expect(said).toBeGreaterThan(120);
  });
});
