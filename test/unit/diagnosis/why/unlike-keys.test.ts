import { describe, expect, it } from "vitest";
import { unlikeKeys, unlikeText } from "../../../../src/diagnosis/why/unlike-keys.ts";
import type { HarvestRow } from "../../../../src/registry/find/read/harvest.ts";
import { catalogEntry } from "../../../support/catalog-entry.ts";
import { describedModels } from "../../../support/described-models.ts";
import { PrefixTable } from "../../../../src/registry/schema.ts";

const ex = "http://ex.example/ns#";

/** Literals of `ex:code`, or things of `ex:Country` where they are IRIs. */
function harvestOf(endpoint: string, terms: readonly string[], property = "code") {
  const rows = terms.map((term): HarvestRow => {
    const isIri = term.startsWith("http");
    return [isIri ? term : "", isIri ? '"a name"' : term, isIri ? 0 : -1, 0, 1];
  });
  const at = "2026-01-01T00:00:00Z";
  return {
    endpoint: `http://${endpoint}.example/sparql`,
    describedAt: at,
    harvestedAt: at,
    complete: true,
    classes: [`${ex}Country`],
    properties: [`${ex}${property}`],
    rows,
    whole: [],
    cost: { requests: 1, bytes: 1, ms: 1 },
  };
}

const names = ["QA1", "QB2", "QC3", "QD4", "QE5", "QF6", "QG7"];
const each = (make: (name: string, at: number) => string): readonly string[] => names.map(make);
const codes = each((name) => `"${name}"`);

function said(here: readonly string[], there: readonly string[], property?: string): string {
  const entries = [catalogEntry("here"), catalogEntry("there")];
  const read = [
    ["here", harvestOf("here", here)],
    ["there", harvestOf("there", there, property)],
  ] as const;
  return unlikeKeys(describedModels({ entries, values: read }).finder, "here")
    .map((join) => unlikeText(join, new PrefixTable([`${ex}code`])))
    .join();
}

describe("unlike keys of two endpoints, with what makes them one", () => {
  it.each<[string, readonly string[], readonly string[], string]>([
    [
      "a literal and an IRI",
      codes,
      each((name) => `http://id.example/c/${name}`),
      'node), bind IRI(CONCAT("http://id.example/c/", STR(?here)))',
    ],
    ["an IRI and a literal", each((name) => `http://id.example/c/${name}`), codes, "STRAFTER(STR(?here)"],
    ["a beginning", each((name) => `"iso:${name}"`), codes, "STRAFTER(STR(?here)"],
    [
      "the scheme",
      each((name) => `http://id.example/c/${name}`),
      each((name) => `https://id.example/c/${name}`),
      "scheme",
    ],
    [
      "the namespace",
      each((name) => `http://id.example/c/${name}`),
      each((name) => `http://b.example/k#${name}`),
      "namespace",
    ],
    ["a version", each((name) => `"${name}.2"`), codes, "version"],
    ["padding", each((_, at) => `"A-00${at}1"`), each((_, at) => `"A-${at}1"`), "padding"],
    ["case", each((name) => `"${name.toLowerCase()}"`), codes, "case"],
    ["a language", each((name) => `"${name}"@en`), codes, "language"],
    ["a datatype", each((name) => `"${name}"^^<http://ex.example/code>`), codes, "datatype"],
  ])("%s", (_, here, there, text) => {
    const line = said(here, there);
    expect(line).toContain("joins with: there on ");
    expect(line).toContain("7 known values match");
    expect(line).toContain(text);
  });
  it.each<[string, readonly string[], readonly string[], string | undefined]>([
    ["alike", codes, codes, undefined],
    ["few", codes.slice(0, 4), each((name) => `http://id.example/c/${name}`).slice(0, 4), undefined],
    ["numbers of other things", each((_, at) => `"${at + 1}"`), each((_, at) => `"00${at + 1}"`), "other"],
    ["other keys", codes, each((name) => `http://id.example/c/${name}x`), undefined],
  ])("says nothing of keys that are %s", (_, here, there, property) => {
    expect(said(here, there, property)).toBe("");
  });
  it("says it of numbers of one property", () => {
    expect(
      said(
        each((_, at) => `"00${at + 1}"`),
        each((_, at) => `"${at + 1}"`),
      ),
    ).toContain("padding");
  });
});
