import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { countTokens } from "gpt-tokenizer";
import oxigraph from "oxigraph";
import { skillText } from "../../../src/agent/skill.ts";
import type { ToolAnswer } from "../../../src/agent/tool.ts";
import type { Toolbox } from "../../../src/agent/toolbox.ts";
import type { JsonTerm } from "../../../src/results/json-terms.ts";
import { type PublishedQuestion, publishedData, publishedQuestions } from "../../support/published-questions.ts";
import { buildPublishedShards, hasPublishedData, publishedDatasets } from "../../support/published-shards.ts";
import { createRandom } from "../../support/random.ts";
import { type RunningService, startService } from "../../support/running-service.ts";
import { newFolder } from "../../support/scratch-folder.ts";
import { printRows } from "../void/print-rows.ts";
import { irisIn, irisOfLines, prefixesIn } from "./iris-in.ts";
import { questions } from "./linking/question-sets.ts";

/** How the agent did with one question. */
interface Outcome {
  readonly dataset: string;
  /** Of calls until all terms of the published query were read; undefined: never. */
  readonly foundAfter: number | undefined;
  readonly calls: number;
  /** Of all that the model reads: the answers of its calls. */
  readonly tokens: number;
  /** Of the published answer, those that the agent's answer has; undefined where it did not run. */
  readonly rows: { readonly gold: number; readonly got: number } | undefined;
}

/** Ranking was tuned on every third question; these are among the others. */
const heldOut = { seed: 15, questions: 60, tunedOn: 3 };

/**
 * An agent that knows nothing and follows the texts to the letter: find_endpoints, then, as the texts say, run_query with the
 * published query where all its terms were shown, else describe_endpoint first. Over the shards of the nine datasets and the
 * shipped catalogue; figures a question. Then all published queries as they are, over the federation of all that is described.
 */
export async function runLiteralBench({ quick }: { readonly quick: boolean }): Promise<void> {
  if (!hasPublishedData) return void process.stdout.write("SKIPPED: the nine datasets are not at ../shared/fkgqa.\n");
  const service = await startService(
    {},
    {
      FEDWAY_SHARDS: (await shardFolders()).join(","),
      FEDWAY_CATALOG: fileURLToPath(new URL("../../../catalog", import.meta.url)),
    },
  );
  try {
    const box = service.app.toolbox("full");
    for (let waits = 0; !(await allDescribed(box)); waits++) {
      if (waits === 600) throw new Error("the shards were not described within five minutes");
      await sleep(500);
    }
    const terms = new Map(questions().map((question) => [question.id, question.terms.map(({ iri }) => iri)]));
    const others = publishedQuestions().filter((_, at) => at % heldOut.tunedOn !== 0);
    const random = createRandom(heldOut.seed);
    const chosen = new Set<PublishedQuestion>();
    while (chosen.size < (quick ? 12 : heldOut.questions)) chosen.add(random.pick(others));
    const asked = [...chosen];
    const outcomes: Outcome[] = [];
    const missed: string[] = [];
    for (const question of asked) {
      const agent = new LiteralAgent(box, question, terms.get(question.id) ?? []);
      const outcome = await agent.answer();
      outcomes.push(outcome);
      if (outcome.foundAfter === undefined) missed.push(`${question.id} lacks ${agent.missing().join(" ")}`);
      else if (outcome.rows && outcome.rows.got < outcome.rows.gold)
        missed.push(`${question.id} ${JSON.stringify(outcome.rows)}`);
    }
    process.stdout.write(missed.map((line) => `${line}\n`).join(""));
    print(outcomes, box);
    await runGoldQueries(service, quick);
  } finally {
    await service.close();
  }
}

/** Each distinct published query, unchanged and without SERVICE, beside the dataset that it is of. */
async function runGoldQueries(service: RunningService, quick: boolean): Promise<void> {
  const rows = [["gold queries", "asked", "right", "median ms", "longest ms"]];
  const shards = service.app.catalog.entries.filter(({ keywords }) => keywords.includes("shard")).length;
  for (const dataset of publishedDatasets) {
    const own = publishedQuestions().filter((each) => each.dataset === dataset);
    const distinct = own.filter(({ sparql }, at) => own.findIndex((other) => other.sparql === sparql) === at);
    const times: number[] = [];
    let right = 0;
    for (const question of distinct.filter((_, at) => !quick || at % 10 === 0)) {
      const startedMs = performance.now();
      const response = await service.query(question.sparql, { path: "/federations/catalog/sparql" });
      const text = await response.text();
      times.push(performance.now() - startedMs);
      const got = response.ok ? rowsOf(text) : undefined;
      if (isRight(question, got)) right++;
      else process.stdout.write(`${question.id}: ${got?.length ?? text.slice(0, 200)} rows for ${question.rows}\n`);
    }
    const sorted = times.toSorted((one, other) => one - other).map((ms) => ms.toFixed(0));
    rows.push([dataset, String(times.length), String(right), sorted[sorted.length >> 1] ?? "", sorted.at(-1) ?? ""]);
  }
  printRows(`Gold queries over one federation of ${shards} shards`, rows);
}

