import type { ErrorCode } from "../errors/codes.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { QueryService } from "../query/query-service.ts";
import type { Catalog } from "../registry/catalog.ts";
import type { Finder } from "../registry/find.ts";
import { parseQuery, type Query, withServiceUrls } from "../sparql/query.ts";
import { type UsedTerm } from "../sparql/patterns.ts";
import { deviationsOf } from "./judge.ts";
import { notRun, outcomeOf } from "./outcome.ts";
import type { Outcome, Watch, WatchDefinition } from "./watch.ts";

/** Options of runs. */
export interface RunnerOptions {
  readonly queries: Pick<QueryService, "table" | "explain" | "runRecord">;
  readonly catalog: Pick<Catalog, "byId" | "byUrl">;
  /** Descriptions of endpoints, to look up terms. */
  readonly finder: Pick<Finder, "hasTerm">;
  /** Why an endpoint says nothing of its data now, such as that it is down; undefined: it does. */
  readonly troubleOf: (endpoint: string) => string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const mostRows = 10_000;
const mostTerms = 16;
/** Matches that are counted: enough to see a term vanish, little work for any endpoint. */
const countedTo = 1_000;
const termsEveryMs = 7 * 24 * 3_600_000;

/** A query as any client sends it. */
const requestOf = ({ query: text, endpoint: endpointId, federation: federationId }: WatchDefinition) =>
  ({ text, endpointId, federationId, defaultGraphs: [], namedGraphs: [], strict: false, partial: false }) as const;

/** The endpoints that a query is planned for, or why it is not. @throws FedwayError as the planner does */
export const planOf = (queries: RunnerOptions["queries"], asked: WatchDefinition) => queries.explain(requestOf(asked));

/** Runs a watched query once, and looks into its terms where its answer has changed; also the endpoint that answers for it. */
export async function runOnce(watch: Watch, signal: AbortSignal, options: RunnerOptions) {
  const { catalog, troubleOf, now } = options;
  let ids: readonly string[] = [];
  const trouble = (): string | undefined => ids.map(troubleOf).find((why) => why !== undefined);
  const said = (outcome: Outcome) => ({ outcome, endpoint: ids[0] ?? "" });
  try {
    const { endpoints, problem } = planOf(options.queries, watch);
    ids = endpoints.map(({ endpoint }) => endpoint).filter((id) => catalog.byId(id) !== undefined);
    // A federation answers without members that are down, or fails.
    const hindrance = problem?.detail ?? (watch.federation === undefined ? trouble() : undefined);
    if (hindrance !== undefined) return said(notRun(now(), hindrance));
    const outcome = await ranOnce(watch, signal, options);
    const why = outcome.status === "failed" ? trouble() : undefined;
    return said(why === undefined ? outcome : notRun(now(), why));
  } catch (error) {
    // Such as an endpoint that has left the catalogue, or a service that is too busy; retryable errors are thrown.
    if (!(error instanceof FedwayError) || againOn.has(error.code)) throw error;
    return said(notRun(now(), error.message));
  }
}

const againOn: ReadonlySet<ErrorCode> = new Set(["CANCELLED", "INTERNAL", "STORE_FAILED"]);

async function ranOnce(watch: Watch, signal: AbortSignal, options: RunnerOptions): Promise<Outcome> {
  const { queries, now } = options;
  const ask = (asked: WatchDefinition, maxRows: number) =>
    queries.table({ ...requestOf(asked), maxRows, signal, owner: "watch", fresh: true });
  const startedMs = now();
  const table = await ask(watch, mostRows);
  const passedMs = now() - startedMs;
  const record = await queries.runRecord(table.run);
  // A record that is gone already says nothing of the time: a run in 0 ms would be learned as usual.
  const outcome = outcomeOf(watch.query, table, { atMs: now(), ms: record?.durationMs ?? passedMs });
  if (outcome.status !== "ok" && outcome.status !== "empty") return outcome;
  const groups = termGroups(watch, options);
  const seen = { ...outcome, described: describedIn(groups, options) };
  if (!isToBeLookedInto(watch, seen)) return seen;
  const terms: Record<string, number> = {};
  for (const group of groups) Object.assign(terms, countsIn(group, await ask(group, 1)));
  return { ...seen, terms };
}

function isToBeLookedInto({ baseline, drifts }: Watch, seen: Outcome): boolean {
  if (baseline === undefined || seen.atMs - baseline.termsMs >= termsEveryMs || drifts["term"] !== undefined)
    return true;
  const hasLost = Object.entries(baseline.described).some(([term, has]) => has && seen.described?.[term] === false);
  const isGone = seen.status === "empty" && baseline.last.status === "ok";
  return isGone || hasLost || Object.keys(deviationsOf(baseline, seen)).length > 0;
}

/** The classes and properties that one endpoint, or federation, is asked for, and the query that counts them. */
interface TermGroup extends WatchDefinition {
  readonly terms: readonly (UsedTerm & { readonly name: string })[];
}

/** The terms of a query by who is asked for them; none of a query that only its endpoint understands. */
function termGroups({ query, ...target }: Watch, { catalog }: RunnerOptions): readonly TermGroup[] {
  let groups: Query["usedTerms"] = [];
  try {
    groups = parseQuery(withServiceUrls(query, (id) => catalog.byId(id)?.url).text).usedTerms;
  } catch {
    return [];
  }
  return groups.flatMap(({ service, terms: all }) => {
    const asked = service === undefined ? target : { endpoint: catalog.byUrl(service)?.id };
    const { endpoint, federation } = { federation: undefined, ...asked };
    if ((endpoint ?? federation) === undefined || all.length === 0) return [];
    const of = service === undefined ? "" : ` of ${endpoint}`;
    const terms = all.slice(0, mostTerms).map(({ kind, iri }) => ({ kind, iri, name: `${kind} <${iri}>${of}` }));
    return { endpoint, federation, terms, query: `SELECT * WHERE {\n${terms.map(counting).join("\n")}\n}` };
  });
}

function counting({ kind, iri }: UsedTerm, at: number): string {
  const pattern = kind === "class" ? `?s a <${iri}>` : `?s <${iri}> ?o`;
  return `{ SELECT (COUNT(*) AS ?n${at}) WHERE { { SELECT ?s WHERE { ${pattern} } LIMIT ${countedTo} } } }`;
}

/** Matches by term; none where the endpoint does not answer that: unknown is not 0. */
function countsIn({ terms }: TermGroup, { status, columns, rows }: Awaited<ReturnType<QueryService["table"]>>) {
  const counted = terms.flatMap(({ name }, at): (readonly [string, number])[] => {
    const digits = /^"(\d{1,9})"/.exec(rows[0]?.[columns.indexOf(`n${at}`)] ?? "")?.[1];
    return digits === undefined || status === "failed" ? [] : [[name, Number(digits)]];
  });
  return Object.fromEntries(counted);
}

function describedIn(groups: readonly TermGroup[], { finder }: RunnerOptions): Record<string, boolean> {
  const all = groups.flatMap(({ endpoint, terms }) =>
    terms.flatMap(({ name, ...term }): (readonly [string, boolean])[] => {
      const has = endpoint === undefined ? "unknown" : finder.hasTerm(endpoint, term);
      return has === "unknown" ? [] : [[name, has === "yes"]];
    }),
  );
  return Object.fromEntries(all);
}
