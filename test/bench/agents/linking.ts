import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createEmbedder, type Embedder } from "../../../src/embeddings/embedder.ts";
import { openLocalModel } from "../../../src/embeddings/local-model.ts";
import { createCatalog } from "../../../src/registry/catalog/index-catalog.ts";
import { loadCatalog } from "../../../src/registry/catalog/read-files.ts";
import { createLinker, type Linker } from "../../../src/registry/linking/linker.ts";
import { schemaGraph } from "../../../src/registry/linking/schema-graph.ts";
import { createSearchIndex } from "../../../src/registry/search/search-index.ts";
import { printRows } from "../void/print-rows.ts";
import { fixedTerms, termEndpoints } from "./linking/fixed-terms.ts";
import {
  type Described,
  isMissing,
  nineEndpoints,
  type Question,
  questions,
  shardEndpoints,
} from "./linking/question-sets.ts";

/** How well a linker does, in shares of the questions. */
interface Figures {
  readonly [name: string]: number;
}

const signal = new AbortController().signal;

/**
 * Measures how well endpoints and terms are found: the published questions over nine endpoints, and over the shipped
 * catalogue with the shards of these; names of terms as people write them. By words alone, by meaning alone and by both, the
 * latter with the model folder of `FEDWAY_EMBEDDINGS`.
 */
export async function runLinkingBench({ quick }: { readonly quick: boolean }): Promise<void> {
  const folder = process.env["FEDWAY_EMBEDDINGS"];
  const embedder = folder === undefined ? undefined : openFolder(folder);
  if (embedder === undefined) process.stdout.write("FEDWAY_EMBEDDINGS names no model folder: by words alone.\n");
  try {
    await measure(embedder, quick);
  } finally {
    await embedder?.close();
  }
}

function openFolder(folder: string): Embedder {
  const { model, prefixes } = openLocalModel(folder);
  return createEmbedder(model, prefixes);
}

async function measure(embedder: Embedder | undefined, quick: boolean): Promise<void> {
  const columns = ["words alone", ...(embedder === undefined ? [] : ["meaning alone", "both"])];
  const variants = embedder === undefined ? [undefined] : [undefined, embedder];
  const rows: string[][] = [];
  const add = (name: string, values: readonly (string | undefined)[]): void =>
    void rows.push([name, ...values.map((value) => value ?? "")]);
  if (isMissing) process.stdout.write("SKIPPED: the nine datasets are not at ../shared/fkgqa.\n");
  else await measureQuestions({ embedder, variants, quick, add });
  const found = [];
  for (const variant of variants) {
    const linker = await linkerOver(termEndpoints, variant);
    found.push(await foundTerms(linker));
    await linker.close();
  }
  add("99 fixed terms, hit@3", spread(found.map(({ hit }) => percent(hit))));
  add("  time p50, p95", spread(found.map(({ times }) => times)));
  printRows("Linking", [["", ...columns], ...rows]);
  process.stdout.write(`missed: ${found.map(({ missed }) => missed.join(", ")).join(" | ")}\n`);
}

/** Nothing is measured by meaning alone. */
const spread = ([words, both]: readonly (string | undefined)[]): readonly (string | undefined)[] =>
  both === undefined ? [words] : [words, undefined, both];

const percent = (share: number | undefined): string => (share === undefined ? "" : `${(100 * share).toFixed(1)} %`);

interface Measuring {
  readonly embedder: Embedder | undefined;
  readonly variants: readonly (Embedder | undefined)[];
  readonly quick: boolean;
  readonly add: (name: string, values: readonly (string | undefined)[]) => void;
}

async function measureQuestions({ embedder, variants, quick, add }: Measuring): Promise<void> {
  const asked = questions();
  const nine = nineEndpoints(false);
  const addAll = (title: string, figures: readonly (Figures | undefined)[]): void => {
    for (const name of Object.keys(figures[0] ?? {}))
      add(
        `${title}, ${name}`,
        figures.map((each) => percent(each?.[name])),
      );
  };
  const dense = embedder && (await byMeaning(nine, asked, embedder));
  const ofNine = [];
  const ofTerms = [];
  for (const variant of variants) {
    const linker = await linkerOver(nine, variant);
    ofNine.push(await endpointFigures(linker, asked, (question) => (id) => datasetOf(nine, id) === question.dataset));
    ofTerms.push(await termFigures(linker, nine, asked));
    await linker.close();
  }
  const beside = (own: readonly Figures[], other: Figures | undefined) =>
    other === undefined ? own : [own[0], other, own[1]];
  addAll(`right one of nine endpoints (${asked.length} questions)`, beside(ofNine, dense?.endpoints));
  addAll(`terms of the query (${withTerms(nine, asked).length} questions)`, beside(ofTerms, dense?.terms));
  if (quick) return;
  const shards = await shardEndpoints(
    process.env["FEDWAY_BENCH_SHARDS"] ?? join(homedir(), ".cache", "fedway", "linking-shards"),
  );
  const shipped = await loadCatalog({
    dirs: [{ path: fileURLToPath(new URL("../../../catalog", import.meta.url)) }],
    baseUrl: "http://localhost",
  });
  const many = [...shards, ...shipped.entries.map((entry): Described => ({ dataset: "", entry }))];
  const ofMany = [];
  for (const variant of variants) {
    const linker = await linkerOver(many, variant);
    ofMany.push(await endpointFigures(linker, asked, (question) => mostTerms(many, question)));
    await linker.close();
  }
  addAll(
    `shards with most terms of the query, of ${many.length} endpoints`,
    beside(ofMany, undefined).length === 1 ? ofMany : [ofMany[0], undefined, ofMany[1]],
  );
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

async function linkerOver(all: readonly Described[], embedder: Embedder | undefined): Promise<Linker> {
  const search = createSearchIndex();
  const entries = all.map(({ entry }) => entry);
  search.setEndpoints(entries);
  for (const { entry, description } of all) if (description !== undefined) search.setDescription(entry.id, description);
  const byId = new Map(all.map(({ entry, description }) => [entry.id, description]));
  const linker = createLinker({
    search,
    catalog: createCatalog(entries, [], { publicUrl: "http://localhost" }),
    descriptions: { get: async (id) => byId.get(id) },
    embedder,
    onFault: (error) => {
      throw error;
    },
  });
  await linker.settled();
  return linker;
}

async function endpointFigures(
  linker: Linker,
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

async function termFigures(linker: Linker, nine: readonly Described[], asked: readonly Question[]): Promise<Figures> {
  const recall = new Recall();
  for (const question of withTerms(nine, asked)) {
    const endpoint = nine.find(({ dataset }) => dataset === question.dataset);
    if (endpoint === undefined) throw new Error(`no endpoint for ${question.id}`);
    const { terms } = await linker.searchTerms({ query: question.question, endpoints: [endpoint.entry.id], limit: 10 });
    recall.add(endpoint, question, new Set(terms.map(({ kind, iri }) => `${kind} ${iri}`)));
  }
  return recall.figures();
}

/** The plain way: the nearest terms of the endpoint, and the endpoint with the nearest term. */
async function byMeaning(nine: readonly Described[], asked: readonly Question[], embedder: Embedder) {
  const recall = new Recall();
  const graphs = nine.map(({ entry, description }) => schemaGraph(entry, description));
  const vectors = await Promise.all(
    graphs.map(({ nodes }) =>
      embedder.embed(
        nodes.map(({ text }) => text),
        { signal },
      ),
    ),
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

async function foundTerms(linker: Linker) {
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
  return { hit: 1 - missed.length / fixedTerms.length, missed, times: `${at(0.5)}, ${at(0.95)}` };
}
