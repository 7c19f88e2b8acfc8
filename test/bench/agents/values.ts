import type * as RDF from "@rdfjs/types";
import { systemClock } from "../../../src/clock.ts";
import { createSparqlClient } from "../../../src/outbound/client.ts";
import { xsd } from "../../../src/rdf/vocabularies.ts";
import type { Harvest } from "../../../src/registry/find/read/harvest.ts";
import { createHarvester } from "../../../src/registry/find/read/harvester.ts";
import { createValueIndex } from "../../../src/registry/find/tables/value-index.ts";
import { parseQuery } from "../../../src/sparql/query.ts";
import { publishedData, publishedQuestions, publishedSources } from "../../support/published-questions.ts";
import { sparqlAsker } from "../../support/sparql-asker.ts";
import { startSparqlTestServer } from "../../support/sparql-test-server.ts";
import { printRows } from "../void/print-rows.ts";
import { schemaView } from "../../../src/registry/schema.ts";

const budget = 2_000;
const hits = 10;

/**
 * Measures how many text literals of the published queries an agent gets to see, and how well misspelt labels are found.
 * @throws Error when a view breaks its budget
 */
export async function runValuesBench({ quick }: { readonly quick: boolean }): Promise<void> {
  await measureLiterals();
  await measureMisspelt(quick ? 100 : 300);
}

async function measureLiterals(): Promise<void> {
  const index = createValueIndex();
  const sources = publishedSources();
  const rows = [["dataset", "triples", "requests", "ms", "rows", "KB stored"]];
  for (const { id, description } of sources) {
    const harvest = await harvestOf(id, description);
    index.set(id, harvest);
    const { requests, ms } = harvest.cost;
    const bytes = JSON.stringify(harvest).length;
    const figures = [
      description.triples?.value,
      requests,
      Math.round(ms),
      harvest.rows.length,
      Math.round(bytes / 1000),
    ];
    rows.push([id, ...figures.map(String)]);
  }
  printRows("Harvests of the nine datasets", rows);
  const shown = new Map(sources.map(({ id, description }) => [id, valuesInView(index.examples(id), description)]));
  const found = { literals: 0, view: 0, search: 0, searchAll: 0, either: 0, queries: 0, wholeQueries: 0 };
  const times: number[] = [];
  for (const { dataset, question, sparql } of publishedQuestions()) {
    const literals = textLiterals(sparql);
    if (literals.length === 0) continue;
    const began = performance.now();
    const own = await index.find({ texts: [question], endpoints: [dataset], limit: hits });
    times.push(performance.now() - began);
    const all = await index.find({ texts: [question], limit: hits });
    const inView = literals.filter((literal) => shown.get(dataset)?.has(literal));
    const inSearch = literals.filter((literal) => own.some(({ label }) => label === literal));
    const seen = new Set([...inView, ...inSearch]).size;
    found.literals += literals.length;
    found.view += inView.length;
    found.search += inSearch.length;
    found.searchAll += literals.filter((literal) => all.some(({ label }) => label === literal)).length;
    found.either += seen;
    found.queries += 1;
    if (seen === literals.length) found.wholeQueries += 1;
  }
  const share = (count: number): string => `${((100 * count) / found.literals).toFixed(1)} %`;
  printRows(`${found.literals} text literals of ${found.queries} published queries`, [
    ["visible", "share", "aim"],
    [`in the schema view of ${budget} tokens`, share(found.view), ""],
    [`in the first ${hits} hits of the question`, share(found.search), ""],
    ["the same over all nine endpoints", share(found.searchAll), ""],
    ["in the view or in the hits", share(found.either), "80 %"],
    ["queries with all of theirs", `${((100 * found.wholeQueries) / found.queries).toFixed(1)} %`, ""],
    ["search, p95", `${percentile(times, 0.95).toFixed(1)} ms`, ""],
  ]);
}

type Description = ReturnType<typeof publishedSources>[number]["description"];

/** What is read of the names and values of a published dataset. */
export async function harvestOf(id: string, description: Description): Promise<Harvest> {
  const server = await startSparqlTestServer(publishedData(id));
  const client = createSparqlClient({
    version: "bench",
    allowAddresses: ["127.0.0.0/8"],
    clock: systemClock,
    random: Math.random,
  });
  try {
    const asker = sparqlAsker({ client, clock: systemClock });
    return await createHarvester({ asker, clock: systemClock, pauseMs: 0 }).harvest(
      { endpoint: { url: server.url }, description },
      { signal: new AbortController().signal },
    );
  } finally {
    await client.close();
    await server.close();
  }
}

function valuesInView(
  examples: NonNullable<Parameters<typeof schemaView>[1]["examples"]>,
  description: Description,
): ReadonlySet<string> {
  const { json, estimatedTokens } = schemaView(description, { detail: "lines", maxTokens: budget, examples });
  if (estimatedTokens > budget) throw new Error(`a view of ${estimatedTokens} tokens`);
  return new Set(json.examples?.flatMap(({ values }) => values));
}

/** Texts with a letter in them, each once. */
function textLiterals(sparql: string): readonly string[] {
  const found = new Set<string>();
  const visit = (part: unknown): void => {
    if (typeof part !== "object" || part === null) return;
    if (isLiteral(part)) {
      const isText = part.datatype.value === xsd.string || part.language !== "";
      if (isText && /\p{L}/u.test(part.value)) found.add(part.value);
    } else for (const inner of Object.values(part)) visit(inner);
  };
  visit(parseQuery(sparql));
  return [...found];
}

