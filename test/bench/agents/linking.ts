import { fileURLToPath } from "node:url";
import { createEmbedder, type Embedder } from "../../../src/embeddings/embedder.ts";
import { openLocalModel } from "../../../src/embeddings/local-model.ts";
import { loadCatalog } from "../../../src/registry/catalog/read-files.ts";
import type { Harvest } from "../../../src/registry/find/read/harvest.ts";
import { schemaGraph, textsOf } from "../../../src/registry/find/tables/schema-graph.ts";
import { describedModels } from "../../support/described-models.ts";
import { embeddingModelFolder } from "../../support/embedding-models.ts";
import { hasPublishedData } from "../../support/published-shards.ts";
import { newFolder } from "../../support/scratch-folder.ts";
import { printRows } from "../void/print-rows.ts";
import { harvestOf } from "./values.ts";
import { countTokens } from "gpt-tokenizer";
import { findEndpoints } from "../../../src/agent/tools/find-endpoints.ts";
import { irisIn } from "./iris-in.ts";
import { fixedTerms, termEndpoints } from "./linking/fixed-terms.ts";
import { tunedOn, unseen } from "./linking/other-words.ts";
import { type Described, nineEndpoints, type Question, questions, shardEndpoints } from "./linking/question-sets.ts";
import type { EndpointModel } from "../../../src/registry/model.ts";
import type { Finder } from "../../../src/registry/find.ts";

/** How well a linker does, in shares of the questions, and in means above 1. */
interface Figures {
  readonly [name: string]: number;
}

/** What a linker may use beside words and schemas. */
interface Variant {
  readonly name: string;
  readonly embedder?: Embedder | undefined;
  readonly hasValues: boolean;
}

const signal = new AbortController().signal;

/**
 * Measures how well endpoints and terms are found: the published questions over nine endpoints, and over the shipped
 * catalogue with the shards of these; names of terms as people write them. With the model folder of `FEDWAY_EMBEDDINGS`, or
 * the one that `fetch-embedding-model.sh` has fetched, by meaning too.
 */
export async function runLinkingBench({ quick }: { readonly quick: boolean }): Promise<void> {
  const embedder = openModel();
  if (embedder === undefined) process.stdout.write("There is no embedding model, so meaning is left out.\n");
  const variants: readonly Variant[] = [
    { name: "words", hasValues: false },
    { name: "words, values", hasValues: true },
    ...(embedder === undefined ? [] : [{ name: "words, meaning", embedder, hasValues: false }]),
    ...(embedder === undefined ? [] : [{ name: "all", embedder, hasValues: true }]),
  ];
  const table = new Table(variants.map(({ name }) => name));
  try {
    if (!hasPublishedData) process.stdout.write("SKIPPED: the nine datasets are not at ../shared/fkgqa.\n");
    else await measureQuestions({ embedder, variants, quick, table });
    await measureNames(variants, table);
  } finally {
    await embedder?.close();
  }
  printRows("Linking", table.rows);
}

function openModel(): Embedder | undefined {
  try {
    const { model, prefixes } = openLocalModel(process.env["FEDWAY_EMBEDDINGS"] ?? embeddingModelFolder());
    return createEmbedder(model, prefixes);
  } catch {
    return undefined;
  }
}

/** Figures in a column a variant, the last one for meaning alone. */
class Table {
  readonly rows: string[][];
  readonly #columns: readonly string[];

