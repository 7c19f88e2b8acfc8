import { FedwayError } from "../../errors/fedway-error.ts";
import type { Store, StoredDocument } from "../../store/store.ts";
import type { CatalogDocument, CatalogWrite, EditableCatalog } from "./catalog.ts";
import {
  checkDocument,
  type DocumentRules,
  checkCondition,
  checkMatch,
  documentUnknown,
  refuseTakenUrl,
} from "./check-write.ts";
import { urlKeys } from "./index-catalog.ts";
import { LiveCatalog, type LiveParts } from "./live-catalog.ts";
import {
  type Overlay,
  overlayPrefix,
  type OverlayRecord,
  readOverlay,
  createOverlayStore,
  type OverlayStore,
  type StoredChange,
} from "./overlays.ts";
import { documentKey, etagOf } from "./document.ts";
import { type LoadCatalogOptions, readCatalogFiles } from "./read-files.ts";
import { createShapeCheck } from "./check-catalog.ts";

/** How a catalogue that can change is opened. */
export interface OpenCatalogOptions extends LoadCatalogOptions {
  /** Where changes live. */
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** SHACL shapes (Turtle) that written documents have to pass; files are only checked by the reader, to start fast. */
  readonly shapesFile?: string;
  /** See `DocumentRules.refuseUrl`. */
  readonly refuseUrl?: DocumentRules["refuseUrl"];
}

/** How old the listing of the store may be although the revision says that it is current. */
const maxListingAgeMs = 300_000;
const attempts = 3;

/**
 * Opens the catalogue: files are the seed, changes in the store lie over them and win, deletions hide files.
 * @throws FedwayError `CATALOG_INVALID` when a folder cannot be read, `STORE_FAILED`
 */
export async function openCatalog(options: OpenCatalogOptions): Promise<EditableCatalog> {
  const { baseUrl, ownOrigins, search, shapesFile, refuseUrl } = options;
  const keyOf = urlKeys({ publicUrl: baseUrl, ...(ownOrigins && { ownOrigins }) });
  const files = await readCatalogFiles(options, keyOf);
  const shapes = shapesFile === undefined ? undefined : createShapeCheck(shapesFile);
  const rules = { baseUrl, keyOf, ...(shapes && { shapes }), ...(refuseUrl && { refuseUrl }) };
  const catalog = new OpenCatalog({ baseUrl, keyOf, files, search, rules, store: options.store, now: options.now });
  await catalog.refresh();
  return catalog;
}

interface OpenParts extends LiveParts, Pick<OpenCatalogOptions, "store" | "now"> {
  readonly rules: DocumentRules;
}

type Name = Pick<CatalogDocument, "kind" | "id">;

class OpenCatalog extends LiveCatalog implements EditableCatalog {
  readonly #rules: DocumentRules;
  readonly #changes: OverlayStore;
  readonly #now: () => number;
  #revision = -1;
  #listedAt = Number.NEGATIVE_INFINITY;
  /** The change under way; the next one waits for it. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: OpenParts) {
    super(parts);
    this.#rules = parts.rules;
    this.#changes = createOverlayStore(parts.store);
    this.#now = parts.now;
  }

  refresh(): Promise<void> {
    return this.#serially(() => this.#catchUp(this.#now() - this.#listedAt > maxListingAgeMs));
  }

  write(change: CatalogWrite): Promise<CatalogDocument> {
    return this.#serially(() => this.#changes.exclusively(() => this.#write(change)));
  }

  remove(kind: CatalogDocument["kind"], id: string, ifMatch?: string): Promise<void> {
    return this.#serially(() => this.#changes.exclusively(() => this.#remove({ kind, id }, ifMatch)));
  }

  #write(change: CatalogWrite): Promise<CatalogDocument> {
    return this.#untilStored(async () => {
      const existing = this.document(change.kind, change.id);
      checkCondition(change, existing, this);
      const { item, turtle } = await checkDocument(change, this.#rules);
      refuseTakenUrl(item, this, { keyOf: this.#rules.keyOf, alike: (loose) => this.alike(loose) });
      if (existing?.origin === "api" && existing.etag === etagOf(change.quads)) return existing;
      if (!(await this.#put(change, { turtle }))) return undefined;
      const document = this.document(change.kind, change.id);
      if (document !== undefined) return document;
      throw new FedwayError("INTERNAL", "The document was stored but cannot be shown.");
    });
  }

  async #remove(name: Name, ifMatch: string | undefined): Promise<void> {
    await this.#untilStored(async () => {
      const key = documentKey(name.kind, name.id);
      if (!this.isThere(key)) throw documentUnknown(name.kind, name.id, this);
      checkMatch(ifMatch, this.document(name.kind, name.id));
      const isOverFile = this.fileHash(key) !== undefined;
      const isStored = isOverFile ? await this.#put(name, {}) : await this.#drop(name);
      return isStored ? true : undefined;
    });
  }

  /** Another process can be faster although it should not be at work now: then everything is looked at again. */
  async #untilStored<Result>(step: () => Promise<Result | undefined>): Promise<Result> {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      await this.#catchUp(attempt > 0);
      const result = await step();
      if (result !== undefined) return result;
    }
    throw new FedwayError("PRECONDITION_FAILED", "The document is being changed by another process.", {
      next: "Read it again, then repeat the change.",
    });
  }

  async #put(name: Name, content: Pick<OverlayRecord, "turtle">): Promise<boolean> {
    const over = this.fileHash(documentKey(name.kind, name.id));
    const changedAt = new Date(this.#now()).toISOString();
    const stored = await this.#changes.put(this.#place(name), {
      changedAt,
      ...content,
      ...(over !== undefined && { over }),
    });
    return this.#take(name, stored);
  }

  async #drop(name: Name): Promise<boolean> {
    return this.#take(name, await this.#changes.delete(this.#place(name)));
  }

  #place({ kind, id }: Name) {
    return { kind, id, ifVersion: this.overlays.get(documentKey(kind, id))?.storeVersion ?? 0 };
  }

  /** Shows one change of our own. */
  #take({ kind, id }: Name, stored: StoredChange | undefined): boolean {
    if (stored === undefined) return false;
    const overlays = new Map(this.overlays);
    const overlay = stored.document && this.#read(stored.document);
    if (overlay === undefined) overlays.delete(documentKey(kind, id));
    else overlays.set(overlay.key, overlay);
    // Otherwise others have changed something too, and the next look at the revision will show it.
    if (stored.revision === this.#revision + 1) this.#revision = stored.revision;
    this.show(overlays);
    return true;
  }

  /** Lists the store when other processes changed it. */
  async #catchUp(isForced: boolean): Promise<void> {
    const revision = await this.#changes.revision();
    if (revision === this.#revision && !isForced) return;
    const overlays = new Map<string, Overlay>();
    for (const document of await this.#changes.list()) {
      const overlay = this.#read(document);
      if (overlay !== undefined) overlays.set(overlay.key, overlay);
    }
    this.#revision = revision;
    this.#listedAt = this.#now();
    const isSame =
      overlays.size === this.overlays.size && [...overlays].every(([key, each]) => this.overlays.get(key) === each);
    if (!isSame) this.show(overlays);
  }

  /** What is known already is not read again. */
  #read(document: StoredDocument): Overlay | undefined {
    const known = this.overlays.get(document.key.slice(overlayPrefix.length));
    if (known?.storeVersion === document.version && known.stored === document.value) return known;
    return readOverlay(document, this.#rules);
  }

  #serially<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