/** Where the rows are a choice among rows of equal rank, or sums depend on their order, their number is compared. */
function isRight(question: PublishedQuestion, got: readonly string[] | undefined): boolean {
  const { dataset, sparql, rows, rewritten, unstable } = question;
  if (rewritten === true || unstable === true || /\blimit\b/i.test(sparql)) return got?.length === rows;
  return got?.toSorted().join("\n") === goldOf(wholeOf(dataset), sparql).toSorted().join("\n");
}

/** Built into `FEDWAY_BENCH_SHARDS` where that is set, and read from there. */
async function shardFolders(): Promise<readonly string[]> {
  const root = process.env["FEDWAY_BENCH_SHARDS"] ?? newFolder();
  for (const dataset of publishedDatasets) {
    const output = join(root, dataset);
    if (!existsSync(join(output, "manifest.json"))) await buildPublishedShards(dataset, { mode: "balanced", output });
  }
  return publishedDatasets.map((dataset) => join(root, dataset));
}

const caller = { signal: new AbortController().signal, owner: "bench" };

async function allDescribed(box: Toolbox): Promise<boolean> {
  for (const endpoint of publishedDatasets) {
    const { text } = await box.call("describe_endpoint", { endpoint }, caller);
    const [, all, known] = /federation of (\d+) endpoints, (\d+) described/.exec(text) ?? [];
    if (all === undefined || all !== known) return false;
  }
  return true;
}

const wholes = new Map<string, oxigraph.Store>();

/** The dataset in one store. */
function wholeOf(dataset: string): oxigraph.Store {
  const store = wholes.get(dataset) ?? new oxigraph.Store();
  if (!wholes.has(dataset)) store.load(publishedData(dataset), { format: "application/n-triples" });
  wholes.set(dataset, store);
  return store;
}

class LiteralAgent {
  readonly #box: Toolbox;
  readonly #question: PublishedQuestion;
  readonly #terms: readonly string[];
  readonly #read = new Set<string>();
  #calls = 0;
  #tokens = 0;

  constructor(box: Toolbox, question: PublishedQuestion, terms: readonly string[]) {
    this.#box = box;
    this.#question = question;
    this.#terms = terms;
  }

  missing(): readonly string[] {
    return this.#terms.filter((iri) => !this.#read.has(iri));
  }

  async answer(): Promise<Outcome> {
    const { question, dataset } = this.#question;
    const found = await this.#call("find_endpoints", { question });
    const hits = hitsIn(found.text);
    let place = hits.find(({ iris }) => this.#terms.every((iri) => iris.has(iri)))?.id;
    let foundAfter = place === undefined ? undefined : this.#calls;
    const [best] = hits;
    for (const { iris } of hits) for (const iri of iris) this.#read.add(iri);
    if (place === undefined && best !== undefined) {
      const schema = await this.#call("describe_endpoint", { endpoint: best.id });
      for (const iri of irisIn(schema.text)) this.#read.add(iri);
      if (this.missing().length === 0) [place, foundAfter] = [best.id, this.#calls];
    }
    const rows = place === undefined ? undefined : await this.#run(place);
    return { dataset, foundAfter, calls: this.#calls, tokens: this.#tokens, rows };
  }

  async #call(name: string, given: object): Promise<ToolAnswer> {
    const answer = await this.#box.call(name, given, caller);
    this.#calls++;
    this.#tokens += countTokens(answer.text);
    return answer;
  }

  async #run(endpoint: string): Promise<Outcome["rows"]> {
    const { dataset, sparql, rows: goldRows, rewritten, unstable } = this.#question;
    const { text, data } = await this.#call("run_query", { query: sparql, endpoint });
    if (data["status"] === "failed") process.stdout.write(`${this.#question.id}: ${text}\n`);
    if (rewritten === true || unstable === true || /\blimit\b/i.test(sparql)) {
      const total = typeof data["rows_total"] === "number" ? data["rows_total"] : 0;
      return { gold: goldRows, got: Math.min(goldRows, total) };
    }
    const gold = goldOf(wholeOf(dataset), sparql);
    const got = await this.#allRows(sparql, endpoint);
    return { gold: gold.length, got: shared(gold, got) };
  }

  /** Not counted: the same answer as before, whole. */
  async #allRows(query: string, endpoint: string): Promise<readonly string[]> {
    const rows: string[] = [];
    let given: object = { query, endpoint, format: "json", max_rows: 500 };
    for (let pages = 0; pages < 100; pages++) {
      const { data } = await this.#box.call("run_query", given, caller);
      const page = (data["rows"] ?? []) as readonly Readonly<Record<string, JsonTerm>>[];
      const columns = (data["columns"] ?? []) as readonly string[];
      rows.push(...page.map((row) => columns.map((name) => comparable(row[name])).join(" | ")));
      if (typeof data["next_cursor"] !== "string") break;
      given = { cursor: data["next_cursor"], format: "json", max_rows: 500 };
    }
    return rows;
  }
}

