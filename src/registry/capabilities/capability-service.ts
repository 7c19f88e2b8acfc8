import { unknownId } from "../../errors/unknown-id.ts";
import { Type } from "typebox";
import { jobKind } from "../../jobs/job-kind.ts";
import type { Job, JobContext, JobKind, JobQueue, JobSchedule } from "../../jobs/job-queue.ts";
import type { AskedEndpoint, Catalog, CatalogEntry } from "../catalog/catalog.ts";
import { catalogId } from "../catalog/statements.ts";
import { type Capabilities, type EndpointView, endpointView } from "./capabilities.ts";
import type { EndpointTarget, LearnedManner } from "../../outbound/sparql-request.ts";
import type { Collection } from "../../store/collection.ts";
import { Mirror } from "../../store/mirror.ts";

interface CapabilityServiceOptions {
  readonly catalog: Pick<Catalog, "byId" | "entries">;
  readonly probe: (endpoint: AskedEndpoint, context: JobContext) => Promise<Capabilities>;
  /** Looks at endpoints that do not speak SPARQL. */
  readonly documentCanary: (entry: CatalogEntry, context: JobContext) => Promise<Capabilities>;
  readonly capabilities: Collection<Capabilities>;
  readonly jobs: Pick<JobQueue, "enqueue">;
  readonly clock: { now(): number };
  /** Milliseconds after which an endpoint is probed again; default 7 days. */
  readonly maxAgeMs?: number;
  /** Endpoints probed at once; default 2. */
  readonly concurrency?: number;
}

/** Without an id it is not in the catalogue. */
export type NotedEndpoint = Pick<EndpointTarget, "id" | "url">;

/** Facts about an endpoint that queries revealed. */
export interface Found extends LearnedManner {
  readonly rowCap?: number | undefined;
  readonly lacksValues?: boolean | undefined;
}

const probeKind = "probe-capabilities";
const dueKind = "probe-due-capabilities";
const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
/** Endpoints enqueued at one turn, so that a new catalogue is not probed all at once. */
const mostDue = 20;

/**
 * Capabilities of the catalogue's endpoints: probed in the background, kept, served. `refresh` it before its views are used.
 */
export class CapabilityService {
  /** The jobs that probe one endpoint, and that look for endpoints to be probed again; to be started with the queue. */
  readonly kinds: readonly JobKind[];
  /** Looks for endpoints to be probed, a few at a time; to be handed to `JobQueue.schedule`. */
  readonly schedule: JobSchedule = { name: dueKind, kind: dueKind, payload: {}, everyMs: hourMs };
  /** Grows with every change of a view. */
  version = 0;
  readonly #options: CapabilityServiceOptions;
  /** When an endpoint was asked for last, whatever the result. */
  readonly #triedAtMs = new Map<string, number>();
  readonly #known: Mirror<Capabilities>;
  readonly #views = new WeakMap<Capabilities, EndpointView | undefined>();

  constructor(options: CapabilityServiceOptions) {
    this.#options = options;
    this.#known = new Mirror(options.capabilities);
    this.kinds = [
      jobKind(Type.Object({ id: catalogId }), {
        name: probeKind,
        needs: "the id of an endpoint",
        run: ({ id }, context) => this.#probe(id, context),
        concurrency: options.concurrency ?? 2,
      }),
      { name: dueKind, validate: () => undefined, run: (_payload, { signal }) => this.#enqueueDue(signal) },
    ];
  }

  /** An entry that has got another URL since is another endpoint. */
  #current(id: string, capabilities: Capabilities | undefined): Capabilities | undefined {
    const entry = this.#options.catalog.byId(id);
    return entry === undefined || entry.url !== capabilities?.endpoint ? undefined : capabilities;
  }

  /** Undefined when the endpoint has not been probed under its present URL. @throws FedwayError `STORE_FAILED` */
  async get(id: string): Promise<Capabilities | undefined> {
    return this.#current(id, await this.#options.capabilities.get(id));
  }

  /** As `get`, from memory. */
  known(id: string): Capabilities | undefined {
    return this.#current(id, this.#known.get(id));
  }

