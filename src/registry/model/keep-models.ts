import { setImmediate as nextTurn } from "node:timers/promises";
import { type Clock, sleep } from "../../clock.ts";
import { type Collection, documentsUnder } from "../../store/collection.ts";
import type { Store } from "../../store/store.ts";
import type { CatalogEntry, EditableCatalog } from "../catalog/catalog.ts";
import type { PublishedFacts } from "../catalog/published/published-facts.ts";
import type { DescriptionService } from "../descriptions/description-service.ts";
import type { VoidDescription } from "../descriptions/void-description.ts";
import type { EndpointModel, EndpointModels, ReadPart } from "./endpoint-models.ts";

type Stored<Part extends ReadPart> = Pick<Collection<NonNullable<EndpointModel[Part]>>, "get" | "entries" | "watch">;

/** Sources that models are updated from. */
interface KeptParts {
  readonly store: Store;
  readonly catalog: Pick<EditableCatalog, "entries" | "byId" | "published" | "onChange">;
  readonly descriptions: Pick<DescriptionService, "get" | "onChange">;
  readonly harvests: Stored<"values">;
  readonly exampleSets: Stored<"examples">;
  /** True if names and values of an endpoint may be read. */
  readonly mayHarvest: (id: string) => boolean;
  readonly clock: Clock;
  /** Called with a description that could not be read, or whose version could not be stored. */
  readonly onFault: (error: unknown) => void;
}

/** Versions of the stored descriptions: one listing shows which of them other processes have changed. */
const versionPrefix = "search/version/";
/** A start does not wait longer for the descriptions of a large catalogue; they are read on in the background. */
const firstReadMs = 2_000;

/** Entries that are indexed before others have their turn: 20,000 at once would take a second. */
const entriesPerTurn = 200;

/** The one follower of catalogue and stored descriptions: all that is known of endpoints is read once, here. */
export async function keepModels(models: EndpointModels, parts: KeptParts): Promise<ModelKeeper> {
  const keeper = new ModelKeeper(models, parts);
  await keeper.taken;
  const ready = new AbortController();
  void keeper.settled().finally(() => ready.abort());
  await sleep(firstReadMs, { clock: parts.clock, signal: ready.signal });
  return keeper;
}

class ModelKeeper {
  readonly #models: EndpointModels;
  readonly #parts: KeptParts;
  readonly #ignore: readonly (() => void)[];
  /** Reads the stored data of one endpoint beside its description, or of all. */
  readonly #read: readonly ((id?: string) => Promise<void>)[];
  readonly #first: Promise<void>;
  /** Resolves when the models have the entries of the catalogue. */
  readonly taken: Promise<unknown>;
  #isClosed = false;

  constructor(models: EndpointModels, parts: KeptParts) {
    this.#models = models;
    this.#parts = parts;
    const { catalog, harvests, exampleSets, descriptions, onFault } = parts;
    this.taken = this.#takeEntries();
    const read = { values: this.#reader("values", harvests), examples: this.#reader("examples", exampleSets) };
    this.#read = Object.values(read);
    this.#ignore = [
      catalog.onChange(() => void this.#readMoved().catch(onFault)),
      harvests.watch((change) => void read.values(change?.key).catch(onFault)),
      exampleSets.watch((change) => void read.examples(change?.key).catch(onFault)),
      descriptions.onChange((...stored) => void this.#takeStored(...stored).catch(onFault)),
    ];
    models.isReading = true;
    this.#first = this.taken
      .then(() => this.#readNew())
      .catch(onFault)
      .finally(() => (models.isReading = false));
  }

  /** Resolves when all descriptions have been read once. */
  settled(): Promise<void> {
    return this.#first;
  }

  /** Takes in descriptions that other processes stored or removed. @throws FedwayError `STORE_FAILED` */
  async refresh(): Promise<void> {
    await this.#first;
    await this.#readNew();
  }

  /** Stops following. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const ignore of this.#ignore) ignore();
    await this.#first;
  }

  /** An entry that has got another URL is another endpoint, and one that is gone has no model. */
  #isOf(id: string, { endpoint }: { readonly endpoint: string }): boolean {
    const entry = this.#parts.catalog.byId(id);
    return entry !== undefined && (entry.interface !== "sparql" || entry.url === endpoint);
  }

  #take(id: string, description: VoidDescription | undefined): void {
    const known = description && this.#isOf(id, description) ? description : undefined;
    if (!this.#isClosed) this.#models.setDescription(id, known);
  }

  #reader<Part extends ReadPart>(part: Part, stored: Stored<Part>): (id?: string) => Promise<void> {
    const take = (id: string, found: NonNullable<EndpointModel[Part]> | undefined): void => {
      const mayKnow = part !== "values" || this.#parts.mayHarvest(id);
      const known = found && this.#isOf(id, found) && mayKnow ? found : undefined;
      if (!this.#isClosed) this.#models.setRead(id, part, known);
    };
    return async (id) => {
      if (id !== undefined) return take(id, await stored.get(id));
      for await (const [each, found] of stored.entries()) take(each, found);
    };
  }

  async #takeStored(id: string, description: VoidDescription | undefined): Promise<void> {
    const { store } = this.#parts;
    // Earlier facts do not count from now on.
    this.#take(id, description);
    if (description === undefined) await store.delete(versionPrefix + id);
    else await store.put(versionPrefix + id, description.finishedAt);
  }

  /** @returns ids of the entries that are new or have got another URL */
  async #takeEntries(): Promise<readonly string[]> {
    const { catalog } = this.#parts;
    const { entries } = catalog;
    const moved = entries.filter(({ id, url }) => this.#models.get(id)?.entry?.url !== url);
    for (const [index, entry] of moved.entries()) {
      if (index > 0 && index % entriesPerTurn === 0) await nextTurn();
      if (this.#isClosed || catalog.entries !== entries) break;
      this.#takeMoved(entry, catalog.published.facts(entry.id));
    }
    // Those that are left are what has changed since, and those with other texts.
    if (!this.#isClosed) this.#models.setEntries(catalog.entries, (id) => catalog.published.facts(id));
    return moved.map(({ id }) => id);
  }

  #takeMoved(entry: CatalogEntry, published: PublishedFacts | undefined): void {
    this.#models.setEntry(entry, published);
    this.#take(entry.id, undefined);
    for (const part of ["values", "examples"] as const) this.#models.setRead(entry.id, part, undefined);
  }

  async #readMoved(): Promise<void> {
    const ids = await this.#takeEntries();
    await this.#readAll(ids);
    for (const id of ids) {
      if (this.#isClosed) return;
      for (const read of this.#read) await read(id);
    }
  }

  async #readNew(): Promise<void> {
    const { store, catalog } = this.#parts;
    const versions = await storedVersions(store);
    const ids = catalog.entries.map(({ id }) => id);
    await this.#readAll(ids.filter((id) => this.#models.get(id)?.version !== versions.get(id)));
  }

  async #readAll(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      if (this.#isClosed) return;
      const before = this.#models.get(id)?.described;
      // The model has what it says; both would be kept twice.
      const description = await this.#parts.descriptions.get(id, { once: true });
      // One that was stored meanwhile is newer.
      if (this.#models.get(id)?.described === before) this.#take(id, description);
      // Queries have their turn between two endpoints.
      await nextTurn();
    }
  }
}

async function storedVersions(store: Store): Promise<ReadonlyMap<string, string>> {
  const versions = new Map<string, string>();
  for await (const { key, value } of documentsUnder(store, versionPrefix)) {
    versions.set(key.slice(versionPrefix.length), value);
  }
  return versions;
}
