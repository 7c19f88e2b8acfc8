import { unknownId } from "../../errors/unknown-id.ts";
import { type Static, Type } from "typebox";
import type { Clock } from "../../clock.ts";
import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import { Handover, jobKind } from "../../jobs/job-kind.ts";
import type { Job, JobContext, JobQueue } from "../../jobs/job-queue.ts";
import type { LocalDispatch } from "../../outbound/local-answer.ts";
import type { Capabilities } from "../capabilities/capabilities.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { catalogId } from "../catalog/statements.ts";
import {
  type DescribeBudget,
  type Describer,
  emptyDescription,
  type RunTarget,
  targetOf,
} from "./compute/describer.ts";
import type { PropertyTerms } from "./compute/property-terms.ts";
import type { ReadTriple } from "./compute/read-whole.ts";
import type { DescriptionStore } from "./description-store.ts";
import type { VoidDescription } from "./void-description.ts";
import type { RetrievedVoid, VoidRetriever } from "./void-retriever.ts";

/** How current a stored description is. */
export interface Freshness {
  /** "unfinished": work is left, so more could be found. */
  readonly state: "none" | "fresh" | "stale" | "unfinished";
  /** ISO 8601. */
  readonly finishedAt?: string;
  readonly ageMs?: number;
}

interface DescriptionServiceOptions {
  readonly catalog: Pick<Catalog, "byId" | "entries">;
  readonly retriever: VoidRetriever;
  readonly describer: Describer;
  readonly descriptions: DescriptionStore;
  readonly jobs: Pick<JobQueue, "enqueue">;
  readonly clock: Pick<Clock, "now">;
  /** Endpoints hosted by this process, by URL; default: none. */
  readonly local?: LocalDispatch | undefined;
  /** Own origin, for the IRIs of datasets that have none. */
  readonly publicUrl: string;
  /** Keeps all triples of an endpoint that is described from them. @throws FedwayError `STORE_FAILED` */
  readonly keepTriples?:
    | ((id: string, description: VoidDescription, triples: readonly ReadTriple[]) => Promise<void>)
    | undefined;
  /** Keeps the terms of each property of another endpoint. @throws FedwayError `STORE_FAILED` */
  readonly keepTerms?:
    | ((id: string, description: VoidDescription, terms: ReadonlyMap<string, PropertyTerms>) => Promise<void>)
    | undefined;
  readonly capabilities?: ((id: string) => Promise<Capabilities | undefined>) | undefined;
  /** Has more read of an endpoint that was described, where that was automatic and it is a public one not its values. Never rejects. */
  readonly readMore?: ((id: string, isPolite: boolean) => Promise<unknown>) | undefined;
}

const [kindName, listsName] = ["describe-endpoint", "describe-lists"];
/** A description is stale then. */
const maxAgeMs = 30 * 24 * 60 * 60 * 1000;
/** Endpoints described at once, and beside them those whose lists are made. */
const concurrency = 2;

/** For automatic descriptions of public endpoints; the rest is done another day. */
const politeBudget: DescribeBudget = { requests: 300, ms: 15 * 60_000, bytes: 40_000_000 };

/** How a description is asked for. */
interface RequestOptions {
  readonly priority?: number | undefined;
  /** Start from nothing instead of going on with unfinished work. The lists come first, and wait for no long description. */
  readonly again?: boolean | undefined;
  /** false: the publisher's description is not looked for. */
  readonly retrieve?: boolean | undefined;
  /** Default: the describer's. */
  readonly budget?: DescribeBudget;
  /** An automatic description of a public endpoint: keep to a small budget, and ask nothing more afterwards. */
  readonly isPolite?: boolean;
}

type Listener = (id: string, description: VoidDescription | undefined) => void;

