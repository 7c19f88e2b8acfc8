import type { Capabilities } from "../../capabilities/capabilities.ts";
import { countOf, type Observation, solutionsOf } from "./observation.ts";
import { splitGraphs } from "../../../sparql/default-graphs.ts";
import { isWritable } from "../values.ts";
import {
  allTriplesQuery,
  fewCountsQuery,
  graphsQuery,
  manyCounted,
  manyCountsQuery,
  probedRows,
  probes,
  tripleCountsQueries,
} from "./queries.ts";
import { ask, askCount, leastCap, type Outcome, probeRowCap, type Run } from "./run.ts";
import { factKinds } from "./fact-kinds.ts";
import { finishList, startList } from "./lists.ts";
import { markInconsistent } from "./verdicts.ts";

/**
 * Finds out what the endpoint understands and after how many rows its answers are cut, as far as the target does not say
 * so (registry method, section 7).
 * @param graphs how many are described together
 */
export async function probe(run: Run, graphs: number): Promise<void> {
  const { capabilities } = run.target;
  const values = await knowsValues(run, capabilities);
  run.dialect = { ...run.dialect, values };
  await probeCounts(run, capabilities);
  if (run.cap === undefined && run.wholeRows === 0 && !run.dialect.values) await capByData(run);
  await findRepeats(run, Math.max(graphs, run.base.namedGraphs.size));
}

/** Leaves the graphs that are the engine's own out of everything that is asked. How many are described together. */
export async function chooseGraphs(run: Run): Promise<number> {
  const { graphs, together } = await ownGraphs(run);
  for (const graph of graphs) run.base.graphs.add(graph);
  run.dialect = { ...run.dialect, graphs };
  return together;
}

type Verdicts = Capabilities["constructs"];

function verdictOf(constructs: Verdicts | undefined, name: "values" | "aggregates"): boolean | undefined {
  const verdict = constructs?.[name]?.verdict;
  if (verdict === "right") return true;
  return verdict === "refused" || verdict === "wrong" ? false : undefined;
}

/** VALUES and the row cap with it: both show in one probe. */
async function knowsValues(run: Run, capabilities: Capabilities | undefined): Promise<boolean> {
  const told = verdictOf(capabilities?.constructs, "values");
  if (told === true && run.cap === undefined) run.wholeRows = capabilities?.wholeRows ?? 0;
  if (told !== undefined) return told;
  const rows = await probeRowCap(run, probedRows[0]);
  if (rows >= leastCap) return true;
  const small = await ask(run, { query: probes.values, level: 1 });
  return small.ok && small.answer.rows.length === 3;
}

/** COUNT and COUNT(DISTINCT): both show in one probe, unless it is more than the endpoint can do. */
async function probeCounts(run: Run, capabilities: Capabilities | undefined): Promise<void> {
  const told = verdictOf(capabilities?.constructs, "aggregates");
  const many = told === false ? undefined : await ask(run, { query: manyCountsQuery(run.dialect), level: 1 });
  const [row] = many?.ok ? many.answer.rows : [];
  if (many && countOf(row?.get("n")) === manyCounted) {
    if (countOf(row?.get("u")) !== manyCounted / 2) distrustDistinct(run, many.record);
    return;
  }
  const count = await counts(run, told);
  run.dialect = { ...run.dialect, count };
  if (count) await probeFewCounts(run);
}

async function probeFewCounts(run: Run): Promise<void> {
  const few = await ask(run, { query: fewCountsQuery(run.dialect), level: 1 });
  const right = few.ok ? countOf(few.answer.rows[0]?.get("u")) === 2 : few.why !== "refused";
  if (!right) distrustDistinct(run, few.record);
}

async function counts(run: Run, told: boolean | undefined): Promise<boolean> {
  if (told === true) return true;
  const outcome = told === undefined ? await ask(run, { query: probes.count, level: 1 }) : undefined;
  if (outcome && mayCount(outcome)) return true;
  run.todo.note({ what: noCounts, why: "refused", record: outcome?.record });
  return false;
}

/** Only a refusal or a wrong answer says that aggregates do not work; the strategies cope with everything else. */
const mayCount = (outcome: Outcome): boolean =>
  outcome.ok ? countOf(outcome.answer.rows[0]?.get("n")) === 1 : outcome.why !== "refused";

const noCounts = "counts, and whether lists are complete";

