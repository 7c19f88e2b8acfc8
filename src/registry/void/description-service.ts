import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { Job, JobContext, JobKind, JobQueue } from "../../jobs/job-queue.ts";
import type { AskedEndpoint, Catalog, CatalogEntry } from "../catalog/catalog.ts";
import type { Capabilities } from "../capabilities/capabilities.ts";
import { endpointUnknown } from "../catalog/endpoint-unknown.ts";
import type { DescribeBudget, Describer, DescribeTarget } from "../compute/describer.ts";
import type { DescriptionStore } from "./description-store.ts";
import { emptyDescription } from "../compute/todo.ts";
import type { WallClock } from "./request-log.ts";
import type { VoidDescription } from "./void-description.ts";
import type { RetrievedVoid, VoidRetriever } from "./void-retriever.ts";

/** How current a stored description is. */
export interface Freshness {
  /** "unfinished": work is left, so what is there is not all that could be found. */
  readonly state: "none" | "fresh" | "stale" | "unfinished";
  /** ISO 8601. */
  readonly finishedAt?: string;
  readonly ageMs?: number;
}

/** What a run of the job gives. */
interface DescribeSummary {
  readonly id: string;
  readonly unfinished: boolean;
  readonly classes: number;
  readonly properties: number;
  readonly cost: VoidDescription["cost"];
  /** What came of the publisher's own description; absent when the run went on from earlier work. */
  readonly retrieved?: Pick<RetrievedVoid, "step" | "checks" | "quarantined" | "contradicted"> | undefined;
}

/** The descriptions of the catalogue's endpoints: made in the background, kept, served. */
export interface DescriptionService {
  /** The job that describes one endpoint; to be started with the queue. */
  readonly kind: JobKind;
  /**
   * Asks for a description to be made or gone on with; a job that is waiting or running already is returned.
   * @throws FedwayError `ENDPOINT_UNKNOWN`, `REQUEST_INVALID` (its interface cannot be asked), `STORE_FAILED`
   */
  request(id: string, options?: DescribeRequest): Promise<Job>;
  /** The description as far as it is known; undefined when there is none. @throws FedwayError `STORE_FAILED` */
  get(id: string): Promise<VoidDescription | undefined>;
  freshness(id: string): Promise<Freshness>;
  /** Keeps a description that was made elsewhere, e.g. with links found on request. */
  put(id: string, description: VoidDescription): Promise<void>;
  remove(id: string): Promise<void>;
  /** Calls back with the id whenever a description was stored or removed here, until the returned function is called. */
  onChange(listener: (id: string) => void): () => void;
}

/** How a description is asked for. */
interface DescribeRequest {
  /** Higher runs first; default 0. */
  readonly priority?: number;
  /** Start from nothing instead of going on with unfinished work. */
  readonly again?: boolean;
}

/** What the service works with. */
export interface DescriptionServiceOptions {
  readonly catalog: Pick<Catalog, "byId">;
  readonly retriever: VoidRetriever;
  readonly describer: Describer;
  readonly descriptions: DescriptionStore;
  readonly jobs: Pick<JobQueue, "enqueue">;
  readonly clock: WallClock;
  /** Own origin, for the IRIs of datasets that have none. */
  readonly publicUrl: string;
  readonly budget?: DescribeBudget | undefined;
  /** Milliseconds after which a description is stale; default 30 days. */
  readonly maxAgeMs?: number;
  /** Endpoints described at once; default 2. */
  readonly concurrency?: number;
  readonly capabilities?: (id: string) => Promise<Capabilities | undefined>;
  /** How an entry is asked; default: entries with the SPARQL interface by their URL, others not at all. */
  readonly endpointOf?: (entry: CatalogEntry) => AskedEndpoint | undefined;
  /** Hears of stored descriptions that were damaged and dropped. */
  readonly onDropped?: (id: string, reason: string) => void;
}

const kindName = "describe-endpoint";
const monthMs = 30 * 24 * 60 * 60 * 1000;
const idPattern = /^[a-z0-9][a-z0-9._-]{0,63}$/u;

/** The payload of the job. */
interface Payload {
  readonly id: string;
  readonly again: boolean;
}

function payloadOf(payload: unknown): Payload {
  const id = typeof payload === "object" && payload !== null && "id" in payload ? payload.id : undefined;
  const again = typeof payload === "object" && payload !== null && "again" in payload ? payload.again : false;
  if (typeof id !== "string" || !idPattern.test(id) || typeof again !== "boolean") {
    throw new FedwayError("REQUEST_INVALID", `A ${kindName} job needs the id of an endpoint.`);
  }
  return { id, again };
}

const bySparql = ({ id, url, interface: kind, method }: CatalogEntry): AskedEndpoint | undefined =>
  kind === "sparql" ? { id, url, method } : undefined;

