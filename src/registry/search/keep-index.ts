import { every, systemClock } from "../../clock.ts";
import { createSearchIndex, type EndpointStatus, type SearchIndex } from "./search-index.ts";
import type { EditableCatalog } from "../catalog/catalog.ts";
import type { DescriptionService } from "../void/description-service.ts";
import { documentsUnder } from "../../store/collection.ts";
import type { Store } from "../../store/store.ts";

/** What the index is kept up to date with. */
interface IndexedParts {
  readonly store: Store;
  readonly catalog: EditableCatalog;
  readonly descriptions: DescriptionService;
  /** Called with a snapshot or description that could not be kept; the index goes on in memory. */
  readonly onFault: (error: unknown) => void;
}

const snapshotKey = "search/snapshot";
const versionPrefix = "search/version/";
const saveEveryMs = 60_000;

/** An empty index; it is filled by `keepIndex`. */
export const newIndex = (statusOf: (id: string) => EndpointStatus): SearchIndex => createSearchIndex({ statusOf });

async function storedVersions(store: Store): Promise<Map<string, string>> {
  const versions = new Map<string, string>();
  for await (const { key, value } of documentsUnder(store, versionPrefix)) {
    versions.set(key.slice(versionPrefix.length), value);
  }
  return versions;
}

/** Fills the index from its snapshot, the catalogue and the stored descriptions, and follows their changes. */
export async function keepIndex(index: SearchIndex, parts: IndexedParts) {
  const { store, catalog, descriptions, onFault } = parts;
  let dirty = false;

  const readDescription = async (id: string): Promise<string | undefined> => {
    const description = await descriptions.get(id);
    if (description === undefined) index.removeDescription(id);
    else index.setDescription(id, description);
    dirty = true;
    return description?.finishedAt;
  };
  const indexDescription = async (id: string): Promise<void> => {
    const version = await readDescription(id);
    if (version === undefined) await store.delete(versionPrefix + id);
    else await store.put(versionPrefix + id, version);
  };
  /** Takes in descriptions that other processes stored or removed. @throws FedwayError `STORE_FAILED` */
  const refresh = async (): Promise<void> => {
    const versions = await storedVersions(store);
    for (const { id } of catalog.entries) {
      if (index.descriptionVersion(id) !== versions.get(id)) await readDescription(id);
    }
  };
  const save = async (): Promise<void> => {
    if (!dirty) return;
    dirty = false;
    const text = index.snapshot();
    if (text !== undefined) await store.put(snapshotKey, text);
  };

  const snapshot = await store.get(snapshotKey);
  const current = { entries: catalog.entries, descriptions: await storedVersions(store) };
  const { usable, missing } = index.restore(snapshot?.value ?? "", current);
  dirty = !usable;
  for (const id of missing) await indexDescription(id);

  const ignoreCatalog = catalog.onChange(() => {
    index.setEndpoints(catalog.entries);
    dirty = true;
  });
  const ignoreDescriptions = descriptions.onChange((id) => void indexDescription(id).catch(onFault));
  const saving = every(saveEveryMs, save, { clock: systemClock, onFault, firstAfterMs: saveEveryMs });
  return {
    refresh,
    /** Stores what has changed since the last snapshot and stops listening. */
    async close(): Promise<void> {
      await saving.stop();
      ignoreCatalog();
      ignoreDescriptions();
      await save().catch(onFault);
    },
  };
}
