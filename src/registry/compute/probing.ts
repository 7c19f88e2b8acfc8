import type { Capabilities } from "../capabilities/capabilities.ts";
import { countOf } from "./observation.ts";
import { isWritable } from "./iri-text.ts";
import { distrustDistinct, findRepeats } from "./distinct.ts";
import { type Dialect, fewCountsQuery, graphsQuery, manyCountsQuery, probes, rowCapByData } from "./queries.ts";
import type { Run } from "./run.ts";
import type { Outcome } from "./session.ts";

/**
 * Finds out what the endpoint understands and after how many rows its answers are cut, as far as the target does not say
 * so (registry method, section 7), and which graphs are its engine's own.
 */
export async function probe(run: Run): Promise<void> {
  const { capabilities } = run.target;
  const values = await knowsValues(run, capabilities);
  run.dialect = { ...run.dialect, values };
  await probeCounts(run, capabilities);
  if (run.cap === undefined && !run.uncapped && !run.dialect.values) await capByData(run);
  const { graphs, together } = await ownGraphs(run);
  for (const graph of graphs) run.base.graphs.add(graph);
  run.dialect = { ...run.dialect, graphs };
  await findRepeats(run, Math.max(together, run.base.namedGraphs.size));
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
  if (told === true && run.cap === undefined) run.uncapped = true;
  if (told !== undefined) return told;
  const outcome = await run.session.ask({ query: probes.rowCap, rung: 1, maxRows: 2 * probes.rowCapRows });
  const rows = outcome.ok ? outcome.answer.rows.length : 0;
  if (rows >= probes.rowCapRows) run.uncapped = run.cap === undefined;
  // Fewer rows are the cap, if the endpoint does VALUES at all.
  else if (rows >= leastCap) run.cap = Math.min(run.cap ?? rows, rows);
  else {
    const small = await run.session.ask({ query: probes.values, rung: 1 });
    return small.ok && small.answer.rows.length === 3;
  }
  return true;
}

/** Fewer rows than this are no cap but a misunderstanding of VALUES. */
const leastCap = 20;

/** COUNT and COUNT(DISTINCT): both show in one probe, unless it is more than the endpoint can do. */
async function probeCounts(run: Run, capabilities: Capabilities | undefined): Promise<void> {
  const told = verdictOf(capabilities?.constructs, "aggregates");
  const many = told === false ? undefined : await run.session.ask({ query: manyCountsQuery(run.dialect), rung: 1 });
  const [row] = many?.ok ? many.answer.rows : [];
  if (many && countOf(row?.get("n")) === probes.rowCapRows) {
    if (countOf(row?.get("u")) !== probes.rowCapRows / 2) distrustDistinct(run, many.record);
    return;
  }
  const count = await counts(run, told);
  run.dialect = { ...run.dialect, count };
  if (count) await probeFewCounts(run);
}

async function probeFewCounts(run: Run): Promise<void> {
  const few = await run.session.ask({ query: fewCountsQuery(run.dialect), rung: 1 });
  const right = few.ok ? countOf(few.answer.rows[0]?.get("u")) === 2 : few.why !== "refused";
  if (!right) distrustDistinct(run, few.record);
}

async function counts(run: Run, told: boolean | undefined): Promise<boolean> {
  if (told === true) return true;
  const outcome = told === undefined ? await run.session.ask({ query: probes.count, rung: 1 }) : undefined;
  if (outcome && mayCount(outcome)) return true;
  run.agenda.note({ what: noCounts, why: "refused", ...(outcome && { record: outcome.record }) });
  return false;
}

/** Only a refusal or a wrong answer says that aggregates do not work; the ladder copes with everything else. */
const mayCount = (outcome: Outcome): boolean =>
  outcome.ok ? countOf(outcome.answer.rows[0]?.get("n")) === 1 : outcome.why !== "refused";

const noCounts = "counts, and whether lists are complete";

async function capByData(run: Run): Promise<void> {
  const limit = probes.rowCapRows + 1;
  const outcome = await run.session.ask({ query: rowCapByData(run.dialect, limit), rung: 1, maxRows: 2 * limit });
  if (!outcome.ok) return;
  const rows = outcome.answer.rows.length;
  if (rows >= probes.rowCapRows) run.uncapped = true;
  // Fewer may be all there are: taking them for the cap only costs a query more.
  else if (rows > 0) run.cap = rows;
}

const mostGraphs = 50;

/** Graphs that Virtuoso makes for itself, by their usual names. */
const systemGraph =
  /^(?:http:\/\/www\.openlinksw\.com\/schemas\/|https?:\/\/[^/]{0,255}\/(?:DAV\/?|sparql)$|http:\/\/www\.w3\.org\/(?:2002\/07\/owl#|ns\/ldp#)$|urn:(?:activitystreams-owl:map|core:services:sparql|virtrdf-label|rules\.)|b3s[a-z]*|virt[a-z]*:)/u;

/** Whether a graph is one of Virtuoso's own. */
export const isSystemGraph = (graph: string): boolean => systemGraph.test(graph);

/** The graphs to ask (none: the default graph), and how many graphs are described together. */
type OwnGraphs = Pick<Dialect, "graphs"> & { readonly together: number };

/** The graphs to describe: all but Virtuoso's own, where it is a Virtuoso and they are few; else its default graph. */
async function ownGraphs(run: Run): Promise<OwnGraphs> {
  if (!(await isVirtuoso(run))) return { graphs: [], together: 1 };
  const union: OwnGraphs = { graphs: [], together: Number.POSITIVE_INFINITY };
  const outcome = await graphsOf(run);
  if (!outcome.ok) {
    const why = outcome.why === "too-large" ? "refused" : outcome.why;
    run.agenda.note({ what: withoutSystemGraphs, why, record: outcome.record });
    return union;
  }
  const graphs = outcome.answer.rows.flatMap((row) => row.get("g")?.value ?? []);
  const own = graphs.filter((graph) => !isSystemGraph(graph));
  if (own.length === graphs.length && graphs.length < 2 * mostGraphs) return { graphs: [], together: own.length };
  if (own.length > 0 && own.length <= mostGraphs && graphs.length < 2 * mostGraphs && own.every(isWritable))
    return { graphs: own, together: own.length };
  run.agenda.note({ what: withoutSystemGraphs, why: "refused", record: outcome.record });
  return union;
}

const withoutSystemGraphs = "data without the system graphs of Virtuoso";
const graphAttempts = 2;

/** A Virtuoso that was busy, or read its graphs for the first time, may need more time than it gives a query. */
async function graphsOf(run: Run): Promise<Outcome> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await run.session.ask({ query: graphsQuery(2 * mostGraphs, run.dialect), rung: 1 });
    if (outcome.ok || outcome.why === "refused" || attempt === graphAttempts) return outcome;
  }
}

async function isVirtuoso(run: Run): Promise<boolean> {
  const { engine } = run.target;
  if (engine !== undefined) return engine === "virtuoso";
  const outcome = await run.session.ask({ query: probes.virtuoso, rung: 5 });
  return outcome.ok && outcome.answer.boolean === true;
}
