import type * as RDF from "@rdfjs/types";
import { inTurns } from "../../clock.ts";
import { unknownId } from "../../errors/unknown-id.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { Store } from "../../store/store.ts";
import type {
  Catalog,
  CatalogDocument,
  CatalogDrift,
  CatalogEntry,
  CatalogWrite,
  DocumentName,
  EditableCatalog,
  Federation,
} from "./catalog.ts";
import { createShapeCheck } from "./check-catalog.ts";
import { checkCondition, checkDocument, checkMatch, refuseTakenUrl, type DocumentRules } from "./check-write.ts";
import { type DocumentFields, documentOf, withFields } from "./document-fields.ts";
import { documentKey, etagOf, parseDocument } from "./document.ts";
import { type CatalogOptions, createCatalogSteps, looseKey, urlKeys } from "./index-catalog.ts";
import { createOverlayStore, type Overlay } from "./overlays.ts";
import { type LoadCatalogOptions, readCatalogFiles } from "./read-files.ts";
import { type CatalogFiles, resolveCatalog } from "./resolve-catalog.ts";

interface OpenCatalogOptions extends LoadCatalogOptions {
  readonly search?: CatalogOptions["search"];
  readonly isDescribed?: CatalogOptions["isDescribed"];
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
  const { baseUrl, ownOrigins, search, isDescribed, shapesFile, refuseUrl, store, now } = options;
  const keyOf = urlKeys({ publicUrl: baseUrl, ownOrigins });
  const { published, ...files } = await readCatalogFiles(options, keyOf);
  const shapes = shapesFile === undefined ? undefined : createShapeCheck(shapesFile);
  const rules = { baseUrl, keyOf, shapes, refuseUrl };
  const shown = { publicUrl: baseUrl, ownOrigins, search, isDescribed, published };
  const resolved = await resolveCatalog(files, []);
  const parts = { shown, files, rules, store, now };
  const catalog = new OpenCatalog(parts, resolved, await indexed(resolved, shown, 1));
  await catalog.refresh();
  return catalog;
}

interface Parts {
  readonly store: Store;
  readonly now: () => number;
  readonly shown: CatalogOptions;
  readonly files: CatalogFiles;
  readonly rules: DocumentRules;
}

type Resolved = Awaited<ReturnType<typeof resolveCatalog>>;

/** The catalogue of what is resolved, with turns of the event loop for others. */
function indexed(
  { entries, federations, problems, urlKeys: keys }: Resolved,
  shown: CatalogOptions,
  version: number,
): Promise<Catalog> {
  const keyOfEntry = (entry: CatalogEntry): string | undefined => keys.get(entry);
  return inTurns(createCatalogSteps(entries, problems, { ...shown, federations, version, keyOfEntry }));
}