  /** The planner's view, from memory; undefined when nothing is known. */
  view(id: string): EndpointView | undefined {
    const known = this.known(id);
    if (known !== undefined && !this.#views.has(known)) this.#views.set(known, endpointView(known));
    return known && this.#views.get(known);
  }

  /** @throws FedwayError `STORE_FAILED` */
  async remove(id: string): Promise<void> {
    await this.#known.delete(id);
    this.version += 1;
  }

  /** Reads stored capabilities: at the start, and those that other processes have probed since. @throws FedwayError `STORE_FAILED` */
  async refresh(): Promise<void> {
    if ((await this.#known.refresh()).length > 0) this.version += 1;
  }

  /**
   * Asks for an endpoint to be probed; a job that is waiting or running already is returned.
   * @throws FedwayError `ENDPOINT_UNKNOWN`, `STORE_FAILED`
   */
  async request(id: string, { priority }: { readonly priority?: number } = {}): Promise<Job> {
    this.#entry(id);
    const { jobs } = this.#options;
    return jobs.enqueue(probeKind, { id }, { id: `probe.${id}`, priority });
  }

  #entry(id: string): CatalogEntry {
    const entry = this.#options.catalog.byId(id);
    if (entry === undefined) throw unknownId("endpoint", id, this.#options.catalog);
    return entry;
  }

  /** Resolves to the job's result; with `stored` false an earlier, better result was kept instead. */
  async #probe(id: string, context: JobContext) {
    const entry = this.#entry(id);
    const { url, method } = entry;
    const { probe, documentCanary } = this.#options;
    const isSparql = entry.interface === "sparql";
    const found = await (isSparql ? probe({ id, url, method }, context) : documentCanary(entry, context));
    this.#triedAtMs.set(id, this.#options.clock.now());
    const earlier = await this.get(id);
    const stored = earlier === undefined || isWhole(found) || !isWhole(earlier);
    if (stored) {
      await this.#known.put(id, found);
      this.version += 1;
    }
    const lacks = [...(endpointView(found)?.lacks ?? [])];
    return { id, reachable: found.reachable, unfinished: found.unfinished ?? false, lacks, stored };
  }

  /**
   * Adds what queries have shown: after how many rows answers are cut without a sign, or how the endpoint must be asked. Where
   * nothing is stored nothing is noted: such an endpoint is probed soon. @throws FedwayError `STORE_FAILED`
   */
  async note({ id, url }: NotedEndpoint, found: Found): Promise<void> {
    const known = id === undefined ? undefined : await this.get(id);
    if (id === undefined || known === undefined || known.endpoint !== url) return;
    const noted = withFound(known, found, new Date(this.#options.clock.now()).toISOString());
    if (noted === undefined) return;
    await this.#known.put(id, noted);
    this.version += 1;
  }

  /** Enqueues the endpoints that were never probed or too long ago, the oldest first. */
  async #enqueueDue(signal: AbortSignal): Promise<{ readonly enqueued: readonly string[] }> {
    await this.refresh();
    const { catalog, clock, maxAgeMs = 7 * dayMs } = this.#options;
    const due = catalog.entries
      .map(({ id }) => ({ id, probedAtMs: this.#probedAtMs(id), whole: this.#isWhole(id) }))
      .filter(
        ({ id }) => clock.now() - (this.#triedAtMs.get(id) ?? Number.NEGATIVE_INFINITY) >= Math.min(dayMs, maxAgeMs),
      )
      .filter(({ probedAtMs, whole }) => clock.now() - probedAtMs >= (whole ? maxAgeMs : Math.min(dayMs, maxAgeMs)))
      .toSorted((a, b) => a.probedAtMs - b.probedAtMs)
      .slice(0, mostDue)
      .map(({ id }) => id);
    for (const id of due) {
      if (signal.aborted) break;
      await this.request(id, { priority: -1 });
    }
    return { enqueued: due };
  }

  /** Minus infinity when it was never probed. */
  #probedAtMs(id: string): number {
    const capabilities = this.#current(id, this.#known.get(id));
    return capabilities === undefined ? Number.NEGATIVE_INFINITY : Date.parse(capabilities.probedAt);
  }

  #isWhole(id: string): boolean {
    const known = this.#known.get(id);
    return known !== undefined && isWhole(known);
  }
}

/** Undefined where it is known. */
function withFound(known: Capabilities, { rowCap, ...manner }: Found, at: string): Capabilities | undefined {
  if (rowCap !== undefined) {
    const { wholeRows: _, ...rest } = known;
    return known.rowCap === rowCap ? undefined : { ...rest, rowCap, rowCapSilent: true };
  }
  const { at: _, ...learned } = known.learned ?? {};
  const merged = { ...learned, ...manner };
  return JSON.stringify(merged) === JSON.stringify(learned) ? undefined : { ...known, learned: { ...merged, at } };
}

/** One that lacks something does not replace one that is whole. */
const isWhole = ({ reachable, unfinished }: Capabilities): boolean => reachable && unfinished !== true;
