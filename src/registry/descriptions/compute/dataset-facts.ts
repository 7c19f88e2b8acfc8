import type { Reason, Task } from "./todo.ts";
import { distrustDistinct } from "./probing.ts";
import { bestTexts, iriOf, isWritable, languageOf, namespaceOf, textProperties } from "../values.ts";
import { distinctNodesQueries, languagesQuery, subjectsQuery, termTextsQuery } from "./queries.ts";
import { ask, askCount, isCutFor, keepTotal, type Run } from "./run.ts";
import { keepNodes } from "./verdicts.ts";
import type { FactBase } from "./fact-base.ts";

const sampleSize = 1000;
export const mostLanguages = 1000;
export const mostNamespaces = 500;

/** Counts of nodes (T3), languages and namespaces (T4). */
export async function computeDatasetFacts(run: Run): Promise<void> {
  await countNodes(run, "distinct subjects", "s");
  await countNodes(run, "distinct objects", "o");
  await findLanguages(run);
  await findNamespaces(run);
}

/** SPORTAL QB4 and QB5. */
async function countNodes(run: Run, task: Task, variable: "s" | "o"): Promise<void> {
  if (!run.todo.isOpen(task)) return;
  if (run.dialect.count) await countByShapes(run, task, variable);
  else run.todo.close(task, { why: "refused" });
}

/** By two shapes of the query; without COUNT(DISTINCT) there is no second way. */
async function countByShapes(run: Run, task: Task, variable: "s" | "o"): Promise<void> {
  const { todo, dialect } = run;
  const name = variable === "s" ? "distinctSubjects" : "distinctObjects";
  const [first, second] = distinctNodesQueries(variable, dialect);
  const one = dialect.countDistinct ? await askCount(run, first) : undefined;
  if (one !== undefined && one.value === undefined) {
    keepAtLeast(run, name);
    todo.close(task, { why: one.why ?? "failed", record: one.record });
    return;
  }
  const other = await askCount(run, second);
  const verdict = keepNodes(run, name, { one, other });
  if (verdict === "contradicts") {
    // Nothing that was counted by the first shape is used any more.
    distrustDistinct(run, one?.record ?? other.record);
    await countByShapes(run, task, variable);
    return;
  }
  const why = one === undefined ? (other.why ?? "refused") : "partial";
  todo.close(task, verdict === "agrees" ? undefined : { why, record: other.record });
}

/** No fewer nodes than any property has. */
function keepAtLeast(run: Run, name: "distinctSubjects" | "distinctObjects"): void {
  for (const property of run.base.properties.values()) {
    const count = property[name];
    if (count) keepTotal(run, name, { ...count, status: "lowerBound" });
  }
}

async function findLanguages(run: Run): Promise<void> {
  const { todo, base } = run;
  if (!todo.isOpen("languages")) return;
  const lacking = await askLanguages(run);
  if (lacking && base.languages.size === 0) await askLanguages(run, 10 * sampleSize);
  todo.close("languages", lacking);
}

/** Takes in the languages of all literals, or of some; gives back why they may not be all. */
async function askLanguages(run: Run, limit?: number): Promise<Reason | undefined> {
  const level = limit === undefined ? 1 : 2;
  const outcome = await ask(run, { query: languagesQuery(run.dialect, limit), level });
  if (!outcome.ok) return { why: outcome.why, record: outcome.record };
  const { languages } = run.base;
  const whole = outcome.sound && !(await isCutFor(run, outcome.answer.rows.length));
  // What only the publisher named is gone.
  if (whole && limit === undefined) languages.clear();
  for (const row of outcome.answer.rows) {
    const tag = languageOf(row.get("l"));
    if (tag !== undefined && languages.size < mostLanguages) languages.add(tag);
  }
  return whole ? undefined : { why: "partial", record: outcome.record };
}

/** Namespaces of a sample of subjects: those of classes and properties are shared by data sets that have no thing in common. */
async function findNamespaces(run: Run): Promise<void> {
  const { todo, base } = run;
  if (!todo.isOpen("namespaces")) return;
  const outcome = await ask(run, { query: subjectsQuery(run.dialect, sampleSize), level: 2 });
  for (const row of outcome.ok ? outcome.answer.rows : []) {
    const iri = iriOf(row.get("s"));
    const namespace = iri && namespaceOf(iri);
    if (namespace !== undefined && base.namespaces.size < mostNamespaces) base.namespaces.add(namespace);
  }
  todo.close("namespaces", outcome.ok ? undefined : { why: "failed", record: outcome.record });
}

/** Terms that are asked for: the most frequent ones. */
const mostTerms = 2_000;
const mostRows = 20_000;

/**
 * Reads the endpoint's own names of its classes and properties: from the described data and, for terms without a name
 * there, in any named graph, where many keep their ontology.
 * @param isRead all triples of the data were read, names included
 */
export async function computeTermTexts(run: Run, isRead: boolean): Promise<void> {
  const { base, todo, dialect } = run;
  if (!todo.isOpen("labels")) return;
  const iris = new Set([...base.classes.keys(), ...base.properties.keys()]);
  for (const { properties } of base.classes.values()) for (const iri of properties.keys()) iris.add(iri);
  const wanted = [...iris].filter(isWritable).slice(0, mostTerms);
  const failed = isRead ? undefined : await askTexts(run, wanted, "described");
  const missing = wanted.filter((iri) => !base.terms.has(iri));
  const stillFailed =
    failed ?? (dialect.named || hasNoGraphs(base) ? undefined : await askTexts(run, missing, "any graph"));
  todo.close("labels", stillFailed);
}

const hasNoGraphs = ({ namedGraphs, graphsBeside }: FactBase): boolean =>
  graphsBeside && namedGraphs.complete && namedGraphs.size === 0;

/** @returns why not everything was answered; one batch that fails ends it, as the others would fail alike */
async function askTexts(run: Run, iris: readonly string[], where: "described" | "any graph") {
  const { base, dialect, mostKeys } = run;
  const size = Math.max(1, Math.min(mostKeys, batchSize));
  for (let at = 0; at < iris.length; at += size) {
    const batch = iris.slice(at, at + size);
    const query = termTextsQuery({ iris: batch, properties: textProperties, where }, dialect);
    const outcome = await ask(run, { query, level: 2, maxRows: mostRows });
    if (!outcome.ok) return { why: outcome.why, record: outcome.record };
    const rows = Map.groupBy(outcome.answer.rows, (row) => row.get("t")?.value);
    for (const iri of batch) {
      const own = rows.get(iri) ?? [];
      const texts = bestTexts((property) =>
        own.filter((row) => row.get("p")?.value === property).flatMap((row) => row.get("l") ?? []),
      );
      if (texts) base.terms.set(iri, { iri, ...texts, status: "exists", record: outcome.record });
    }
  }
  return undefined;
}

const batchSize = 100;