/** Reads come from one frozen state, which changes replace as a whole. */
class OpenCatalog implements EditableCatalog {
  readonly #parts: Parts;
  readonly #changes: ReturnType<typeof createOverlayStore>;
  readonly #listeners = new Set<() => void>();
  #overlays: ReadonlyMap<string, Overlay> = new Map();
  #resolved: Resolved;
  #current: Catalog;
  /** Built when a write needs it. */
  #byLooseKey: ReadonlyMap<string, readonly CatalogEntry[]> | undefined;
  #revision = -1;
  #listedAt = Number.NEGATIVE_INFINITY;
  #argument: string | undefined;
  /** The change under way; the next one waits for it. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: Parts, resolved: Resolved, current: Catalog) {
    this.#parts = parts;
    this.#changes = createOverlayStore(parts.store, parts.rules);
    this.#resolved = resolved;
    this.#current = current;
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

  get published(): Catalog["published"] {
    return this.#current.published;
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

  federationByUrl(url: string): Federation | undefined {
    return this.#current.federationByUrl(url);
  }

  membersOf(federation: Federation): readonly CatalogEntry[] {
    return this.#current.membersOf(federation);
  }

  fileUrl(id: string): string | undefined {
    const item = this.#resolved.fileOf.get(documentKey("endpoint", id))?.item;
    return item?.kind === "endpoint" ? item.value.url : undefined;
  }

  operatorUrl(id: string): string | undefined {
    const url = this.byId(id)?.url;
    return url !== undefined && this.#isOperators(id, url) ? url : undefined;
  }

  setArgument(url: string | undefined): void {
    this.#argument = url;
  }

  #isOperators(id: string, url: string): boolean {
    const file = this.#resolved.fileOf.get(documentKey("endpoint", id));
    return (file?.isOperators === true && this.fileUrl(id) === url) || this.#argument === url;
  }

  document(kind: CatalogDocument["kind"], id: string): CatalogDocument | undefined {
    const author = this.authorship(kind, id);
    const quads = this.#quadsOf(kind, id);
    if (author === undefined || quads === undefined) return undefined;
    return Object.freeze({ id, kind, ...author, quads: Object.freeze(quads), etag: etagOf(quads) });
  }

  authorship(kind: CatalogDocument["kind"], id: string): ReturnType<EditableCatalog["authorship"]> {
    const source = this.#resolved.shown.get(documentKey(kind, id));
    if (source === undefined) return this.#builtIn(kind, id) && { origin: "service" };
    return "stored" in source ? { origin: "api", changedAt: source.changedAt } : { origin: "file" };
  }

  #quadsOf(kind: CatalogDocument["kind"], id: string): readonly RDF.Quad[] | undefined {
    const source = this.#resolved.shown.get(documentKey(kind, id));
    const item = this.#builtIn(kind, id);
    if (source === undefined) return item && builtInQuads(kind, item);
    const turtle = "stored" in source ? source.stored?.turtle : source.text;
    return parseDocument(turtle ?? "", this.#parts.rules.baseUrl);
  }

  #builtIn(kind: CatalogDocument["kind"], id: string): CatalogEntry | Federation | undefined {
    const item = kind === "federation" ? this.federation(id) : this.byId(id);
    return item?.builtIn ? item : undefined;
  }

  documents(): readonly CatalogDocument[] {
    const endpoints = this.entries.map(({ id }) => this.document("endpoint", id));
    const written = this.federations.filter(({ builtIn }) => !builtIn);
    const federations = written.map(({ id }) => this.document("federation", id));
    return [...endpoints, ...federations].filter((document) => document !== undefined);
  }

  onChange(listener: () => void): () => void {
    // A function of its own, so that the same listener can be added twice and removed once.
    const call = (): void => listener();
    this.#listeners.add(call);
    return () => void this.#listeners.delete(call);
  }

  refresh(): Promise<void> {
    return this.#serially(() => this.#catchUp(this.#parts.now() - this.#listedAt > maxListingAgeMs));
  }

  write(change: CatalogWrite): Promise<CatalogDocument> {
    return this.#serially(() => this.#changes.exclusively(() => this.#write(change)));
  }

  change(name: DocumentName, fields: DocumentFields, ifMatch?: string): Promise<CatalogDocument> {
    return this.#serially(() => this.#changes.exclusively(() => this.#change(name, fields, ifMatch)));
  }

  remove(kind: CatalogDocument["kind"], id: string, ifMatch?: string): Promise<void> {
    return this.#serially(() => this.#changes.exclusively(() => this.#remove({ kind, id }, ifMatch)));
  }

  #write(change: CatalogWrite): Promise<CatalogDocument> {
    return this.#untilStored(() => this.#writeOver(this.document(change.kind, change.id), change));
  }

  #change(name: DocumentName, fields: DocumentFields, ifMatch: string | undefined): Promise<CatalogDocument> {
    return this.#untilStored(async () => {
      const existing = this.document(name.kind, name.id);
      if (existing === undefined) throw unknownId(name.kind, name.id, this);
      const quads = withFields(name.kind, existing.quads, fields);
      return this.#writeOver(existing, { ...name, quads, mode: "replace", ...(ifMatch !== undefined && { ifMatch }) });
    });
  }

  /** Undefined when another process was faster. */
  async #writeOver(existing: CatalogDocument | undefined, change: CatalogWrite): Promise<CatalogDocument | undefined> {
    const { rules } = this.#parts;
    checkCondition(change, existing, this);
    const isOperators = (url: string): boolean => this.#isOperators(change.id, url);
    const { item, turtle } = await checkDocument(change, { ...rules, isOperators });
    await refuseTakenUrl(item, this, { keyOf: rules.keyOf, alike: (loose) => this.#alike(loose) });
    if (existing?.origin === "api" && existing.etag === etagOf(change.quads)) return existing;
    if (!(await this.#put(change, turtle))) return undefined;
    const document = this.document(change.kind, change.id);
    if (document !== undefined) return document;
    throw new FedwayError("INTERNAL", "The document was stored but cannot be shown.");
  }

  async #remove(name: DocumentName, ifMatch: string | undefined): Promise<void> {
    await this.#untilStored(async () => {
      const key = documentKey(name.kind, name.id);
      if (this.authorship(name.kind, name.id)?.origin === "service") {
        throw new FedwayError("ENTRY_CONFLICT", `The ${name.kind} "${name.id}" comes with the service and stays.`);
      }
      const isThere = this.#resolved.shown.has(key) || this.#overlays.get(key)?.deleted === false;
      if (!isThere) throw unknownId(name.kind, name.id, this);
      checkMatch(ifMatch, this.document(name.kind, name.id));
      const isStored = this.#resolved.fileOf.has(key)
        ? await this.#put(name, undefined)
        : await this.#take(key, await this.#changes.delete(name, this.#overlays.get(key)));
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

  /** Without Turtle, the file of this name is hidden. */
  async #put(name: DocumentName, turtle: string | undefined): Promise<boolean> {
    const key = documentKey(name.kind, name.id);
    const over = this.#resolved.fileOf.get(key)?.hash;
    const changedAt = new Date(this.#parts.now()).toISOString();
    const content = { ...(turtle !== undefined && { turtle }), ...(over !== undefined && { over }) };
    const stored = { format: 1, changedAt, ...content } as const;
    return this.#take(key, await this.#changes.put(name, this.#overlays.get(key), stored));
  }

  /** Shows one change of our own. */
  async #take(key: string, stored: { overlay: Overlay | undefined; revision: number } | undefined): Promise<boolean> {
    if (stored === undefined) return false;
    const overlays = new Map(this.#overlays);
    if (stored.overlay === undefined) overlays.delete(key);
    else overlays.set(key, stored.overlay);
    // Otherwise others have changed something too, and the next look at the revision will show it.
    if (stored.revision === this.#revision + 1) this.#revision = stored.revision;
    await this.#show(overlays);
    return true;
  }

  /** Lists the store when other processes changed it. */
  async #catchUp(isForced: boolean): Promise<void> {
    const revision = await this.#changes.revision();
    if (revision === this.#revision && !isForced) return;
    const overlays = await this.#changes.list(this.#overlays);
    this.#revision = revision;
    this.#listedAt = this.#parts.now();
    const isSame =
      overlays.size === this.#overlays.size && [...overlays].every(([key, each]) => this.#overlays.get(key) === each);
    if (!isSame) await this.#show(overlays);
  }

  /** The entries with this loose URL key. */
  async #alike(loose: string): Promise<readonly CatalogEntry[]> {
    this.#byLooseKey ??= await inTurns(byLooseKey(this.entries, this.#resolved.urlKeys));
    return this.#byLooseKey.get(loose) ?? [];
  }

  /** Replaces the changes by others. */
  async #show(overlays: ReadonlyMap<string, Overlay>): Promise<void> {
    const resolved = await resolveCatalog(this.#parts.files, [...overlays.values()]);
    this.#current = await indexed(resolved, this.#parts.shown, this.version + 1);
    this.#overlays = overlays;
    this.#resolved = resolved;
    this.#byLooseKey = undefined;
    // Each on its own: a listener that fails must neither stop the others nor make a stored change look refused.
    for (const listener of this.#listeners) queueMicrotask(listener);
  }

  #serially<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

function* byLooseKey(
  entries: readonly CatalogEntry[],
  keys: Resolved["urlKeys"],
): Generator<void, ReadonlyMap<string, readonly CatalogEntry[]>> {
  const found = new Map<string, CatalogEntry[]>();
  for (const entry of entries) {
    const key = looseKey(keys.get(entry) ?? "");
    const alike = found.get(key);
    if (alike === undefined) found.set(key, [entry]);
    else alike.push(entry);
    yield;
  }
  return found;
}

function builtInQuads(kind: DocumentName["kind"], item: CatalogEntry | Federation): readonly RDF.Quad[] {
  const { id, title, description = "" } = item;
  const url = "url" in item ? { url: item.url } : {};
  return documentOf(kind, { id, title, description, ...url });
}
