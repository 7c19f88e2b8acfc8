import { hash } from "node:crypto";
import { Type } from "typebox";
import { FedwayError } from "../errors/fedway-error.ts";
import { jobKind } from "../jobs/job-kind.ts";
import type { Job, JobQueue } from "../jobs/job-queue.ts";
import type { Monitor } from "../monitor/create-monitor.ts";
import { domainOf } from "../monitor/subjects.ts";
import { createCollection } from "../store/collection.ts";
import type { Store } from "../store/store.ts";
import { accepted, advance } from "./judge.ts";
import { idOf, type QueryCollection, readCollection } from "./read-collection.ts";
import { planOf, runOnce, type RunnerOptions } from "./run-watch.ts";
import {
  figuresOf,
  isFound,
  isOver,
  longestQuery,
  mostWatches,
  type Watch,
  type WatchDefinition,
  watchSchema,
} from "./watch.ts";

/** Options of watches. */
export interface WatchesOptions extends RunnerOptions {
  readonly store: Store;
  readonly jobs: Pick<JobQueue, "enqueue">;
  readonly monitor: Pick<Monitor, "report" | "clear">;
  /** A query that has solutions again, where the diagnosis finds one. */
  readonly mend: (watch: Watch, signal: AbortSignal) => Promise<string | undefined>;
  /** Time until a deviation is looked at again: with two of them the monitor knows an outage by then. */
  readonly confirmMs: number;
}

const hourMs = 3_600_000;
const sweepMs = 300_000;
const mostMs = 30 * 24 * hourMs;
/** Times between two runs: usual and least, of endpoints on the operator's own machines and of public ones. */
const pace = { own: [hourMs, sweepMs], public: [24 * hourMs, hourMs] } as const;
const sweepKind = "watch-sweep";
const runKind = "watch-run";

/** The watched queries of this service. */
export type Watches = ReturnType<typeof createWatches>;

/** Runs saved queries on their schedules, and opens incidents of kind `drift` where their answers have changed. */
export function createWatches(options: WatchesOptions) {
  const core = createCore(options);
  const { watches, now, get, list, share } = core;

  /**
   * Adds a watch, or changes the one with this id; its baseline stays while it asks the same. Without an id none that asks
   * something else is changed. @throws FedwayError
   */
  async function save(given: WatchDefinition, origin: Watch["origin"] = "api"): Promise<Watch> {
    const wanted = { ...checked(given, options), origin };
    const before = await watches.get(wanted.id);
    if (before && given.id === undefined && !asksSame(before, wanted)) throw idTaken(wanted.id);
    if (!before && (await list()).length >= mostWatches) throw invalid(`There are ${mostWatches} watches already.`);
    if (before && !asksSame(before, wanted)) await share(before, () => true);
    const nextMs = now() + fractionOf(wanted.id) * Math.min(wanted.everyMs, hourMs);
    const { after } = await watches.change(wanted.id, (current) => {
      if (current === undefined || !asksSame(current, wanted)) return { ...wanted, nextMs, drifts: {}, results: [] };
      return { ...current, ...wanted, nextMs: Math.min(current.nextMs, now() + wanted.everyMs) };
    });
    return after ?? get(wanted.id);
  }

  async function remove(id: string): Promise<void> {
    await share(await get(id), () => true);
    await watches.delete(id);
  }

  return {
    ...core.jobs,
    get,
    list,
    save,
    /** Its incidents are closed. @throws FedwayError `WATCH_UNKNOWN`, `STORE_FAILED` */
    remove,
    /** Runs it now, as a job. @throws FedwayError `WATCH_UNKNOWN`, `STORE_FAILED` */
    run: async (id: string): Promise<Job> => core.enqueue((await get(id)).id, true),
    /** Makes its latest answer the normal one, and closes its incidents. @throws FedwayError `WATCH_UNKNOWN`, `STORE_FAILED` */
    async accept(id: string): Promise<Watch> {
      await share(await get(id), () => true);
      const { after } = await watches.change(id, (current) => current && accepted(current));
      return after ?? get(id);
    },
    /** Watches the queries of these folders, and no others that came from folders. Resolves to the files left out. */
    async follow(folders: readonly string[], baseUrl: string): Promise<QueryCollection["problems"]> {
      const found = await Promise.all(folders.map((folder) => readCollection(folder, baseUrl)));
      const problems = found.flatMap((each) => each.problems);
      const queries = found.flatMap((each) => each.queries);
      for (const query of queries) {
        await save(query, "folder").catch((error: unknown) => {
          if (!(error instanceof FedwayError) || error.code === "STORE_FAILED") throw error;
          problems.push({ file: query.id, reason: error.message });
        });
      }
      const ids = new Set(queries.map(({ id }) => id));
      for (const { id, origin } of await list()) if (origin === "folder" && !ids.has(id)) await remove(id);
      return problems;
    },
  };
}

const watchesIn = (store: Store) =>
  createCollection({
    store,
    prefix: "watch/",
    schema: watchSchema,
    lost: "The watch is gone; make it again.",
  });

