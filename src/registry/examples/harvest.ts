import { Type } from "typebox";
import { FedwayError } from "../../errors/fedway-error.ts";
import { unknownId } from "../../errors/unknown-id.ts";
import { jobKind } from "../../jobs/job-kind.ts";
import type { Job, JobContext, JobQueue, JobSchedule } from "../../jobs/job-queue.ts";
import type { Asker } from "../../outbound/whole-answer.ts";
import type { Collection } from "../../store/collection.ts";
import type { Catalog, CatalogEntry } from "../catalog/catalog.ts";
import { catalogId } from "../catalog/statements.ts";
import type { EndpointModels } from "../model/endpoint-models.ts";
import type { Example, ExampleSet, RawExample } from "./example.ts";
import { askForExamples } from "./read-shacl.ts";

/** What the harvest works with. */
export interface HarvestOptions {
  readonly models: Pick<EndpointModels, "get" | "follow">;
  readonly exampleSets: Pick<Collection<ExampleSet>, "put" | "delete">;
  readonly catalog: Pick<Catalog, "byId" | "byUrl" | "entries">;
  readonly asker: Pick<Asker, "ask">;
  readonly jobs: Pick<JobQueue, "enqueue">;
  readonly clock: { now(): number };
  /** Endpoints that are not asked unless somebody requests it. */
  readonly isSpared?: (id: string) => boolean;
  /** Milliseconds after which an endpoint's examples are read again; default 30 days. */
  readonly maxAgeMs?: number;
}

/** Those of an endpoint's examples that can be used. */
type UsableExamples = (id: string, found: readonly RawExample[]) => readonly Example[];

const kindName = "read-examples";
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Endpoints that are asked at one turn. */
const mostDue = 20;
/** Characters of the examples that are kept of one endpoint. */
const mostCharacters = 2_000_000;

/** Reads the examples that endpoints publish in their own data into the store, which the models follow. */
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
  readonly #usable: UsableExamples;
  /** When an endpoint was asked last, whatever the result. */
  readonly #triedAtMs = new Map<string, number>();

  constructor(options: HarvestOptions, usable: UsableExamples) {
    this.#options = options;
    this.#usable = usable;
  }

  /** Asks for an endpoint's examples to be read again. @throws FedwayError `ENDPOINT_UNKNOWN`, `REQUEST_INVALID`, `STORE_FAILED` */
  async request(id: string): Promise<Job> {
    this.#entry(id);
    return this.#options.jobs.enqueue(kindName, { id }, { id: `examples.${id}` });
  }

  /** Forgets what an endpoint has published. @throws FedwayError `STORE_FAILED` */
  async remove(id: string): Promise<void> {
    await this.#options.exampleSets.delete(id);
  }

  async #read({ id, url, method }: CatalogEntry, { signal }: JobContext) {
    const { asker, clock, exampleSets } = this.#options;
    this.#triedAtMs.set(id, clock.now());
    const found = await askForExamples(asker, { id, url, method }, signal);
    let left = mostCharacters;
    // As they can be used: with the prefixes that their source declares.
    const examples = this.#usable(id, found)
      .filter(({ question, query }) => (left -= question.length + query.length) >= 0)
      .map(({ question, query, targets }) => ({ question, query, targets: [...targets] }));
    await exampleSets.put(id, { endpoint: url, readAt: clock.now(), examples });
    return { id, examples: examples.length, leftOut: found.length - examples.length };
  }

  /** One endpoint after the other; one that fails is asked again on another day. */
  async #readDue(context: JobContext) {
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
    const { catalog, clock, models, isSpared = () => false, maxAgeMs = 30 * dayMs } = this.#options;
    const ageMs = (atMs: number | undefined): number => clock.now() - (atMs ?? Number.NEGATIVE_INFINITY);
    return catalog.entries
      .filter((entry) => entry.interface === "sparql" && !isSpared(entry.id))
      .filter(({ id }) => ageMs(this.#triedAtMs.get(id)) >= Math.min(dayMs, maxAgeMs))
      .filter(({ id }) => ageMs(models.get(id)?.examples?.readAt) >= maxAgeMs)
      .slice(0, mostDue);
  }

  #entry(id: string): CatalogEntry {
    const entry = this.#options.catalog.byId(id);
    if (entry?.interface === "sparql") return entry;
    if (entry === undefined) throw unknownId("endpoint", id, this.#options.catalog);
    throw new FedwayError("REQUEST_INVALID", `The endpoint "${id}" cannot be queried.`);
  }
}
