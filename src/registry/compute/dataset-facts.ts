import type { UnknownFact } from "../void/void-description.ts";
import type { Task } from "./todo.ts";
import { distrustDistinct } from "./probing.ts";
import { isWritable, languageOf, namespaceOf } from "../void/values.ts";
import { distinctNodesQueries, languagesQuery, subjectsQuery } from "./queries.ts";
import { askCount, isCutFor, keepTotal, type Run } from "./run.ts";

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
  const name = variable === "s" ? "distinctSubjects" : "distinctObjects";
  if (run.dialect.countDistinct && run.dialect.count) await countTwice(run, task, { name, variable });
  if (!run.todo.isOpen(task)) return;
  if (run.dialect.count) await countRows(run, task, { name, variable });
  else run.todo.close(task, { why: "refused" });
}

interface Nodes {
  readonly name: NodeCount;
  readonly variable: "s" | "o";
}

/** Exact when two shapes of the query agree; leaves the task open when COUNT(DISTINCT) turns out to be wrong. */
async function countTwice(run: Run, task: Task, { name, variable }: Nodes): Promise<void> {
  const [first, second] = distinctNodesQueries(variable, run.dialect);
  const one = await askCount(run, first);
  if (one.value === undefined) {
    keepAtLeast(run, name);
    run.todo.close(task, { why: one.why ?? "failed", record: one.record });
    return;
  }
  const other = await askCount(run, second);
  const { value = 0 } = other;
  const whole = one.sound && other.sound && isTrusted(run);
  if (whole && value !== one.value) {
    // Nothing was cut, so that one of the two shapes is wrong. Nothing that was counted by the first shape is used any more.
    distrustDistinct(run, one.record);
    return;
  }
  const status = whole ? "exact" : "lowerBound";
  keepTotal(run, name, { value: Math.max(one.value, value), status, record: one.record });
  run.todo.close(task, whole ? undefined : { why: "partial", record: other.record });
}

/** Without COUNT(DISTINCT) there is no second way. */
async function countRows(run: Run, task: Task, { name, variable }: Nodes): Promise<void> {
  const [, query] = distinctNodesQueries(variable, run.dialect);
  const { value, why = "refused", record } = await askCount(run, query);
  if (value !== undefined) keepTotal(run, name, { value, status: "lowerBound", record });
  run.todo.close(task, { why, record });
}

type NodeCount = "distinctSubjects" | "distinctObjects";

/** All triples were counted whole, so an answer over all of them is not beyond the endpoint. */
const isTrusted = (run: Run): boolean => !run.inconsistent && run.base.totals.triples?.status === "exact";

/** No fewer nodes than any property has. */
function keepAtLeast(run: Run, name: NodeCount): void {
  for (const property of run.base.properties.values()) {
    const count = property[name];
    if (count) keepTotal(run, name, { ...count, status: "lowerBound" });
  }
}

async function findLanguages(run: Run): Promise<void> {
  const { todo, base } = run;
  if (!todo.isOpen("languages")) return;
  const all = await askLanguages(run);
  if (all.whole) {
    todo.close("languages");
    return;
  }
  if (base.languages.size === 0) await askLanguages(run, 10 * sampleSize);
  todo.close("languages", { why: all.why, record: all.record });
}

async function askLanguages(
  run: Run,
  limit?: number,
): Promise<{ readonly whole: boolean; readonly why: UnknownFact["why"]; readonly record: number }> {
  const outcome = await run.session.ask({
    query: languagesQuery(run.dialect, limit),
    level: limit === undefined ? 1 : 2,
  });
  if (!outcome.ok) return { whole: false, why: outcome.why, record: outcome.record };
  const whole = outcome.sound && !(await isCutFor(run, outcome.answer.rows.length));
  // What only the publisher named is gone.
  if (whole && limit === undefined) run.base.languages.clear();
  for (const row of outcome.answer.rows) {
    const tag = languageOf(row.get("l"));
    if (tag !== undefined && run.base.languages.size < mostLanguages) run.base.languages.add(tag);
  }
  return { whole, why: "partial", record: outcome.record };
}

/** Namespaces of a sample of subjects: those of classes and properties are shared by data sets that have no thing in common. */
async function findNamespaces(run: Run): Promise<void> {
  const { todo, base } = run;
  if (!todo.isOpen("namespaces")) return;
  const outcome = await run.session.ask({ query: subjectsQuery(run.dialect, sampleSize), level: 2 });
  for (const row of outcome.ok ? outcome.answer.rows : []) {
    const iri = row.get("s")?.value ?? "";
    const namespace = isWritable(iri) ? namespaceOf(iri) : undefined;
    if (namespace !== undefined && base.namespaces.size < mostNamespaces) base.namespaces.add(namespace);
  }
  todo.close("namespaces", outcome.ok ? undefined : { why: "failed", record: outcome.record });
}
