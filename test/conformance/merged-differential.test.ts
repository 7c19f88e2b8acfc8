import { sample } from "fast-check";
import { expect, test } from "vitest";
import { answerDifference } from "../support/canonical-answer.ts";
import {
  createMergedFederation,
  mergedAnswer,
  type MemberKind,
  type MergedFederation,
} from "../support/merged-federation.ts";
import { isInformative, isTotallyOrdered } from "../support/oracle.ts";
import { generatedCases } from "../support/query-generator.ts";
import { nTriplesAt, type GeneratedCase } from "../support/query-generator-data.ts";
import { printQuery } from "../support/query-generator-syntax.ts";
import { exactSelection } from "../support/exact-selection.ts";
import { countCase, createStatistics, printStatistics } from "../support/query-statistics.ts";
import {
  type GraphChoice,
  withGraphChoices,
  withoutAlternatives,
  withoutServices,
} from "../support/query-without-service.ts";

const seed = Number(process.env["FEDWAY_DIFFERENTIAL_SEED"] ?? 20_250_703);
const runs = Math.max(200, Number(process.env["FEDWAY_DIFFERENTIAL_CASES"] ?? 200));
const names = [0, 1, 2, 3];
const endpoints = names.map((index) => `http://m${index}.example/data`);

/** One line a kind of member: the answers over these members are those over the merge of their data. */
function shouldEqualMerge(name: string, kinds: readonly MemberKind[], cases: number, told: Told = {}): void {
  test(`${name}: ${cases} generated queries have the answers of the merged graph`, { timeout: 1_200_000 }, async () => {
    const statistics = createStatistics();
    const failures: string[] = [];
    let knows: (what: string) => boolean = () => true;
    const select = (data: readonly string[]) =>
      told.share === undefined ? undefined : exactSelection(data, { knows, prefixOf: told.prefixOf });
    const federation = createMergedFederation([], kinds, { pageSize: 5, select });
    for (const [index, value] of sample(generatedCases(), { seed, numRuns: cases }).entries()) {
      knows = (what) => hashOf(`${seed} ${index} ${what}`) % 100 < (told.share ?? 0) * 100;
      const { text, found, informative } = await compare(value, { federation, deal: told.deal });
      countCase(statistics, value.query, informative);
      if (found !== undefined) failures.push(`${text}\n${found}`);
    }
    console.log(`${name}: ${printStatistics(statistics, seed)}\n${failures.length} differences`);
    expect(failures.slice(0, 5).join("\n\n")).toBe("");
    expect(failures).toEqual([]);
    expect(statistics.cases).toBe(cases);
    expect(statistics.nonEmpty / statistics.cases).toBeGreaterThanOrEqual(0.6);
  });
}

interface Told {
  /** How much of what is true of the members the plan is told; absent: there is no selection. */
  readonly share?: number;
  readonly prefixOf?: (iri: string) => string;
  /** Data that keep each subject at one member; absent: as generated. */
  readonly deal?: (data: readonly string[]) => readonly string[];
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x81_1c_9d_c5;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01_00_01_93) >>> 0;
  return hash;
}

/** All triples of a subject at one member. */
function bySubject(data: readonly string[]): readonly string[] {
  const lines = data.flatMap((text, index) => text.replaceAll("_:", `_:m${index}x`).split("\n"));
  const dealt = data.map((): string[] => []);
  for (const line of new Set(lines)) dealt[hashOf(line.split(" ")[0] ?? "") % data.length]?.push(line);
  return dealt.map((own) => own.join("\n"));
}

const manyMembers = 12;

/** Triples over many members, some at two; those with blank nodes stay together. */
function overMany(data: readonly string[]): readonly string[] {
  const dealt = Array.from({ length: manyMembers }, (): string[] => []);
  for (const [index, text] of data.entries()) {
    for (const line of text.split("\n")) {
      const home = line.includes("_:") ? index : hashOf(line) % manyMembers;
      dealt[home]?.push(line);
      if (!line.includes("_:") && hashOf(`twice ${line}`) % 4 === 0) dealt[(home + 1) % manyMembers]?.push(line);
    }
  }
  return dealt.map((own) => own.join("\n"));
}

interface Compared {
  readonly federation: MergedFederation;
  readonly deal: Told["deal"];
}

async function compare(value: GeneratedCase, { federation, deal = (data) => data }: Compared) {
  const data = deal(names.slice(0, value.data.endpoints).map((index) => nTriplesAt(value.data, index)));
  const query = withoutServices(value.query);
  const inOrder = isTotallyOrdered(value.query);
  const text = printQuery(query, { keyword: "GRAPH", endpoints });
  const judged = printQuery(withoutAlternatives(query), { keyword: "GRAPH", endpoints });
  const expected = mergedAnswer(data, judged, inOrder);
  const informative = isInformative(query, expected);
  try {
    federation.setData(data);
    const answer = await federation.answer(text, inOrder);
    return { text, found: answerDifference(expected, answer), informative };
  } catch (error) {
    return { text, found: `failed: ${error instanceof Error ? error.stack : String(error)}`, informative };
  }
}

/**
 * The graphs of a case are dealt out over the members, as is a default graph with half of the facts; the oracle is a store with
 * the dataset that FROM and FROM NAMED describe, because Oxigraph 0.5.11 gives a triple once for each of several FROM.
 */