async function capByData(run: Run): Promise<void> {
  const limit = probedRows[0] + 1;
  const outcome = await ask(run, {
    query: allTriplesQuery("SELECT", limit, run.dialect),
    level: 1,
    maxRows: 2 * limit,
  });
  if (!outcome.ok) return;
  const rows = outcome.answer.rows.length;
  if (rows >= probedRows[0]) run.wholeRows = probedRows[0];
  // Fewer may be all there are: taking them for the cap only costs a query more.
  else if (rows > 0) run.cap = rows;
}

const mostGraphs = 50;

/** Graphs that an engine (Virtuoso) makes for itself, by their usual names. */
const systemGraph =
  /^(?:http:\/\/www\.openlinksw\.com\/schemas\/|https?:\/\/[^/]{0,255}\/(?:DAV\/?|sparql)$|http:\/\/www\.w3\.org\/(?:2002\/07\/owl#|ns\/ldp#)$|urn:(?:activitystreams-owl:map|core:services:sparql|virtrdf-label|rules\.)|b3s[a-z]*|virt[a-z]*:)/u;

/** True for system graphs. */
export const isSystemGraph = (graph: string): boolean => systemGraph.test(graph);

/** The default graphs that the catalogue gives the endpoint; no others are described then. */
const chosenGraphs = ({ target }: Run): readonly string[] => splitGraphs(target.endpoint.url).defaultGraphs;

/** The graphs to ask (none: the default graph), and how many graphs are described together. */
interface OwnGraphs {
  readonly graphs: readonly string[];
  readonly together: number;
}

/** The graphs to describe: all but the engine's own, where the default graph has these and they are few; else the default graph. */
async function ownGraphs(run: Run): Promise<OwnGraphs> {
  const { length } = chosenGraphs(run);
  if (length > 0) return { graphs: [], together: length };
  if (!(await hasSystemGraphs(run))) return { graphs: [], together: 1 };
  const union: OwnGraphs = { graphs: [], together: Number.POSITIVE_INFINITY };
  const outcome = await graphsOf(run);
  if (!outcome.ok) {
    const why = outcome.tooLarge ? "refused" : outcome.why;
    run.todo.note({ what: withoutSystemGraphs, why, record: outcome.record });
    return union;
  }
  const graphs = outcome.answer.rows.flatMap((row) => row.get("g")?.value ?? []);
  const own = graphs.filter((graph) => !isSystemGraph(graph));
  if (own.length === graphs.length && graphs.length < 2 * mostGraphs) return { graphs: [], together: own.length };
  if (own.length > 0 && own.length <= mostGraphs && graphs.length < 2 * mostGraphs && own.every(isWritable))
    return { graphs: own, together: own.length };
  run.todo.note({ what: withoutSystemGraphs, why: "refused", record: outcome.record });
  return union;
}

const withoutSystemGraphs = "data without the system graphs of Virtuoso";
const graphAttempts = 2;

/** Grouped where DISTINCT, which is the lighter one, is refused or ignored. */
async function graphsOf(run: Run): Promise<Outcome> {
  const once = await graphList(run, run.dialect);
  const graphs = once.ok ? once.answer.rows.map((row) => row.get("g")?.value) : [];
  const isDistinct = once.ok ? new Set(graphs).size === graphs.length : once.why !== "refused";
  return isDistinct ? once : graphList(run, { ...run.dialect, countDistinct: false });
}

/** A server that was busy, or read its graphs for the first time, may need more time than it gives a query. */
async function graphList(run: Run, dialect: Run["dialect"]): Promise<Outcome> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await ask(run, { query: graphsQuery(2 * mostGraphs, dialect), level: 1 });
    if (outcome.ok || outcome.why === "refused" || attempt === graphAttempts) return outcome;
  }
}

async function hasSystemGraphs(run: Run): Promise<boolean> {
  const outcome = await ask(run, { query: probes.systemGraphs, level: 5 });
  return outcome.ok && outcome.answer.boolean === true;
}

/** Name of the unknown fact that keeps across runs that COUNT(DISTINCT) is refused or wrong. */
export const noDistinct = "distinct subjects and objects: COUNT(DISTINCT) is refused or wrong";

/** Name of the fact that keeps across runs that the default graph gives a triple once for each graph that has it. */
export const repeatedTriples = "which graphs a triple is from: it comes once for each of them";

/** From now on only solutions are counted; what COUNT(DISTINCT) has counted so far is dropped. */
export function distrustDistinct(run: Run, record: number): void {
  run.dialect = { ...run.dialect, countDistinct: false };
  run.todo.note({ what: noDistinct, why: "refused", record });
  const { base } = run;
  for (const { properties } of [base, ...base.classes.values()])
    for (const fact of properties.values()) fact.distinctSubjects = fact.distinctObjects = undefined;
}