/** Stored watches, and the jobs that run them. */
function createCore(options: WatchesOptions) {
  const { store, catalog, monitor, now } = options;
  const watches = watchesIn(store);
  async function get(id: string): Promise<Watch> {
    const found = await watches.get(id);
    if (found) return found;
    throw new FedwayError("WATCH_UNKNOWN", `There is no watch "${id}".`, { next: "GET /api/watches lists them." });
  }
  async function list(): Promise<readonly Watch[]> {
    const all: Watch[] = [];
    for await (const [, watch] of watches.entries()) all.push(watch);
    return all;
  }
  const enqueue = (id: string, isAsked: boolean): Promise<Job> =>
    options.jobs.enqueue(runKind, { id, isAsked }, { id: `${runKind}.${id}` });

  /** Opens or closes incidents, again after every run, as a process may end in between. */
  async function share({ id, name, drifts }: Watch, isClosed: typeof isOver): Promise<void> {
    for (const [kind, drift] of Object.entries(drifts)) {
      const { endpoint, summary, evidence, repair } = drift;
      if (!isFound(drift) || catalog.byId(endpoint) === undefined) continue;
      const named = { endpoint, kind: "drift", key: `${id}.${kind}`, atMs: Math.round(now()) } as const;
      if (isClosed(drift)) await monitor.clear(named);
      else await monitor.report({ ...named, summary: `${name.slice(0, 100)}: ${summary}`, evidence, repair });
    }
  }

  /** Runs one watch, and settles what its run shows. */
  async function turn(id: string, isAsked: boolean, signal: AbortSignal): Promise<object> {
    const watch = await watches.get(id);
    if (watch === undefined || (!isAsked && watch.nextMs > now())) return {};
    const { outcome, endpoint } = await runOnce(watch, signal, options);
    const isToMend = lacksRepair(advance(watch, outcome, endpoint)) && !lacksRepair(watch);
    const repair = isToMend ? await options.mend(watch, signal) : undefined;
    const { after } = await watches.change(id, (current) => {
      if (current === undefined || !asksSame(current, watch)) return current;
      const moved = advance(current, outcome, endpoint);
      const mended = Object.entries(moved.drifts).map(([kind, one]) => [kind, repair ? { repair, ...one } : one]);
      return { ...moved, nextMs: nextOf(moved, options), drifts: Object.fromEntries(mended) };
    });
    if (after) await share(after, isOver);
    // Closed incidents are forgotten once the monitor has closed them.
    await watches.change(id, (current) => {
      const left = Object.entries(current?.drifts ?? {}).filter(([, one]) => !isOver(one));
      const isSame = left.length === Object.keys(current?.drifts ?? {}).length;
      return current && !isSame ? { ...current, drifts: Object.fromEntries(left) } : current;
    });
    return { status: outcome.status, ...figuresOf(outcome) };
  }

  const sweep = async (): Promise<object> => {
    const due = (await list()).filter(({ nextMs }) => nextMs <= now());
    for (const { id } of due) await enqueue(id, false);
    return { due: due.length };
  };
  const ofTurn = Type.Object({ id: Type.String(), isAsked: Type.Boolean() });
  const run: Parameters<typeof jobKind<typeof ofTurn>>[1]["run"] = ({ id, isAsked }, { signal }) =>
    turn(id, isAsked, signal);
  const kinds = [
    jobKind(Type.Object({}), { name: sweepKind, needs: "nothing", run: sweep }),
    jobKind(ofTurn, { name: runKind, needs: "the id of a watch", concurrency: 2, run }),
  ];
  const schedule = { name: sweepKind, kind: sweepKind, payload: {}, everyMs: sweepMs };
  return { watches, now, get, list, share, enqueue, jobs: { kinds, schedule } };
}

/** A mended query is looked for once: when a term or the answer is found to be gone. */
const lacksRepair = ({ drifts: { term, empty } }: Watch): boolean =>
  [term, empty].some((drift) => drift && isFound(drift) && drift.repair === undefined);

function nextOf({ id, everyMs, drifts, results }: Watch, { now, confirmMs }: WatchesOptions): number {
  const isOpen = Object.values(drifts).some((one) => !isFound(one)) || results.at(-1)?.status === "not run";
  if (isOpen) return now() + Math.min(confirmMs, everyMs);
  // On a grid of its own, so that watches stay spread over their period.
  return now() + everyMs - ((now() - fractionOf(id) * everyMs) % everyMs);
}

const invalid = (message: string, next?: string): FedwayError => new FedwayError("REQUEST_INVALID", message, { next });

const idTaken = (id: string): FedwayError =>
  invalid(
    `The name gives the id "${id}", which a watch with another query has.`,
    `Send an id or another name; PUT /api/watches/${id} changes that watch.`,
  );

const asksSame = (one: WatchDefinition, other: WatchDefinition): boolean =>
  one.query === other.query && one.endpoint === other.endpoint && one.federation === other.federation;

/** From 0 to 1, the same for the same id. */
const fractionOf = (id: string): number => Number.parseInt(hash("sha256", id).slice(0, 8), 16) / 2 ** 32;

/** A definition with its defaults. @throws FedwayError where it cannot be planned, or would ask too often */
function checked({ query, federation, ...given }: WatchDefinition, options: RunnerOptions) {
  const endpoint =
    given.endpoint === undefined ? undefined : (options.catalog.byUrl(given.endpoint)?.id ?? given.endpoint);
  const { id, name = id ?? `query ${hash("sha256", query).slice(0, 8)}` } = given;
  if (query.length > longestQuery) throw invalid(`A watched query has at most ${longestQuery} characters.`);
  const { endpoints, problem } = planOf(options.queries, { query, endpoint, federation });
  if (problem) throw new FedwayError(problem.code, problem.detail, { next: problem.next });
  const everyMs = paceOf(endpoints, given.everyMs);
  return { id: id ?? idOf(name), name: name.slice(0, 300), query, endpoint, federation, everyMs };
}

function paceOf(endpoints: readonly { readonly url: string }[], wanted: number | undefined): number {
  const [usualMs, leastMs] = pace[endpoints.every((each) => domainOf(each) === undefined) ? "own" : "public"];
  const everyMs = wanted ?? usualMs;
  if (everyMs >= leastMs && everyMs <= mostMs) return everyMs;
  throw invalid(`This query may be run every ${leastMs / 60_000} minutes to every 30 days.`);
}