async function compareGraphs(value: GeneratedCase, federation: MergedFederation, key: string) {
  const { data } = value;
  const draw = (what: string, of: number): number => hashOf(`${key} ${what}`) % of;
  const members = names.slice(0, 2 + draw("members", 2));
  const quads = members.map((): string[] => []);
  const deal = (triple: string, graph: number | undefined): void => {
    const line = graph === undefined ? `${triple} .` : `${triple} <${endpoints[graph]}> .`;
    const home = draw(`home ${line}`, members.length);
    quads[home]?.push(line);
    if (draw(`twice ${line}`, 4) === 0) quads[(home + 1) % members.length]?.push(line);
  };
  for (const { subject, predicate, object, endpoints: graphs } of data.facts) {
    const triple = `${subject} ${predicate} ${object}`;
    for (const graph of graphs) deal(triple, graph);
    if (draw(`default ${triple}`, 2) === 0) deal(triple, undefined);
  }
  const existing = names.filter((name) => data.facts.some((fact) => fact.endpoints.includes(name)));
  const dataset = draw("dataset", 3) === 0 && value.query.form === "select" ? drawDataset(draw, existing) : undefined;
  const { query, spelledOut } = withGraphChoices(value.query, dataset?.named ?? existing, (index): GraphChoice => {
    const choice = draw(`choice ${index}`, 10);
    if (choice < 4) return "named";
    return choice < 6 ? "default" : { variable: `?graph${draw(`variable ${index}`, 3) % 2}` };
  });
  const inOrder = isTotallyOrdered(value.query);
  const from = dataset
    ? [
        ...dataset.merged.map((name) => `FROM <${endpoints[name]}>`),
        ...dataset.named.map((name) => `FROM NAMED <${endpoints[name]}>`),
      ].join("\n")
    : "";
  const text = printQuery(query, { keyword: "GRAPH", endpoints }).replace("\nWHERE", `\n${from}\nWHERE`);
  const judged = printQuery(withoutAlternatives(spelledOut), { keyword: "GRAPH", endpoints });
  const lines = quads.map((own) => own.join("\n"));
  const expected = mergedAnswer(dataset ? lines.map((own) => datasetOf(own, dataset)) : lines, judged, inOrder);
  try {
    federation.setData(lines);
    const found = answerDifference(expected, await federation.answer(text, inOrder));
    return { text, found, informative: isInformative(query, expected) };
  } catch (error) {
    return { text, found: `failed: ${error instanceof Error ? error.stack : String(error)}`, informative: false };
  }
}

interface DrawnDataset {
  readonly merged: readonly number[];
  readonly named: readonly number[];
}

const drawDataset = (draw: (what: string, of: number) => number, existing: readonly number[]): DrawnDataset => ({
  merged: existing.filter((name) => draw(`from ${name}`, 2) === 0),
  named: existing.filter((name) => draw(`named ${name}`, 3) > 0),
});

/** The quads of a dataset, those of its default graph without the names of their graphs. */
function datasetOf(quads: string, { merged, named }: DrawnDataset): string {
  const ends = (numbers: readonly number[]) => numbers.map((name) => ` <${endpoints[name]}> .`);
  const isIn = (line: string, numbers: readonly number[]): boolean => ends(numbers).some((end) => line.endsWith(end));
  const lines = quads.split("\n");
  const first = lines.filter((line) => isIn(line, merged)).map((line) => line.replace(/ <[^>]*> \.$/u, " ."));
  return [...first, ...lines.filter((line) => isIn(line, named))].join("\n");
}

const graphCases = Math.ceil(runs * 0.5);

test(`named graphs: ${graphCases} generated queries have the answers of the merged dataset`, {
  timeout: 3_600_000,
}, async () => {
  const statistics = createStatistics();
  const failures: string[] = [];
  const federation = createMergedFederation([]);
  for (const [index, value] of sample(generatedCases(), { seed: seed + 1, numRuns: graphCases }).entries()) {
    const { text, found, informative } = await compareGraphs(value, federation, `${seed} ${index}`);
    countCase(statistics, value.query, informative);
    if (found !== undefined) failures.push(`${index}: ${text}\n${found}`);
  }
  console.log(`named graphs: ${printStatistics(statistics, seed)}\n${failures.length} differences`);
  expect(failures.slice(0, 5).join("\n\n")).toBe("");
  expect(statistics.nonEmpty / statistics.cases).toBeGreaterThanOrEqual(0.3);
});

shouldEqualMerge("SPARQL members", ["sparql"], Math.ceil(runs * 0.6));
shouldEqualMerge("SPARQL members of which all is told", ["sparql"], Math.ceil(runs * 0.2), { share: 1 });
shouldEqualMerge("SPARQL members of which something is told", ["sparql"], Math.ceil(runs * 0.2), { share: 0.7 });
shouldEqualMerge("SPARQL members that share no subject", ["sparql"], Math.ceil(runs * 0.4), {
  share: 0.9,
  deal: bySubject,
});
// Their subjects are looked for before the rest of a star.
shouldEqualMerge("many SPARQL members", ["sparql"], Math.ceil(runs * 0.2), { deal: overMany });
shouldEqualMerge("members of all kinds of which something is told", ["sparql", "tpf"], Math.ceil(runs * 0.2), {
  share: 0.8,
  deal: bySubject,
});
shouldEqualMerge("members of all kinds", ["tpf", "sparql", "file", "tpf"], Math.ceil(runs * 0.2));
shouldEqualMerge("fragments", ["tpf"], Math.ceil(runs * 0.1));
shouldEqualMerge("files", ["file"], Math.ceil(runs * 0.1));