  constructor(names: readonly string[]) {
    this.#columns = [...names, "meaning alone"];
    this.rows = [["", ...this.#columns]];
  }

  add(title: string, figures: ReadonlyMap<string, Figures>): void {
    for (const name of new Set(figures.values().flatMap((each) => Object.keys(each)))) {
      const cells = this.#columns.map((column) => figure(figures.get(column)?.[name]));
      this.rows.push([`${title}, ${name}`, ...cells]);
    }
  }

  addTexts(title: string, texts: ReadonlyMap<string, string>): void {
    this.rows.push([title, ...this.#columns.map((column) => texts.get(column) ?? "")]);
  }
}

/** A share, or a number that is above 1. */
function figure(value = Number.NaN): string {
  if (Number.isNaN(value)) return "";
  return value > 1 ? value.toFixed(0) : `${(100 * value).toFixed(1)} %`;
}

interface Measuring {
  readonly embedder: Embedder | undefined;
  readonly variants: readonly Variant[];
  readonly quick: boolean;
  readonly table: Table;
}

async function measureQuestions({ embedder, variants, quick, table }: Measuring): Promise<void> {
  const asked = questions();
  const nine = nineEndpoints();
  const values = new Map<string, Harvest>();
  for (const { dataset, entry, description } of nine) {
    if (description !== undefined) values.set(entry.id, await harvestOf(dataset, description));
  }
  const ofNine = new Map<string, Figures>();
  const ofTerms = new Map<string, Figures>();
  const replies = new Map(shownOf(nine, asked).map((each) => [each, new Map<string, Figures>()]));
  for (const { name, embedder: model, hasValues } of variants) {
    const linker = await linkerOver(nine, { embedder: model, values: hasValues ? values : undefined });
    ofNine.set(
      name,
      await endpointFigures(linker, asked, (question) => (id) => datasetOf(nine, id) === question.dataset),
    );
    ofTerms.set(name, await termFigures(linker, nine, asked));
    for (const [set, figures] of replies) figures.set(name, await shownFigures(linker, nine, set.asked));
    await linker.close();
  }
  const plain = embedder && (await byMeaning(nine, asked, embedder));
  if (plain !== undefined) {
    ofNine.set("meaning alone", plain.endpoints);
    ofTerms.set("meaning alone", plain.terms);
  }
  table.add(`right one of nine endpoints (${asked.length} questions)`, ofNine);
  table.add(`terms of the query (${withTerms(nine, asked).length} questions)`, ofTerms);
  for (const [{ title, asked: some }, figures] of replies) table.add(`${title} (${some.length} questions)`, figures);
  if (!quick) await measureShards(variants, asked, table);
}

/** Over the shipped catalogue and the shards, which are built into `FEDWAY_BENCH_SHARDS` where that is set, and read from there. */
async function measureShards(variants: readonly Variant[], asked: readonly Question[], table: Table): Promise<void> {
  const shards = await shardEndpoints(process.env["FEDWAY_BENCH_SHARDS"] ?? newFolder());
  const folder = fileURLToPath(new URL("../../../catalog", import.meta.url));
  const shipped = await loadCatalog({ dirs: [{ path: folder }], baseUrl: "http://localhost" });
  const all = [...shards, ...shipped.entries.map((entry): Described => ({ dataset: "", entry }))];
  const figures = new Map<string, Figures>();
  for (const { name, embedder, hasValues } of variants) {
    if (hasValues) continue;
    const linker = await linkerOver(all, { embedder });
    figures.set(name, await endpointFigures(linker, asked, (question) => mostTerms(all, question)));
    await linker.close();
  }
  table.add(`one of ${all.length} endpoints that has most terms of the query`, figures);
}

async function measureNames(variants: readonly Variant[], table: Table): Promise<void> {
  const found = new Map<string, Figures>();
  const times = new Map<string, string>();
  for (const { name, embedder, hasValues } of variants) {
    if (hasValues) continue;
    const linker = await linkerOver(termEndpoints, { embedder });
    const { hit, missed, spent } = await foundTerms(linker);
    found.set(name, { "hit@3": hit });
    times.set(name, spent);
    process.stdout.write(`${name}: not found are ${missed.join(", ")}\n`);
    await linker.close();
  }
  table.add(`${fixedTerms.length} names of terms`, found);
  table.addTexts("time p50, p95", times);
}

const datasetOf = (all: readonly Described[], id: string): string | undefined =>
  all.find(({ entry }) => entry.id === id)?.dataset;

/** The endpoints that have as many of a query's terms as any one has; all of them, where one has. */
function mostTerms(all: readonly Described[], { terms }: Question): (id: string) => boolean {
  const counts = new Map(all.map((each) => [each.entry.id, terms.filter((term) => hasTerm(each, term)).length]));
  const most = Math.max(1, ...counts.values());
  return (id) => counts.get(id) === most;
}

function hasTerm({ description }: Described, { kind, iri }: Question["terms"][number]): boolean {
  if (kind === "class") return description?.classPartitions.some((each) => each.class === iri) ?? false;
  return description?.propertyPartitions.some((each) => each.property === iri) ?? false;
}

/** Questions whose query uses terms that the dataset has. */
const withTerms = (nine: readonly Described[], asked: readonly Question[]): readonly Question[] =>
  asked.filter(({ dataset, terms }) =>
    nine.some((each) => each.dataset === dataset && terms.some((term) => hasTerm(each, term))),
  );

interface Parts {
  readonly embedder?: Embedder | undefined;
  readonly values?: ReadonlyMap<string, Harvest> | undefined;
}

async function linkerOver(all: readonly Described[], { embedder, values }: Parts): Promise<Finder> {
  const entries = all.map(({ entry }) => entry);
  const known = all.flatMap(({ entry, description }) => (description ? [[entry.id, description] as const] : []));
  const { finder: linker } = describedModels({
    entries,
    descriptions: known,
    values: values ?? [],
    embedder,
    onFault: (error) => {
      throw error;
    },
  });
  await linker.settled();
  return linker;
}

async function endpointFigures(
  linker: Finder,
  asked: readonly Question[],
  rightFor: (question: Question) => (id: string) => boolean,
): Promise<Figures> {
  let [first, third] = [0, 0];
  for (const question of asked) {
    const isRight = rightFor(question);
    const { endpoints } = await linker.findEndpoints({ question: question.question, limit: 3 });
    const rank = endpoints.findIndex(({ id }) => isRight(id));
    if (rank === 0) first++;
    if (rank >= 0) third++;
  }
  return { first: first / asked.length, "in the top three": third / asked.length };
}

/** The recall of each question, and of each kind of term over all questions. */
class Recall {
  readonly #kinds = new Map<string, { found: number; all: number }>();
  readonly #shares: number[] = [];

  add(endpoint: Described, { terms }: Question, found: ReadonlySet<string>): void {
    const there = terms.filter((term) => hasTerm(endpoint, term));
    for (const { kind, iri } of there) {
      const property = endpoint.description?.propertyPartitions.find((each) => each.property === iri);
      const name =
        kind === "class" ? "classes" : property?.objectClasses.length ? "join properties" : "datatype properties";
      const counted = this.#kinds.get(name) ?? { found: 0, all: 0 };
      this.#kinds.set(name, { found: counted.found + (found.has(`${kind} ${iri}`) ? 1 : 0), all: counted.all + 1 });
    }
    this.#shares.push(there.filter(({ kind, iri }) => found.has(`${kind} ${iri}`)).length / there.length);
  }

  figures(): Figures {
    const kinds = [...this.#kinds].toSorted(([left], [right]) => (left < right ? -1 : 1));
    return {
      "recall@10": this.#shares.reduce((sum, share) => sum + share, 0) / this.#shares.length,
      ...Object.fromEntries(kinds.map(([name, { found, all }]) => [name, found / all])),
    };
  }
}

async function termFigures(linker: Finder, nine: readonly Described[], asked: readonly Question[]): Promise<Figures> {
  const recall = new Recall();
  for (const question of withTerms(nine, asked)) {
    const endpoint = nine.find(({ dataset }) => dataset === question.dataset);
    if (endpoint === undefined) throw new Error(`no endpoint for ${question.id}`);
    const { terms } = await linker.searchTerms({
      query: question.question,
      kinds: ["class", "property"],
      endpoints: [endpoint.entry.id],
      limit: 10,
    });
    recall.add(endpoint, question, new Set(terms.map(({ kind, iri }) => `${kind} ${iri}`)));
  }
  return recall.figures();
}

/** A question with the IRIs of the classes and properties that a right query needs. */
interface Shown {
  readonly dataset: string;
  readonly question: string;
  readonly terms: readonly string[];
}

/** Half of each set was not looked at while weights and thresholds were chosen. */
function shownOf(nine: readonly Described[], asked: readonly Question[]) {
  const published = asked.map(({ dataset, question, terms }): Shown => {
    const own = nine.filter((each) => each.dataset === dataset);
    const known = terms.filter((term) => own.some((each) => hasTerm(each, term)));
    return { dataset, question, terms: known.map(({ iri }) => iri) };
  });
  return [
    { title: "replies, tuned on", asked: published.filter((_, at) => at % 2 === 0) },
    { title: "replies, unseen", asked: published.filter((_, at) => at % 2 === 1) },
    { title: "in other words, tuned on", asked: tunedOn },
    { title: "in other words, unseen", asked: unseen },
  ];
}

/**
 * What a reply of `find_endpoints` has: the right dataset first, the terms, its tokens (o200k), and whether it asks for several
 * endpoints where one is enough.
 */
async function shownFigures(finder: Finder, nine: readonly Described[], asked: readonly Shown[]) {
  const tool = findEndpoints({ finder, due: { describedFirst: async () => [] } });
  let [first, shown, sets, tokens] = [0, 0, 0, 0];
  for (const { dataset, question, terms } of asked) {
    const { text, data } = await tool.call({ question }, { owner: "bench", signal, hint: (sentence) => sentence });
    const [, best = ""] = /^(\S+) \(endpoint/m.exec(text) ?? [];
    const iris = irisIn(text);
    if (datasetOf(nine, best) === dataset) first++;
    if (isSet(data)) sets++;
    shown += terms.filter((term) => iris.has(term)).length;
    tokens += countTokens(text);
  }
  const all = asked.reduce((sum, { terms }) => sum + terms.length, 0);
  return {
    first: first / asked.length,
    "terms shown": shown / all,
    "needless sets": sets / asked.length,
    "tokens a reply": tokens / asked.length,
  };
}

const isSet = ({ together }: Readonly<Record<string, unknown>>): boolean =>
  Array.isArray(together) && together.length > 1;

/** The plain way: the nearest terms of the endpoint, and the endpoint with the nearest term. */
async function byMeaning(nine: readonly Described[], asked: readonly Question[], embedder: Embedder) {
  const recall = new Recall();
  const known = nine.map(({ entry, description }): EndpointModel => {
    const descriptions = description ? [[entry.id, description] as const] : [];
    return { id: entry.id, ...describedModels({ descriptions }).models.get(entry.id), entry };
  });
  const graphs = known.map(schemaGraph);
  const vectors = await Promise.all(
    known.map((model, at) => embedder.embed(textsOf(model, graphs[at] ?? { id: "", nodes: [] }).nodes, { signal })),
  );
  const counted = new Set(withTerms(nine, asked));
  let [first, third] = [0, 0];
  for (const question of asked) {
    const [wanted = new Float32Array()] = await embedder.embed([question.question], { signal, as: "query" });
    const near = vectors.map((each) =>
      each.map((vector) => vector.reduce((sum, value, at) => sum + value * (wanted[at] ?? 0), 0)),
    );
    const best = near.map((each) => Math.max(...each));
    const place = nine.findIndex(({ dataset }) => dataset === question.dataset);
    const better = best.filter((value) => value > (best[place] ?? 0)).length;
    if (better === 0) first++;
    if (better < 3) third++;
    const [endpoint, graph, cosines = []] = [nine[place], graphs[place], near[place]];
    if (endpoint === undefined || graph === undefined || !counted.has(question)) continue;
    const nearest = graph.nodes.toSorted(
      (left, right) => (cosines[graph.nodes.indexOf(right)] ?? 0) - (cosines[graph.nodes.indexOf(left)] ?? 0),
    );
    recall.add(endpoint, question, new Set(nearest.slice(0, 10).map(({ kind, iri }) => `${kind} ${iri}`)));
  }
  return {
    endpoints: { first: first / asked.length, "in the top three": third / asked.length },
    terms: recall.figures(),
  };
}

async function foundTerms(linker: Finder) {
  const missed: string[] = [];
  const times: number[] = [];
  for (const [query, name] of fixedTerms) {
    const before = performance.now();
    const { terms } = await linker.searchTerms({ query, limit: 3 });
    times.push(performance.now() - before);
    if (!terms.some(({ iri }) => iri.endsWith(name))) missed.push(query);
  }
  const sorted = times.toSorted((left, right) => left - right);
  const at = (share: number): string => `${(sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1)} ms`;
  return { hit: 1 - missed.length / fixedTerms.length, missed, spent: `${at(0.5)}, ${at(0.95)}` };
}
