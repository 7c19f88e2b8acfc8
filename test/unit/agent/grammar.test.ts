import { describe, expect, it } from "vitest";
import { type GrammarRequest, sparqlGrammar } from "../../../src/agent/grammar/sparql-grammar.ts";
import { createPlanner } from "../../../src/plan/create-planner.ts";
import { parseQuery, withServiceUrls } from "../../../src/sparql/query.ts";
import { describedUnits } from "../../support/described-data.ts";
import { readGbnf, sentencesOf } from "../../support/grammar-sampler.ts";
import { descriptionTerms } from "../../support/published-questions.ts";
import { truthfulDescription } from "../../support/truthful-description.ts";
import { truthOf } from "../../support/void-truth.ts";
import { toCatalog, toEntry } from "../plan/plan-cases.ts";
import type { VoidDescription } from "../../../src/registry/descriptions.ts";

/** A graph with odd IRIs, classes that share properties, links between classes and values of all kinds. */
function descriptionOf(seed: number, classes: number): VoidDescription {
  return truthfulDescription(truthOf([...describedUnits({ seed, triples: 3_000, classes })].flat()));
}

const source = (id: string, description: VoidDescription) => ({ id, description });
const [small, large] = [descriptionOf(1, 8), descriptionOf(2, 60)];
const graph = { graph: "http://g.example/", status: "exact", record: 0 } as const;
const inGraphs: VoidDescription = { ...descriptionOf(3, 5), namedGraphs: { list: [graph], complete: true } };

const planner = createPlanner({
  catalog: toCatalog([toEntry("a"), toEntry("b")]),
  egress: "catalog",
  publicUrl: "http://fedway.example",
});

const urlOf = (id: string): string => toEntry(id).url;

/** What is wrong with a sentence; undefined when nothing is. */
function fault(sentence: string, { sources, asFederation }: GrammarRequest): string | undefined {
  const endpointId = asFederation ? undefined : sources[0]?.id;
  const { plan } = planner.plan({ text: sentence, endpointId, strict: false, defaultGraphs: [], namedGraphs: [] });
  if (plan.kind === "rejected") return `${plan.reason.code}: ${sentence}`;
  for (const { service, terms } of parseQuery(withServiceUrls(sentence, urlOf).text).usedTerms) {
    const own = sources.filter(({ id }) => !asFederation || service === urlOf(id));
    const known = new Set(own.flatMap(({ description }) => descriptionTerms(description)));
    const unknown = terms.find(({ iri }) => !known.has(iri));
    if (unknown) return `${unknown.iri} is not at ${service}: ${sentence}`;
  }
  return undefined;
}

const requests: Readonly<Record<string, GrammarRequest>> = {
  "an endpoint": { sources: [source("a", small)], asFederation: false, maxBytes: 65_536, dialect: "gbnf" },
  "a budget": { sources: [source("a", large)], asFederation: false, maxBytes: 20_000, dialect: "gbnf" },
  "named graphs": { sources: [source("a", inGraphs)], asFederation: false, maxBytes: 65_536, dialect: "gbnf" },
  "a federation": {
    sources: [source("a", small), source("b", inGraphs)],
    asFederation: true,
    maxBytes: 65_536,
    dialect: "gbnf",
  },
};

describe("the grammar of a description", () => {
  it.each(Object.entries(requests))(
    "derives only queries that are planned and name its terms: %s",
    async (_name, request) => {
      const { grammar, text } = await sparqlGrammar(request);
      const sentences = [
        ...sentencesOf(grammar.rules, { start: "query", seed: 5, count: 120 }),
        ...sentencesOf(readGbnf(text), { start: "root", seed: 6, count: 120 }),
      ];
      expect(sentences.flatMap((sentence) => fault(sentence, request) ?? [])).toEqual([]);
      for (const part of [
        "OPTIONAL",
        "UNION",
        "FILTER",
        "GROUP BY",
        "HAVING",
        "ORDER BY",
        "LIMIT",
        "NOT EXISTS",
        "ASK",
      ]) {
        expect(sentences.some((sentence) => sentence.includes(part))).toBe(true);
      }
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(request.maxBytes);
    },
  );

  it("joins members of a federation where one has the class of the other's values", async () => {
    const request: GrammarRequest = {
      ...requests["a federation"],
      sources: [source("a", small), source("b", small)],
    } as GrammarRequest;
    const sentences = [
      ...sentencesOf((await sparqlGrammar(request)).grammar.rules, { start: "query", seed: 7, count: 150 }),
    ];
    const joined = sentences.filter((sentence) =>
      /SERVICE <a>.*\?y.*SERVICE <b>.*\?y|SERVICE <b>.*\?y.*SERVICE <a>.*\?y/su.test(sentence),
    );
    expect(joined.length).toBeGreaterThan(20);
    expect(joined.flatMap((sentence) => fault(sentence, request) ?? [])).toEqual([]);
  });

  it("has the largest classes where not all fit, and says how many had no room", async () => {
    const request = { ...requests["a budget"], maxBytes: 20_000 } as GrammarRequest;
    const { text, leftOut, total } = await sparqlGrammar(request);
    expect(Buffer.byteLength(text)).toBeGreaterThan(0.9 * request.maxBytes);
    expect(leftOut).toBeGreaterThan(0);
    expect(text).toContain(`# ${leftOut} of ${total} classes and properties of classes had no room`);
    const [largest] = large.classPartitions.toSorted(
      (one, other) => (other.entities?.value ?? 0) - (one.entities?.value ?? 0),
    );
    expect(text).toContain(largest?.class.split("/").at(-1));
  });

  it("is not written over nothing", async () => {
    const nothing = { ...small, classPartitions: [], propertyPartitions: [] };
    const request = { ...requests["an endpoint"], sources: [source("a", nothing)] } as GrammarRequest;
    await expect(sparqlGrammar(request)).rejects.toMatchObject({ code: "DESCRIPTION_UNKNOWN" });
  });
});
