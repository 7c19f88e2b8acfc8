import { sample } from "fast-check";
import { describe, expect, it } from "vitest";
import { nonMonotoneParts } from "../../src/sparql/patterns.ts";
import { parseQuery } from "../../src/sparql/query.ts";
import type { CanonicalAnswer } from "../support/canonical-answer.ts";
import { createOracle } from "../support/oracle.ts";
import { generatedCases } from "../support/query-generator.ts";
import { type GeneratedCase, nTriplesAt } from "../support/query-generator-data.ts";
import { printQuery } from "../support/query-generator-syntax.ts";

const endpoints = ["urn:x:a", "urn:x:b", "urn:x:c", "urn:x:d"];
const seed = Number(process.env["FEDWAY_DIFFERENTIAL_SEED"] ?? 20_261_124);
const runs = Number(process.env["FEDWAY_DIFFERENTIAL_CASES"] ?? 200);

function itemsOf(answer: CanonicalAnswer): ReadonlySet<string> {
  if (answer.kind === "boolean") return new Set(answer.value ? ["true"] : []);
  return new Set(answer.kind === "bindings" ? answer.rows : answer.triples);
}

/** An unordered choice of rows is no one's to compare, and blank nodes have no names. */
const isComparable = (text: string): boolean =>
  !/\bBNODE\b/i.test(text) && !/SERVICE\s+(?:SILENT\s+)?\?/.test(text) && !/\b(?:LIMIT|OFFSET)\b/.test(text);

/** The answers with all data, and with none, or every other triple, of one endpoint. */
function* answersWithout(value: GeneratedCase, missing: number): Generator<ReadonlySet<string>> {
  const query = printQuery(value.query, { keyword: "GRAPH", endpoints });
  const whole = endpoints.map((_, index) => nTriplesAt(value.data, index));
  const half = (text: string): string =>
    text
      .split("\n")
      .filter((_, line) => line % 2 === 0)
      .join("\n");
  for (const left of [(text: string) => text, () => "", half]) {
    const data = endpoints.map((url, index): [string, string] => {
      const text = whole[index] ?? "";
      return [url, index === missing ? left(text) : text];
    });
    yield itemsOf(createOracle(new Map(data)).answer(query));
  }
}

describe("a generated query that is monotone in a clause", () => {
  it("has no row that is not in the true answer where the clause's endpoint lacks data", () => {
    let compared = 0;
    let fewer = 0;
    let excepted = 0;
    for (const value of sample(generatedCases(), { seed, numRuns: runs })) {
      const text = printQuery(value.query, { keyword: "SERVICE", endpoints });
      if (!isComparable(text)) continue;
      const parts = nonMonotoneParts(parseQuery(text).ast);
      const services = new Set(Array.from(parts.services, ({ name }) => name.value));
      for (const [index, url] of endpoints.entries()) {
        if (!text.includes(`<${url}>`)) continue;
        const [all = new Set(), ...partial] = answersWithout(value, index);
        const added = partial.flatMap((rows) => [...rows].filter((row) => !all.has(row)));
        if (services.has(url)) {
          excepted += added.length > 0 ? 1 : 0;
          continue;
        }
        // SERVICE bodies that are not monotone say so by themselves, and are answered by whole endpoints.
        if (!hasMonotoneBodies(text)) continue;
        expect(added, text).toEqual([]);
        compared++;
        if (partial.some((rows) => rows.size < all.size)) fewer++;
      }
    }
    console.log(`${compared} cases compared, ${fewer} with fewer rows; rows were added in ${excepted} others`);
    expect(fewer).toBeGreaterThan(runs / 5);
    expect(excepted).toBeGreaterThan(runs / 20);
  });
});

function hasMonotoneBodies(text: string): boolean {
  const bodies = text.matchAll(/SERVICE (?:SILENT )?<[^>]*> \{/g);
  return [...bodies].length > 0 && !/NOT EXISTS|MINUS|OPTIONAL|COUNT|SUM|MIN|MAX|AVG/.test(insideServices(text));
}

/** The text inside SERVICE braces. */
function insideServices(text: string): string {
  let inside = "";
  for (const { index } of text.matchAll(/SERVICE (?:SILENT )?<[^>]*>\s*\{/g)) {
    let depth = 0;
    for (let at = text.indexOf("{", index); at < text.length; at++) {
      if (text[at] === "{") depth++;
      if (text[at] === "}") depth--;
      inside += text[at];
      if (depth === 0) break;
    }
  }
  return inside;
}
