import { join } from "node:path";
import { itemAt } from "../../../../src/values.ts";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { isListOf, isObject, isShape, isText } from "../../guards.ts";
import { readManifest } from "../../materialise/manifest.ts";
import { type BenchmarkPackage, openPackage, packageChecksum } from "../../package/open-package.ts";
import { openWholeStore, type WholeStore, type Opening } from "../../package/whole-store.ts";
import type { OpenStore } from "../../verify/answer-store.ts";
import { type Ablation, ablationOf } from "../ablation/ablation.ts";
import { missing, type QuestionRecord } from "../records.ts";
import { accuracyOf, noAccuracyOf } from "./accuracy.ts";
import { answerFinal, readFinal, type Targets } from "./final-query.ts";
import { type JudgedFinal, type QuestionScore, questionScore } from "./question-score.ts";
import type { Runs } from "./read-runs.ts";
import { type GroupSummary, summariesOf, toolsOf } from "./summary.ts";
import { parseQuery } from "../../../../src/sparql/query.ts";
import { type GoldAnswer, findGoldAnswer } from "../../package/gold-answer.ts";
import type { PackagedQuery } from "../../package/package-items.ts";
import { copyCount, openCopy, type ShardFolder, withoutCopies } from "../../variants/open-copy.ts";

const format = "fedway-evaluation-scores";

/** `scores.json`. The same package and the same runs give the same bytes. */
export interface Scores {
  readonly format: typeof format;
  readonly version: 1;
  readonly package: {
    readonly dataset: string;
    readonly title: string;
    readonly sha256: string;
    readonly engine: string;
  };
  /** By setup and model. */
  readonly systems: readonly SystemScores[];
  readonly ablation: Ablation;
}

/** Scores of an agent with one setup and one model. */
export interface SystemScores {
  readonly name: string;
  readonly setup: string;
  readonly groups: readonly GroupSummary[];
  /** Calls of each tool but queries, and of the model, a question. */
  readonly tools: Readonly<Record<string, number>>;
  readonly questions: readonly QuestionScore[];
}

const hasScores = isShape({
  package: isShape({ dataset: isText, title: isText, sha256: isText, engine: isText }),
  systems: isListOf(isShape({ name: isText, groups: isListOf(isObject), questions: isListOf(isObject) })),
  ablation: isShape({ forms: isListOf(isObject) }),
});

/** True for a value of `scores.json`, of this version. */
export const isScores = (value: unknown): value is Scores =>
  isObject(value) && value["format"] === format && value["version"] === 1 && hasScores(value);

interface Scoring {
  readonly openStore: OpenStore;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Scores runs over the data of their package, without a service and without a model.
 * @param readOf `readRuns` of a folder, or `readTraceRuns` of a file
 * @throws FedwayError `REQUEST_INVALID`: a package or runs that cannot be read, runs of another package; the signal's reason
 */
export async function scoreRuns(
  packageFolder: string,
  readOf: (pkg: BenchmarkPackage) => Promise<Runs>,
  scoring: Scoring,
): Promise<Scores> {
  const pkg = await openPackage(packageFolder);
  const runs = await readOf(pkg);
  const sha256 = await packageChecksum(pkg);
  refuseOtherPackage(runs, sha256);
  const { dataset, title, engine } = pkg.manifest;
  const records = withMissing(pkg, runs);
  const questions = await scoredQuestions(pkg, records, scoring);
  const systems = Map.groupBy(questions, ({ setup, model }) => `${setup}, ${model}`);
  return {
    format,
    version: 1,
    package: { dataset, title, sha256, engine: `${engine.name} ${engine.version}` },
    systems: [...systems]
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, own]) => ({
        name,
        setup: itemAt(own, 0).setup,
        groups: summariesOf(own),
        tools: toolsOf(own),
        questions: own,
      })),
    ablation: await ablationOf(pkg),
  };
}

function refuseOtherPackage({ folder, settings: { package: of } }: Runs, sha256: string): void {
  if (!isObject(of) || of["sha256"] === undefined || of["sha256"] === sha256) return;
  throw new FedwayError("REQUEST_INVALID", `The runs in ${folder} are of another package: its manifest differs.`, {
    next: "Name the package that the questions were asked from.",
  });
}

/** The records in the order of the questions; one that was to be asked and has none counts as asked without success. */
function withMissing(pkg: BenchmarkPackage, { records, settings }: Runs): readonly QuestionRecord[] {
  const { setup, model, questions: chosen } = settings;
  const wanted = new Set(Array.isArray(chosen) ? [...chosen, ...records.map(({ question }) => question)] : []);
  const questions = Array.isArray(chosen) ? pkg.questions.filter(({ id }) => wanted.has(id)) : pkg.questions;
  const name = isObject(setup) ? setup["name"] : setup;
  const described = typeof name === "string" && typeof model === "string" ? [{ setup: name, model }] : [];
  const known = records.length > 0 ? records : described;
  const systems = new Map(known.map((each) => [JSON.stringify([each.setup, each.model]), each]));
  return [...systems].flatMap(([key, system]) => {
    const own = records.filter((each) => JSON.stringify([each.setup, each.model]) === key);
    const found = new Map(own.map((record) => [JSON.stringify([record.question, record.repeat]), record]));
    const repeats = own.reduce((most, { repeat }) => Math.max(most, repeat + 1), 1);
    return questions.flatMap(({ id }) =>
      Array.from(
        { length: repeats },
        (_, repeat) => found.get(JSON.stringify([id, repeat])) ?? missingRecord(id, repeat, system),
      ),
    );
  });
}