/**
 * Finds out whether several of the graphs that are described together hold the same triple, which then arrives repeatedly.
 * Assumed true until a query shows the contrary.
 */
async function findRepeats(run: Run, graphs: number): Promise<void> {
  const { count, countDistinct } = run.dialect;
  if (!count || graphs < 2) return;
  const { all, once, record } = await countBoth(run);
  const sizes = [...run.base.namedGraphs.values()].reduce((sum, graph) => sum + (graph.triples?.value ?? 0), 0);
  const cut = run.inconsistent || all === undefined || all < sizes;
  run.dialect = { ...run.dialect, repeats: cut || all !== once };
  if (run.dialect.repeats || !countDistinct) return;
  // Equal numbers are also what comes where DISTINCT is ignored.
  const [, grouped] = tripleCountsQueries({ ...run.dialect, countDistinct: false });
  const triples = (await soundCount(run, grouped)).value;
  if (triples === undefined || triples === all) return;
  distrustDistinct(run, record);
  run.dialect = { ...run.dialect, repeats: true };
}

/**
 * A class has as many solutions as distinct instances. Where an answer says otherwise, either a triple comes several
 * times, or COUNT(DISTINCT) is wrong: finds out which. Whether the list must be made again.
 */
export async function settleDoubt(run: Run, classes: Observation | undefined): Promise<boolean> {
  const { countDistinct, repeats } = run.dialect;
  if (classes === undefined || !countDistinct) return false;
  const doubtful = [...classes.groups].find(([, groups]) => [...groups.values()].some(({ n, ds }) => n !== ds));
  const [key] = doubtful ?? classes.flawed;
  if (typeof key !== "string") return false;
  const { all, once, record } = await countBoth(run, key);
  if (!repeats && (once === undefined || all !== once)) {
    run.dialect = { ...run.dialect, repeats: true };
    run.todo.note({ what: repeatedTriples, why: "refused", record });
    return true;
  }
  // Each triple comes once, or should be counted once by now.
  if (repeats && solutionsOf(classes.groups.get(key)) !== once) markInconsistent(run, 1, record);
  distrustDistinct(run, record);
  return true;
}

/** Triples, or instances of a class, as often as they come and each of them once. */
async function countBoth(run: Run, key?: string) {
  const [all, once] = tripleCountsQueries(run.dialect, key);
  const copies = await soundCount(run, all);
  const single = await soundCount(run, once);
  return { all: copies.value, once: single.value, record: single.record };
}

async function soundCount(run: Run, query: string): Promise<{ value: number | undefined; record: number }> {
  const { value, sound, record } = await askCount(run, query);
  return { value: sound ? value : undefined, record };
}

/**
 * Where the default graph is empty, the data are in named graphs: lists these with their sizes and lets everything that
 * follows be asked of their union. Whether that is new, so that what was asked before must be asked again.
 */
export async function turnToNamedGraphs(run: Run): Promise<boolean> {
  if (!run.todo.isOpen("graph list") || chosenGraphs(run).length > 0) return false;
  if (!(await isDefaultGraphEmpty(run))) return false;
  const graphs = await startList(run, factKinds.graphs);
  await finishList(run, factKinds.graphs, graphs);
  run.dialect = { ...run.dialect, named: run.base.namedGraphs.size > 0 };
  await findRepeats(run, run.base.namedGraphs.size);
  return run.dialect.named;
}

/** Lists the named graphs that lie beside the default graph, with their sizes where one query counts them all. */
export async function listGraphsBeside(run: Run): Promise<void> {
  if (run.todo.isOpen("graph list") && chosenGraphs(run).length === 0) await listGraphs(run);
  run.todo.closeKind(factKinds.graphs);
}

async function listGraphs(run: Run): Promise<void> {
  run.base.graphsBeside = true;
  const { dialect } = run;
  run.dialect = { ...dialect, graphs: [], repeats: false };
  const graphs = await startList(run, factKinds.graphs);
  if (graphs.light && !run.inconsistent) await finishList(run, factKinds.graphs, graphs);
  else run.todo.close("graph list", { why: "partial" });
  run.dialect = dialect;
  for (const graph of run.base.namedGraphs.keys()) if (isSystemGraph(graph)) run.base.namedGraphs.delete(graph);
}

/** Counts as empty only where nothing else has shown data. */
async function isDefaultGraphEmpty(run: Run): Promise<boolean> {
  if (run.base.classes.size > 0 || run.dialect.graphs.length > 0) return false;
  const outcome = await ask(run, { query: probes.anything, level: 5 });
  return outcome.ok && outcome.sound && outcome.answer.boolean === false;
}
