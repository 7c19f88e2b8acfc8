import { type Static, Type } from "typebox";
import { FedwayError } from "../../errors/fedway-error.ts";
import { unknownId } from "../../errors/unknown-id.ts";
import { jobKind } from "../../jobs/job-kind.ts";
import type { Job, JobContext, JobQueue, JobSchedule } from "../../jobs/job-queue.ts";
import type { Asker } from "../../outbound/whole-answer.ts";
import { createCollection } from "../../store/collection.ts";
import { Mirror } from "../../store/mirror.ts";
import type { Store } from "../../store/store.ts";
import type { Catalog, CatalogEntry } from "../catalog/catalog.ts";
import { catalogId } from "../catalog/statements.ts";
import type { Example, RawExample } from "./example.ts";
import { askForExamples } from "./read-shacl.ts";

/** What the harvest works with. */
export interface HarvestOptions {
  readonly store: Store;
  readonly catalog: Pick<Catalog, "byId" | "byUrl" | "entries">;
  readonly asker: Pick<Asker, "ask">;
  readonly jobs: Pick<JobQueue, "enqueue">;
  readonly clock: { now(): number };
  /** Endpoints that are not asked unless somebody requests it. */
  readonly isSpared?: (id: string) => boolean;
  /** Milliseconds after which an endpoint's examples are read again; default 30 days. */
  readonly maxAgeMs?: number;
}

/** Takes what an endpoint publishes in the place of what it had before; gives those that can be used. */
type TakeExamples = (id: string, found: readonly RawExample[]) => readonly Example[];

const kindName = "read-examples";
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Endpoints that are asked at one turn. */
const mostDue = 20;
/** Characters of the examples that are kept of one endpoint. */
const mostCharacters = 2_000_000;

const schema = Type.Object({
  endpoint: Type.String(),
  /** Milliseconds since the epoch. */
  readAt: Type.Number(),
  examples: Type.Array(
    Type.Object({ question: Type.String(), query: Type.String(), targets: Type.Array(Type.String()) }),
  ),
});
type ExampleSet = Static<typeof schema>;

/** The examples that endpoints publish in their own data: read in the background, kept in the store. */
export class ExampleHarvest {
  /** Reads the examples of one endpoint, or of those that are due; to be started with the queue. */
  readonly kind = jobKind(Type.Object({ id: Type.Optional(catalogId) }), {
    name: kindName,
    needs: "the id of an endpoint, or none for all due",
    run: async ({ id }, context) => (id === undefined ? this.#readDue(context) : this.#read(this.#entry(id), context)),
  });
  /** To be handed to `JobQueue.schedule`. */
  readonly schedule: JobSchedule = { name: "read-due-examples", kind: kindName, payload: {}, everyMs: hourMs };
  readonly #options: HarvestOptions;
  readonly #take: TakeExamples;
  readonly #sets: Mirror<ExampleSet>;
  /** When an endpoint was asked last, whatever the result. */
  readonly #triedAtMs = new Map<string, number>();

  constructor(options: HarvestOptions, take: TakeExamples) {
    this.#options = options;
    this.#take = take;
    const { store } = options;
    this.#sets = new Mirror(createCollection({ store, prefix: "example-set/", schema, removesInvalid: true }));
  }

  /** Asks for an endpoint's examples to be read again. @throws FedwayError `ENDPOINT_UNKNOWN`, `REQUEST_INVALID`, `STORE_FAILED` */
  async request(id: string): Promise<Job> {
    this.#entry(id);
    return this.#options.jobs.enqueue(kindName, { id }, { id: `examples.${id}` });
  }

  /** Takes in what is stored. @throws FedwayError `STORE_FAILED` */
  async refresh(): Promise<void> {
    for (const id of await this.#sets.refresh()) this.#changed(id);
  }

  /** Forgets what an endpoint has published. @throws FedwayError `STORE_FAILED` */
  async remove(id: string): Promise<void> {
    await this.#sets.delete(id);
    this.#changed(id);
  }

  #changed(id: string): void {
    const set = this.#sets.get(id);
    // An entry that has got another URL since is another endpoint.
    this.#take(id, set !== undefined && set.endpoint === this.#options.catalog.byId(id)?.url ? set.examples : []);
  }

  async #read({ id, url, method }: CatalogEntry, { signal }: JobContext) {
    const { asker, clock } = this.#options;
    this.#triedAtMs.set(id, clock.now());
    const found = await askForExamples(asker, { id, url, method }, signal);
    let left = mostCharacters;
    // As they can be used: with the prefixes that their source declares.
    const examples = this.#take(id, found)
      .filter(({ question, query }) => (left -= question.length + query.length) >= 0)
      .map(({ question, query, targets }) => ({ question, query, targets: [...targets] }));
    await this.#sets.put(id, { endpoint: url, readAt: clock.now(), examples });
    this.#changed(id);
    return { id, examples: examples.length, leftOut: found.length - examples.length };
  }

  /** One endpoint after the other; one that fails is asked again on another day. */
  async #readDue(context: JobContext) {
    await this.refresh();
    const results = { read: 0, examples: 0, failed: 0 };
    for (const entry of this.#due()) {
      if (context.signal.aborted) break;
      try {
        results.examples += (await this.#read(entry, context)).examples;
        results.read += 1;
      } catch {
        results.failed += 1;
      }
    }
    return results;
  }

  #due(): readonly CatalogEntry[] {
    const { catalog, clock, isSpared = () => false, maxAgeMs = 30 * dayMs } = this.#options;
    const ageMs = (atMs: number | undefined): number => clock.now() - (atMs ?? Number.NEGATIVE_INFINITY);
    return catalog.entries
      .filter((entry) => entry.interface === "sparql" && !isSpared(entry.id))
      .filter(({ id }) => ageMs(this.#triedAtMs.get(id)) >= Math.min(dayMs, maxAgeMs))
      .filter(({ id }) => ageMs(this.#sets.get(id)?.readAt) >= maxAgeMs)
      .slice(0, mostDue);
  }

  #entry(id: string): CatalogEntry {
    const entry = this.#options.catalog.byId(id);
    if (entry?.interface === "sparql") return entry;
    if (entry === undefined) throw unknownId("endpoint", id, this.#options.catalog);
    throw new FedwayError("REQUEST_INVALID", `The endpoint "${id}" cannot be queried.`);
  }
}
