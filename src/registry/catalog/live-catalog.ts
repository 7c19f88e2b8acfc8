import type { Catalog, CatalogDocument, CatalogDrift, CatalogEntry, Federation } from "./catalog.ts";
import { indexCatalog, looseKey, type UrlKey } from "./index-catalog.ts";
import { decodeOverlay, type Overlay } from "./overlays.ts";
import { documentKey, etagOf, parseDocument } from "./document.ts";
import { type CatalogFiles, type ResolvedCatalog, resolveCatalog } from "./resolve-catalog.ts";

/** What a live catalogue is made of. */
export interface LiveParts {
  readonly baseUrl: string;
  readonly keyOf: UrlKey;
  readonly files: CatalogFiles;
  readonly search?: ((text: string) => readonly string[]) | undefined;
}

/** The catalogue as it is now: whatever is read comes from one frozen state, which changes replace as a whole. */
export class LiveCatalog implements Catalog {
  readonly #parts: LiveParts;
  readonly #listeners = new Set<() => void>();
  #overlays: ReadonlyMap<string, Overlay> = new Map();
  #resolved: ResolvedCatalog;
  #current: Catalog;
  /** Built when a write needs it. */
  #byLooseKey: ReadonlyMap<string, readonly CatalogEntry[]> | undefined;

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#resolved = resolveCatalog(parts.files, []);
    this.#current = this.#index(1);
  }

  get version(): number {
    return this.#current.version;
  }

  get entries(): readonly CatalogEntry[] {
    return this.#current.entries;
  }

  get federations(): readonly Federation[] {
    return this.#current.federations;
  }

  get problems(): Catalog["problems"] {
    return this.#current.problems;
  }

  get drift(): readonly CatalogDrift[] {
    return this.#resolved.drift;
  }

  byId(id: string): CatalogEntry | undefined {
    return this.#current.byId(id);
  }

  byUrl(url: string): CatalogEntry | undefined {
    return this.#current.byUrl(url);
  }

  federation(id: string): Federation | undefined {
    return this.#current.federation(id);
  }

  membersOf(federation: Federation): readonly CatalogEntry[] {
    return this.#current.membersOf(federation);
  }

  document(kind: CatalogDocument["kind"], id: string): CatalogDocument | undefined {
    const source = this.#resolved.shown.get(documentKey(kind, id));
    if (source === undefined) return undefined;
    const isChange = "stored" in source;
    const turtle = isChange ? decodeOverlay(source.stored)?.turtle : source.text;
    const quads = Object.freeze(parseDocument(turtle ?? "", this.#parts.baseUrl));
    const origin = isChange ? ({ origin: "api", changedAt: source.changedAt } as const) : ({ origin: "file" } as const);
    return Object.freeze({ id, kind, ...origin, quads, etag: etagOf(quads) });
  }

  documents(): readonly CatalogDocument[] {
    const endpoints = this.entries.map(({ id }) => this.document("endpoint", id));
    const federations = this.federations.map(({ id }) => this.document("federation", id));
    return [...endpoints, ...federations].filter((document) => document !== undefined);
  }

  onChange(listener: () => void): () => void {
    // A function of its own, so that the same listener can be added twice and removed once.
    const call = (): void => listener();
    this.#listeners.add(call);
    return () => void this.#listeners.delete(call);
  }

  protected get overlays(): ReadonlyMap<string, Overlay> {
    return this.#overlays;
  }

  /** Whether there is a document, usable or not, that is not hidden by a deletion. */
  protected isThere(key: string): boolean {
    return this.#resolved.shown.has(key) || this.#overlays.get(key)?.deleted === false;
  }

  /** Hash of the file that a change of this document is, or would be, laid over. */
  protected fileHash(key: string): string | undefined {
    return this.#resolved.fileOf.get(key)?.hash;
  }

  /** The entries with this loose URL key. */
  protected alike(loose: string): readonly CatalogEntry[] {
    this.#byLooseKey ??= Map.groupBy(this.entries, (entry) => looseKey(this.#resolved.urlKeys.get(entry) ?? ""));
    return this.#byLooseKey.get(loose) ?? [];
  }

  /** Replaces the changes by others. */
  protected show(overlays: ReadonlyMap<string, Overlay>): void {
    this.#overlays = overlays;
    this.#resolved = resolveCatalog(this.#parts.files, [...overlays.values()]);
    this.#byLooseKey = undefined;
    this.#current = this.#index(this.version + 1);
    // Each on its own: a listener that fails must neither stop the others nor make a stored change look refused.
    for (const listener of this.#listeners) queueMicrotask(listener);
  }

  #index(version: number): Catalog {
    const { entries, federations, problems, urlKeys } = this.#resolved;
    const keyOfEntry = (entry: CatalogEntry): string | undefined => urlKeys.get(entry);
    const { baseUrl: publicUrl, keyOf, search } = this.#parts;
    return indexCatalog({ version, entries, federations, problems, keyOf, keyOfEntry, publicUrl, search });
  }
}