const missingRecord = (
  question: string,
  repeat: number,
  { setup, model }: Pick<QuestionRecord, "setup" | "model">,
): QuestionRecord => ({
  question,
  setup,
  model,
  repeat,
  ...missing,
});

async function scoredQuestions(
  pkg: BenchmarkPackage,
  records: readonly QuestionRecord[],
  { openStore, signal, onProgress }: Scoring,
): Promise<readonly QuestionScore[]> {
  const urls = new Map(pkg.endpoints.map(({ id, url }) => [id, url]));
  const folder = join(pkg.folder, "build");
  const shards = {
    folder,
    manifest: await readManifest(folder),
    urlOf: (id: string) => urls.get(id) ?? id,
    queries: [...pkg.queries.values()].map(({ query }) => query),
  };
  const targets: Targets = {
    // Shards of a dataset with named graphs cannot be graphs of a store.
    shards: new Map(shards.manifest.format === "n-triples" ? pkg.endpoints.map(({ id, url }) => [url, id]) : []),
    federation: `${pkg.manifest.baseUrl}/federations/${pkg.manifest.dataset}/sparql`,
  };
  const opening = { openStore, signal };
  const asked = records.flatMap((record) => {
    const question = pkg.questions.find(({ id }) => id === record.question);
    const query = question && pkg.queries.get(question.query);
    if (question === undefined || query === undefined) return [];
    return [{ record, question, query, key: JSON.stringify([query.id, record.final]), final: record.final ?? "" }];
  });
  const judged = new Map<string, JudgedFinal>();
  const store = await openWholeStore(shards, opening);
  try {
    for (const [at, { record, query, key }] of asked.entries()) {
      if (!judged.has(key)) judged.set(key, await judge(record.final, query.answer, { store, targets, signal }));
      onProgress(at + 1, asked.length);
    }
  } finally {
    await store.close();
  }
  const right = asked.filter(({ key }) => judged.get(key)?.accuracy?.set);
  const lucky = await luckyFinals(right, { shards, targets, opening });
  return asked.map(({ record, key, ...of }) => {
    const final = judged.get(key) ?? {};
    const isLucky = final.accuracy?.set === true ? lucky?.has(key) : undefined;
    return questionScore(record, { ...final, lucky: isLucky }, { ...of, pkg, targets });
  });
}

async function judge(
  final: string | null,
  gold: NonNullable<ReturnType<BenchmarkPackage["queries"]["get"]>>["answer"],
  { store, targets, signal }: { readonly store: WholeStore; readonly targets: Targets; readonly signal: AbortSignal },
): Promise<JudgedFinal> {
  if (final === null) return { accuracy: gold && noAccuracyOf(gold) };
  const found = await answerFinal(readFinal(final, targets), { store, signal });
  if ("fault" in found) return { accuracy: gold && noAccuracyOf(gold), fault: found.fault, why: found.why };
  return { accuracy: gold && accuracyOf(gold, found) };
}

/** A final query with the gold rows. */
interface RightFinal {
  readonly key: string;
  readonly final: string;
  readonly query: PackagedQuery;
}

/**
 * Finals that are right over the data by luck: over an altered copy of it they differ from the question's query. Undefined where the
 * dataset has no copies. @throws the signal's reason, FedwayError as `openCopy`
 */
async function luckyFinals(
  finals: readonly RightFinal[],
  { shards, targets, opening }: { readonly shards: ShardFolder; readonly targets: Targets; readonly opening: Opening },
): Promise<ReadonlySet<string> | undefined> {
  if (withoutCopies(shards.manifest) !== undefined) return undefined;
  const lucky = new Set<string>();
  const distinct = new Map(finals.map((each) => [each.key, each]));
  for (let copy = 1; finals.length > 0 && copy <= copyCount; copy++) {
    const store = await openCopy(shards, copy, opening);
    try {
      const golds = new Map<string, GoldAnswer | undefined>();
      for (const { key, final, query } of distinct.values()) {
        if (!golds.has(query.id)) golds.set(query.id, await goldOf(query, { store, signal: opening.signal }));
        const gold = golds.get(query.id);
        const found = await answerFinal(readFinal(final, targets), { store, signal: opening.signal });
        // A query without an answer there shows nothing.
        if (gold !== undefined && !("fault" in found) && !accuracyOf(gold, found).set) lucky.add(key);
      }
    } finally {
      await store.close();
    }
  }
  return lucky;
}

async function goldOf(
  { query }: PackagedQuery,
  how: Parameters<typeof answerFinal>[1],
): Promise<GoldAnswer | undefined> {
  try {
    return (await findGoldAnswer(how.store, parseQuery(query))).gold;
  } catch {
    how.signal.throwIfAborted();
    return undefined;
  }
}