const payload = Type.Object({
  id: catalogId,
  again: Type.Optional(Type.Boolean()),
  isPolite: Type.Optional(Type.Boolean()),
  retrieve: Type.Optional(Type.Boolean()),
  budget: Type.Optional(Type.Object({ requests: Type.Optional(Type.Number()), ms: Type.Optional(Type.Number()) })),
  /** The retrieved publisher's description, carried over to the result. */
  retrieved: Type.Optional(Type.Unknown()),
});

/** The descriptions of the catalogue's endpoints: made in the background, kept, served. */
export type DescriptionService = ReturnType<typeof createDescriptionService>;

/** The service over a store, a queue, a retriever and a describer. */
export function createDescriptionService(options: DescriptionServiceOptions) {
  const { catalog, descriptions, jobs, clock, publicUrl } = options;
  const listeners = new Set<Listener>();
  /** The description as far as it is known; undefined when there is none. @throws FedwayError `STORE_FAILED` */
  const get = async (id: string, reading?: { readonly once?: boolean }): Promise<VoidDescription | undefined> => {
    const description = await descriptions.load(id, reading);
    const entry = catalog.byId(id);
    // An entry that has got another URL since is another endpoint.
    return entry?.interface !== "sparql" || description?.endpoint === entry.url ? description : undefined;
  };
  const put = async (id: string, description: VoidDescription): Promise<void> => {
    await descriptions.save(id, description);
    for (const listener of listeners) listener(id, description);
  };
  const target = (id: string): RunTarget => {
    const entry = catalog.byId(id);
    if (entry === undefined) throw unknownId("endpoint", id, catalog);
    return targetOf(entry, publicUrl);
  };
  /** Stores a result. One that lacks something does not replace one that is whole; it waits as work for the next run. */
  const publish = async (id: string, result: VoidDescription): Promise<void> => {
    if (result.unfinished) await descriptions.saveWork(id, result);
    else await descriptions.removeWork(id);
    const earlier = result.unfinished ? await get(id) : undefined;
    if (earlier === undefined || earlier.unfinished) await put(id, result);
  };
  const describe: Describe = async (asked, context) => {
    const { id, isPolite = false, onlyLists } = asked;
    const result = await describeEndpoint({ ...options, publish }, target(id), asked, context);
    if (!onlyLists || !result.unfinished) await options.readMore?.(id, isPolite);
    return result;
  };
  return {
    /** The jobs that describe one endpoint, and that first list its classes and properties; to be started with the queue. */
    kinds: [false, true].map((onlyLists) => describeKind(describe, onlyLists)),
    /**
     * Asks for a description to be made or gone on with; a job that is waiting or running already is returned.
     * @throws FedwayError `ENDPOINT_UNKNOWN`, `REQUEST_INVALID` (its interface cannot be asked), `STORE_FAILED`
     */
    async request(id: string, { priority, ...how }: RequestOptions = {}): Promise<Job> {
      target(id);
      return jobs.enqueue(how.again ? listsName : kindName, askedRun(id, how), { id: `describe.${id}`, priority });
    },
    get,
    /** The description so far of an endpoint whose first one is not finished. @throws FedwayError `STORE_FAILED` */
    begun: (id: string): Promise<VoidDescription | undefined> => begunOf(options, id),
    /** The latest work on a description, in milliseconds since the epoch, also of a run that found little. @throws FedwayError `STORE_FAILED` */
    async lastRun(id: string) {
      const last = (await begunOf(options, id)) ?? (await get(id));
      if (last === undefined) return undefined;
      const { startedAt, finishedAt, unfinished } = last;
      return { startedMs: Date.parse(startedAt), finishedMs: Date.parse(finishedAt), unfinished };
    },
    /** How old it is; `known` saves reading it again. @throws FedwayError `STORE_FAILED` */
    async freshness(id: string, known?: VoidDescription): Promise<Freshness> {
      return freshnessOf(known ?? (await get(id)), clock.now());
    },
    /** Keeps a description that was made elsewhere, e.g. with links found on request. */
    put,
    async remove(id: string): Promise<void> {
      await descriptions.remove(id);
      for (const listener of listeners) listener(id, undefined);
    },
    /** Calls back whenever a description was stored or, with undefined, removed here, until the returned function is called. */
    onChange(listener: Listener): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Payload of a run; unset options are left out. */
const askedRun = (id: string, { again, isPolite, retrieve, budget }: RequestOptions) => ({
  id,
  ...(isPolite && { isPolite }),
  ...(again && { again }),
  ...(retrieve === false && { retrieve }),
  ...(budget && { budget }),
});

function freshnessOf(description: VoidDescription | undefined, nowMs: number): Freshness {
  if (description === undefined) return { state: "none" };
  const { finishedAt, unfinished } = description;
  const ageMs = Math.max(0, nowMs - Date.parse(finishedAt));
  return { state: unfinished ? "unfinished" : ageMs > maxAgeMs ? "stale" : "fresh", finishedAt, ageMs };
}

async function begunOf({ descriptions, catalog }: DescriptionServiceOptions, id: string) {
  const work = await descriptions.loadWork(id);
  return work !== undefined && work.endpoint === catalog.byId(id)?.url ? work : undefined;
}

type Describe = (asked: AskedRun, context: JobContext) => Promise<Summary>;

function describeKind(describe: Describe, onlyLists: boolean) {
  return jobKind(payload, {
    name: onlyLists ? listsName : kindName,
    needs: "the id of an endpoint",
    async run({ retrieved, ...asked }, context) {
      const found = { retrieved, ...(await describe({ ...asked, onlyLists }, context)) };
      // A small endpoint is described by now.
      if (!onlyLists || !found.unfinished) return found;
      return new Handover(kindName, { ...asked, again: undefined, retrieved: found.retrieved });
    },
    concurrency,
  });
}

interface RunOptions extends DescriptionServiceOptions {
  /** Stores a result, unless it lacks something that a stored one has. */
  readonly publish: (id: string, result: VoidDescription) => Promise<void>;
}

interface AskedRun extends Static<typeof payload> {
  readonly onlyLists: boolean;
}

/** Retrieves, then computes the missing facts; findings stay, also when the run fails half-way. */
async function describeEndpoint(options: RunOptions, target: RunTarget, asked: AskedRun, context: JobContext) {
  const { descriptions, publish } = options;
  const { id, again } = asked;
  // A later attempt goes on with the work of the one before.
  if (again === true && context.attempt === 1) await descriptions.removeWork(id);
  const work = await descriptions.loadWork(id);
  const { url } = target.endpoint;
  const hosted = options.local?.(url);
  const isSame = work?.endpoint === url && work.build === hosted?.build;
  const run: DescriptionRun = {
    target: { ...target, capabilities: await options.capabilities?.(id) },
    asked,
    context,
    // Of the same data all the time, or of none that can be named.
    named: (found) => ({ ...found, build: options.local?.(url) === hosted ? hosted?.build : undefined }),
    begun: isSame ? begunWork(work) : undefined,
  };
  const { description, retrieved, failure } = await findings(options, run);
  // A cancelled run goes on later from its checkpoint; any other failure must not discard the findings.
  if (failure !== undefined && context.signal.aborted) throw toFedwayError(failure);
  await publish(id, run.named(description));
  if (failure !== undefined) throw toFedwayError(failure);
  return summary(id, description, retrieved);
}

interface DescriptionRun {
  readonly target: RunTarget;
  readonly asked: AskedRun;
  readonly context: JobContext;
  /** The description with the build of a hosted dataset. */
  readonly named: (found: VoidDescription) => VoidDescription;
  /** Unfinished work of an earlier run. */
  readonly begun: VoidDescription | undefined;
}

/** Findings of a run; `failure` is the error that ended it. Never throws. */
async function findings(options: RunOptions, { target, asked, context, named, begun }: DescriptionRun) {
  const { clock, describer, retriever, descriptions, publish } = options;
  const { id } = asked;
  const { signal } = context;
  const budget = asked.isPolite === true ? politeBudget : asked.budget;
  const onProgress: JobContext["progress"] = (progress) => context.progress(progress);
  let description = begun ?? emptyDescription(target, clock.now());
  let lists = completeLists(begun);
  let retrieved: RetrievedVoid | undefined;
  try {
    if (begun === undefined && asked.retrieve !== false) {
      onProgress({ stage: "looking for the publisher's description", done: 0 });
      retrieved = await retriever.retrieve(target, { signal, budget });
      const { records, cost } = retrieved;
      const finishedAt = new Date(clock.now()).toISOString();
      description = retrieved.description ?? { ...description, finishedAt, records, cost };
      refuseGone(retrieved);
    }
    const described = await describer.describe(target, {
      signal,
      known: description,
      budget: budgetLeft(budget, retrieved?.cost),
      onlyLists: asked.onlyLists,
      onProgress,
      async save(checkpoint) {
        description = checkpoint;
        const before = lists;
        lists = completeLists(checkpoint);
        // Selection goes by lists that are complete, and no longer by those that are not any more.
        if (lists === before) await descriptions.saveWork(id, named(checkpoint));
        else await publish(id, { ...named(checkpoint), unfinished: true });
      },
    });
    description = described.description;
    // Before the description is stored: whoever follows it looks for them once.
    if (described.triples !== undefined) await options.keepTriples?.(id, description, described.triples);
    else if (described.terms !== undefined) await options.keepTerms?.(id, description, described.terms);
    return { description, retrieved };
  } catch (failure) {
    return { description: { ...description, unfinished: true }, retrieved, failure };
  }
}

function budgetLeft(budget: DescribeBudget | undefined, cost: RetrievedVoid["cost"] | undefined) {
  if (budget === undefined || cost === undefined) return budget;
  const { requests, ms, bytes } = budget;
  return {
    ...(requests !== undefined && { requests: requests - cost.requests }),
    ...(ms !== undefined && { ms: ms - cost.ms }),
    ...(bytes !== undefined && { bytes: bytes - cost.bytes }),
  };
}

/** The describer would wait a long time for a host that is not there. @throws FedwayError `ENDPOINT_UNREACHABLE` */
function refuseGone({ description, records }: RetrievedVoid): void {
  const isSilent = records.every(({ outcome, httpStatus }) => outcome === "failed" && httpStatus === undefined);
  if (description !== undefined || records.length === 0 || !isSilent) return;
  throw new FedwayError("ENDPOINT_UNREACHABLE", "The endpoint's host cannot be reached: no request was answered.");
}

/** Without answers there is nothing to go on with, and the host is looked for again. */
const begunWork = (work: VoidDescription): VoidDescription | undefined => (answeredIn(work) > 0 ? work : undefined);

/** Number of answered requests. */
const answeredIn = ({ records }: VoidDescription): number =>
  records.filter(({ outcome }) => outcome === "ok" || outcome === "partial").length;

/** Which of the lists that selection goes by are complete. */
const completeLists = (description: VoidDescription | undefined): string =>
  [description?.classesComplete === true, description?.propertiesComplete === true].join();

export type Summary = ReturnType<typeof summary>;

/** The job's result; `retrieved` is absent when the run went on from earlier work. */
function summary(id: string, description: VoidDescription, retrieved: RetrievedVoid | undefined) {
  const { unfinished, classPartitions, propertyPartitions, cost } = description;
  const answered = answeredIn(description);
  const counts = { classes: classPartitions.length, properties: propertyPartitions.length, answered };
  const { step, checks, quarantined, contradicted } = retrieved ?? {};
  return {
    id,
    unfinished,
    ...counts,
    cost,
    ...(retrieved && { retrieved: { step, checks, quarantined, contradicted } }),
  };
}