/** The service over a store, a queue, a retriever and a describer. */
export function createDescriptionService(options: DescriptionServiceOptions): DescriptionService {
  const { descriptions, jobs, clock, maxAgeMs = monthMs, concurrency = 2 } = options;
  const listeners = new Set<(id: string) => void>();
  const changed = (id: string): void => {
    for (const listener of listeners) listener(id);
  };
  const load = async (id: string): Promise<VoidDescription | undefined> => {
    const { description, dropped } = await descriptions.load(id);
    if (dropped !== undefined) options.onDropped?.(id, dropped);
    const entry = options.catalog.byId(id);
    // An entry that has got another URL since is another endpoint.
    const url = entry && (options.endpointOf ?? bySparql)(entry)?.url;
    return url === undefined || description?.endpoint === url ? description : undefined;
  };
  const run = (payload: unknown, context: JobContext): Promise<DescribeSummary> =>
    describeEndpoint({ ...options, load, changed }, payloadOf(payload), context);
  return {
    kind: {
      name: kindName,
      validate(payload) {
        payloadOf(payload);
      },
      run,
      concurrency,
    },
    async request(id, { priority, again = false } = {}) {
      targetOf(options, id);
      const how = { id: `describe.${id}`, priority };
      return jobs.enqueue(kindName, { id, again }, how);
    },
    get: load,
    async freshness(id) {
      const description = await load(id);
      if (description === undefined) return { state: "none" };
      const { finishedAt, unfinished } = description;
      const ageMs = Math.max(0, clock.now() - Date.parse(finishedAt));
      return { state: unfinished ? "unfinished" : ageMs > maxAgeMs ? "stale" : "fresh", finishedAt, ageMs };
    },
    async put(id, description) {
      await descriptions.save(id, description);
      changed(id);
    },
    async remove(id) {
      await descriptions.remove(id);
      changed(id);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** What a run works with. */
interface RunOptions extends DescriptionServiceOptions {
  readonly load: (id: string) => Promise<VoidDescription | undefined>;
  readonly changed: (id: string) => void;
}

function targetOf(options: DescriptionServiceOptions, id: string): DescribeTarget & { readonly dataset: string } {
  const entry = options.catalog.byId(id);
  if (entry === undefined) throw endpointUnknown(id);
  const endpoint = (options.endpointOf ?? bySparql)(entry);
  if (endpoint === undefined) {
    throw new FedwayError(
      "REQUEST_INVALID",
      `"${id}" has the interface ${entry.interface}; it cannot be asked for a description.`,
    );
  }
  return {
    endpoint,
    dataset: `${options.publicUrl}/endpoints/${id}#dataset`,
    engine: entry.engine,
    rowCap: entry.rowCap,
  };
}

/** Retrieves, then computes what is missing; what was found stays, also when the run fails half-way. */
async function describeEndpoint(options: RunOptions, payload: Payload, context: JobContext): Promise<DescribeSummary> {
  const { id } = payload;
  const { descriptions } = options;
  const target = targetOf(options, id);
  const { signal } = context;
  // A later attempt goes on with the work of the one before.
  if (payload.again && context.attempt === 1) await descriptions.removeWork(id);
  const { description: work } = await descriptions.loadWork(id);
  const earlier = work?.endpoint === target.endpoint.url ? work : undefined;
  const { known, retrieved } = earlier === undefined ? await retrieve(options, target, context) : { known: earlier };
  const capabilities = await options.capabilities?.(id);
  let latest = known;
  try {
    const description = await options.describer.describe(
      { ...target, capabilities },
      {
        signal,
        known,
        budget: options.budget,
        onProgress: (progress) => context.progress(progress),
        async onCheckpoint(checkpoint) {
          latest = checkpoint;
          await descriptions.saveWork(id, checkpoint);
        },
      },
    );
    await publish(options, id, description);
    return summary(id, description, retrieved);
  } catch (thrown) {
    // A cancelled run goes on later from its checkpoint; any other failure must not take along what was found.
    if (!signal.aborted) await publish(options, id, { ...latest, unfinished: true });
    throw toFedwayError(thrown);
  }
}

interface Start {
  readonly known: VoidDescription;
  readonly retrieved?: RetrievedVoid | undefined;
}

/** The publisher's description, or an empty one with the attempts to find it. */
async function retrieve(
  options: RunOptions,
  target: DescribeTarget & { readonly dataset: string },
  context: JobContext,
): Promise<Start> {
  const { retriever, clock } = options;
  const startedAt = new Date(clock.now()).toISOString();
  context.progress({ stage: "looking for the publisher's description", done: 0 });
  const { endpoint, dataset } = target;
  const retrieved = await retriever.retrieve({ endpoint, dataset }, { signal: context.signal });
  const { description, records, cost } = retrieved;
  const finishedAt = new Date(clock.now()).toISOString();
  const empty = { ...emptyDescription({ endpoint, dataset, startedAt, finishedAt }), records, cost };
  return { known: description ?? empty, retrieved };
}

/** Stores a result. One that lacks something does not replace one that is whole; it waits as work for the next run. */
async function publish(
  { descriptions, load, changed }: RunOptions,
  id: string,
  result: VoidDescription,
): Promise<void> {
  if (result.unfinished) await descriptions.saveWork(id, result);
  else await descriptions.removeWork(id);
  const earlier = result.unfinished ? await load(id) : undefined;
  if (earlier !== undefined && !earlier.unfinished) return;
  await descriptions.save(id, result);
  changed(id);
}

function summary(id: string, description: VoidDescription, retrieved: RetrievedVoid | undefined): DescribeSummary {
  const { unfinished, classPartitions, propertyPartitions, cost } = description;
  const counts = { classes: classPartitions.length, properties: propertyPartitions.length };
  if (retrieved === undefined) return { id, unfinished, ...counts, cost };
  const { step, checks, quarantined, contradicted } = retrieved;
  const found = { step, checks, quarantined, contradicted };
  return { id, unfinished, ...counts, cost, retrieved: found };
}
