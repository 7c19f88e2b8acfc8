import { setImmediate as nextTurn } from "node:timers/promises";
import { type Clock, sleep } from "../../clock.ts";
import { documentsUnder } from "../../store/collection.ts";
import type { Store } from "../../store/store.ts";
import type { EditableCatalog } from "../catalog/catalog.ts";
import type { DescriptionService } from "../void/description-service.ts";
import type { EndpointModels } from "./endpoint-models.ts";

/** What models are kept up to date with. */
interface KeptParts {
  readonly store: Store;
  readonly catalog: Pick<EditableCatalog, "entries" | "byId" | "published" | "onChange">;
  readonly descriptions: Pick<DescriptionService, "get" | "onChange">;
  readonly clock: Clock;
  /** Called with a description that could not be read, or whose version could not be stored. */
  readonly onFault: (error: unknown) => void;
}

/** Versions of the stored descriptions: one listing shows which of them other processes have changed. */
const versionPrefix = "search/version/";
/** A start does not wait longer for the descriptions of a large catalogue; they are read on in the background. */
const firstReadMs = 2_000;

/** The one follower of catalogue and stored descriptions: all that is known of endpoints is read once, here. */
export async function keepModels(models: EndpointModels, { store, catalog, descriptions, clock, onFault }: KeptParts) {
  let isClosed = false;
  const storedVersions = async (): Promise<Map<string, string>> => {
    const versions = new Map<string, string>();
    for await (const { key, value } of documentsUnder(store, versionPrefix)) {
      versions.set(key.slice(versionPrefix.length), value);
    }
    return versions;
  };
  const read = async (id: string): Promise<string | undefined> => {
    const description = await descriptions.get(id);
    // The endpoint may be gone meanwhile.
    if (!isClosed) models.setDescription(id, catalog.byId(id) === undefined ? undefined : description);
    return description?.finishedAt;
  };
  const readChanged = async (id: string): Promise<void> => {
    const version = await read(id);
    if (version === undefined) await store.delete(versionPrefix + id);
    else await store.put(versionPrefix + id, version);
  };
  const readNew = async (versions: ReadonlyMap<string, string>): Promise<void> => {
    for (const { id } of catalog.entries) {
      if (isClosed) return;
      if (models.get(id)?.version === versions.get(id)) continue;
      await read(id);
      // Queries have their turn between two endpoints.
      await nextTurn();
    }
  };

  const takeEntries = (): void => {
    models.setEntries(catalog.entries, (id) => catalog.published.facts(id));
    for (const { id, entry, described } of models.all()) {
      // An entry that has got another URL is another endpoint.
      const isMoved = described !== undefined && entry?.interface === "sparql" && described.endpoint !== entry.url;
      if (isMoved) void read(id).catch(onFault);
    }
  };

  takeEntries();
  const ignoreCatalog = catalog.onChange(takeEntries);
  const ignoreDescriptions = descriptions.onChange((id) => void readChanged(id).catch(onFault));
  models.isReading = true;
  const first = storedVersions()
    .then(readNew)
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
      await readNew(await storedVersions());
    },
    /** Stops following. */
    async close(): Promise<void> {
      isClosed = true;
      ignoreCatalog();
      ignoreDescriptions();
      await first;
    },
  };
}
