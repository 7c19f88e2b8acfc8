import { setImmediate as nextTurn } from "node:timers/promises";
import { type Clock, sleep } from "../../clock.ts";
import { type Collection, documentsUnder } from "../../store/collection.ts";
import type { Store } from "../../store/store.ts";
import type { EditableCatalog } from "../catalog/catalog.ts";
import type { Harvest } from "../values/harvest.ts";
import type { DescriptionService } from "../void/description-service.ts";
import type { VoidDescription } from "../void/void-description.ts";
import type { EndpointModels } from "./endpoint-models.ts";

/** What models are kept up to date with. */
interface KeptParts {
  readonly store: Store;
  readonly catalog: Pick<EditableCatalog, "entries" | "byId" | "published" | "onChange">;
  readonly descriptions: Pick<DescriptionService, "get" | "onChange">;
  readonly harvests: Pick<Collection<Harvest>, "get" | "entries" | "watch">;
  /** Whether names and values of an endpoint may be known. */
  readonly mayHarvest: (id: string) => boolean;
  readonly clock: Clock;
  /** Called with a description that could not be read, or whose version could not be stored. */
  readonly onFault: (error: unknown) => void;
}

/** Versions of the stored descriptions: one listing shows which of them other processes have changed. */
const versionPrefix = "search/version/";
/** A start does not wait longer for the descriptions of a large catalogue; they are read on in the background. */
const firstReadMs = 2_000;

/** The one follower of catalogue and stored descriptions: all that is known of endpoints is read once, here. */
export async function keepModels(models: EndpointModels, parts: KeptParts) {
  const { store, catalog, descriptions, harvests, clock, onFault } = parts;
  let isClosed = false;
  /** An entry that has got another URL is another endpoint, and one that is gone has no model. */
  const isOf = (id: string, { endpoint }: { readonly endpoint: string }): boolean => {
    const entry = catalog.byId(id);
    return entry !== undefined && (entry.interface !== "sparql" || entry.url === endpoint);
  };
  const take = (id: string, description: VoidDescription | undefined): void => {
    if (!isClosed) models.setDescription(id, description && isOf(id, description) ? description : undefined);
  };
  const takeStored = async (id: string, description: VoidDescription | undefined): Promise<void> => {
    // What was known counts no longer from now on.
    take(id, description);
    if (description === undefined) await store.delete(versionPrefix + id);
    else await store.put(versionPrefix + id, description.finishedAt);
  };
  const readAll = async (ids: readonly string[]): Promise<void> => {
    for (const id of ids) {
      if (isClosed) return;
      const before = models.get(id)?.described;
      // The model has what it says; both would be kept twice.
      const description = await descriptions.get(id, { once: true });
      // One that was stored meanwhile is newer.
      if (models.get(id)?.described === before) take(id, description);
      // Queries have their turn between two endpoints.
      await nextTurn();
    }
  };
  const takeValues = (id: string, values: Harvest | undefined): void => {
    if (!isClosed) models.setValues(id, values && isOf(id, values) && parts.mayHarvest(id) ? values : undefined);
  };
  const readValues = async (): Promise<void> => {
    for await (const [id, values] of harvests.entries()) takeValues(id, values);
  };
  const readNew = async (): Promise<void> => {
    const versions = await storedVersions(store);
    const ids = catalog.entries.map(({ id }) => id);
    await readAll(ids.filter((id) => models.get(id)?.version !== versions.get(id)));
  };
  /** @returns ids of the entries that are new or have got another URL */
  const takeEntries = (): readonly string[] => {
    const moved = catalog.entries.filter(({ id, url }) => models.get(id)?.entry?.url !== url);
    models.setEntries(catalog.entries, (id) => catalog.published.facts(id));
    for (const { id } of moved) {
      take(id, undefined);
      takeValues(id, undefined);
    }
    return moved.map(({ id }) => id);
  };

  takeEntries();
  const readMoved = async (): Promise<void> => {
    const ids = takeEntries();
    await readAll(ids);
    for (const id of ids) takeValues(id, await harvests.get(id));
  };
  const ignoreCatalog = catalog.onChange(() => void readMoved().catch(onFault));
  const ignoreHarvests = harvests.watch((change) => {
    const read = change ? harvests.get(change.key).then((found) => takeValues(change.key, found)) : readValues();
    void read.catch(onFault);
  });
  const ignoreDescriptions = descriptions.onChange((...stored) => void takeStored(...stored).catch(onFault));
  models.isReading = true;
  const first = readNew()
    .catch(onFault)
    .finally(() => (models.isReading = false));
  const ready = new AbortController();
  void first.finally(() => ready.abort());
  await sleep(firstReadMs, { clock, signal: ready.signal });
  return {
    /** Resolves when all descriptions have been read once. */
    settled: (): Promise<unknown> => first,
    /** Takes in descriptions that other processes stored or removed. @throws FedwayError `STORE_FAILED` */
    async refresh(): Promise<void> {
      await first;
      await readNew();
    },
    /** Stops following. */
    async close(): Promise<void> {
      isClosed = true;
      ignoreCatalog();
      ignoreDescriptions();
      ignoreHarvests();
      await first;
    },
  };
}

async function storedVersions(store: Store): Promise<ReadonlyMap<string, string>> {
  const versions = new Map<string, string>();
  for await (const { key, value } of documentsUnder(store, versionPrefix)) {
    versions.set(key.slice(versionPrefix.length), value);
  }
  return versions;
}