/** The hits of an answer, each with the IRIs that stand under it. */
function hitsIn(text: string): readonly { readonly id: string; readonly iris: ReadonlySet<string> }[] {
  const hits: { id: string; iris: Set<string> }[] = [];
  const prefixes = prefixesIn(text);
  for (const line of text.split("\n")) {
    const [, id] = /^(\S+) \((?:endpoint|federation)/.exec(line) ?? [];
    if (id !== undefined) hits.push({ id, iris: new Set() });
    else if (line.startsWith("  ")) for (const iri of irisOfLines(line, prefixes)) hits.at(-1)?.iris.add(iri);
  }
  return hits;
}

const goldOf = (store: oxigraph.Store, sparql: string): readonly string[] =>
  rowsOf(store.query(sparql, { results_format: "json" }) as unknown as string);

/** The rows of SPARQL results as JSON. */
function rowsOf(json: string): readonly string[] {
  const { head, results } = JSON.parse(json) as {
    readonly head: { readonly vars: readonly string[] };
    readonly results: { readonly bindings: readonly Readonly<Record<string, { type: string; value: string }>>[] };
  };
  return results.bindings.map((row) =>
    head.vars.map((name) => (row[name] === undefined ? "" : valueOf(row[name].value))).join(" | "),
  );
}

/** Sums of floating-point numbers depend on their order in the last digits. */
const valueOf = (text: string): string =>
  text !== "" && Number.isFinite(Number(text)) ? Number(text).toPrecision(12) : text;

const comparable = (term: JsonTerm = ""): string =>
  valueOf(String(typeof term === "object" ? Object.values(term)[0] : term));

function shared(gold: readonly string[], got: readonly string[]): number {
  const left = new Map<string, number>();
  for (const row of got) left.set(row, (left.get(row) ?? 0) + 1);
  return gold.filter((row) => {
    const count = left.get(row) ?? 0;
    left.set(row, count - 1);
    return count > 0;
  }).length;
}

function print(outcomes: readonly Outcome[], box: Toolbox): void {
  const rows = [["", "questions", "terms in find", "after describe", "calls", "tokens", "most tokens", "gold rows"]];
  for (const dataset of [...publishedDatasets, "all"]) {
    const own = outcomes.filter((each) => dataset === "all" || each.dataset === dataset);
    const share = (count: number, of = own.length): string => `${((100 * count) / Math.max(1, of)).toFixed(1)} %`;
    const sum = (of: (each: Outcome) => number): number => own.reduce((all, each) => all + of(each), 0);
    rows.push([
      dataset,
      String(own.length),
      share(own.filter(({ foundAfter }) => foundAfter === 1).length),
      share(own.filter(({ foundAfter }) => foundAfter !== undefined).length),
      (sum(({ calls }) => calls) / own.length).toFixed(2),
      (sum(({ tokens }) => tokens) / own.length).toFixed(0),
      String(Math.max(...own.map(({ tokens }) => tokens))),
      share(
        sum((each) => (each.rows === undefined ? 0 : each.rows.gold === 0 ? 1 : each.rows.got / each.rows.gold)),
        own.filter((each) => each.rows !== undefined).length,
      ),
    ]);
  }
  printRows("A literal agent", rows);
  const listed = box.tools.map(({ name, description, input }) => ({ name, description, parameters: input }));
  const once = countTokens(JSON.stringify(listed)) + countTokens(skillText(box.hint));
  process.stdout.write(`Once a conversation: ${once} tokens of tools and instructions.\n`);
}