const isLiteral = (part: object): part is RDF.Literal => "termType" in part && part.termType === "Literal";

const labelCount = 200_000;
const syllables =
  "ba be ca co da di do fa ga go ha ho ja ka ki la le li lo ma me mi mo na ne no pa pe po ra re ri ro sa se si so ta te ti to tu va ve vi vo wa za an en in on er ar or el".split(
    " ",
  );

/** Names of one to three words from a vocabulary of 20,000, some of them frequent. */
async function measureMisspelt(count: number): Promise<void> {
  const random = seeded(42);
  const among = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const words = Array.from({ length: 20_000 }, () =>
    Array.from({ length: 2 + Math.floor(random() * 3) }, () => among(syllables)).join(""),
  );
  const word = (): string => {
    const plain = accented(words[Math.floor(random() ** 2 * words.length)] ?? "", random);
    return plain.charAt(0).toUpperCase() + plain.slice(1);
  };
  const labels = Array.from({ length: labelCount }, () =>
    Array.from({ length: 1 + Math.floor(random() * 3) }, word).join(" "),
  );
  globalThis.gc?.();
  const before = process.memoryUsage();
  const began = performance.now();
  // An endpoint keeps 50,000.
  const index = createValueIndex();
  for (let part = 0; part < 4; part += 1)
    index.set(`e${part}`, harvestOfLabels(labels.slice(part * 50_000, (part + 1) * 50_000)));
  const made = performance.now() - began;
  globalThis.gc?.();
  const after = process.memoryUsage();
  const times: number[] = [];
  const rows: string[][] = [];
  for (const { name, altered, aim } of alterations) {
    let [first, third] = [0, 0];
    for (let asked = 0; asked < count; asked += 1) {
      const label = among(labels);
      const started = performance.now();
      const best = await index.find({ texts: [altered(label, random)], limit: 3 });
      times.push(performance.now() - started);
      // Equal labels are one: which of them is meant no text says.
      const place = best.findIndex((hit) => hit.label === label);
      if (place === 0) first += 1;
      if (place >= 0) third += 1;
    }
    const share = (hitsOf: number): string => `${((100 * hitsOf) / count).toFixed(1)} %`;
    rows.push([`${name}, hit@1`, share(first), aim], [`${name}, hit@3`, share(third), ""]);
  }
  const grown = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
  printRows(`${count} labels of each kind among ${labelCount}`, [
    ["figure", "value", "aim"],
    ...rows,
    ["p50", `${percentile(times, 0.5).toFixed(1)} ms`, ""],
    ["p95", `${percentile(times, 0.95).toFixed(1)} ms`, "100 ms"],
    ["made in", `${made.toFixed(0)} ms`, ""],
    [
      "memory beside the labels",
      `${(grown / 1e6).toFixed(0)} MB${globalThis.gc ? "" : " (without --expose-gc: not exact)"}`,
      "",
    ],
  ]);
}

/** Ways in which people write a label that they have seen. */
const alterations: readonly {
  readonly name: string;
  readonly altered: (label: string, random: () => number) => string;
  readonly aim: string;
}[] = [
  { name: "as it stands", altered: (label) => label, aim: "95 %" },
  { name: "one or two errors", altered: misspelt, aim: "85 %" },
  { name: "words in another order", altered: (label) => label.split(" ").toReversed().join(" "), aim: "85 %" },
  {
    name: "small letters without accents",
    altered: (label) => label.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase(),
    aim: "85 %",
  },
];

/** A fifth of the words has an accent. */
function accented(word: string, random: () => number): string {
  const accents: Readonly<Record<string, string>> = { a: "á", e: "é", o: "ö", u: "ü", n: "ñ", c: "ç" };
  return random() < 0.8 ? word : word.replace(/[aeounc]/, (letter) => accents[letter] ?? letter);
}

function harvestOfLabels(labels: readonly string[]): Harvest {
  const at = new Date(0).toISOString();
  return {
    endpoint: "http://labels.example/sparql",
    describedAt: at,
    harvestedAt: at,
    complete: true,
    classes: ["http://labels.example/Thing"],
    properties: ["http://www.w3.org/2000/01/rdf-schema#label"],
    rows: labels.map((label, place) => [`http://labels.example/${place}`, JSON.stringify(label), 0, 0, 1]),
    whole: [],
    cost: { requests: 0, bytes: 0, ms: 0 },
  };
}

/** One error, two in texts of more than ten letters: another letter, one too few, one too many, two in the wrong order. */
function misspelt(label: string, random: () => number): string {
  let text = label;
  for (let errors = label.length > 10 ? 2 : 1; errors > 0; errors -= 1) {
    const at = Math.floor(random() * text.length);
    const letter = String.fromCharCode(97 + Math.floor(random() * 26));
    const [head, tail] = [text.slice(0, at), text.slice(at)];
    const made = [
      head + letter + tail.slice(1),
      head + tail.slice(1),
      head + letter + tail,
      head + tail.slice(1, 2) + tail.slice(0, 1) + tail.slice(2),
    ];
    text = made[Math.floor(random() * made.length)] ?? text;
  }
  return text;
}

/** Numbers from 0 to 1 that are the same each time. */
function seeded(start: number): () => number {
  let state = start;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const percentile = (times: readonly number[], share: number): number =>
  times.toSorted((left, right) => left - right)[Math.floor(times.length * share)] ?? 0;
