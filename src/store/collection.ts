import { channel } from "node:diagnostics_channel";
import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { FedwayError } from "../errors/fedway-error.ts";
import type { DocumentChange, PutOptions, Store, StoredDocument } from "./store.ts";
import { parsedJson } from "../values.ts";

/** A document with the version that a compare-and-set needs. */
export interface Versioned<Document> {
  readonly version: number;
  /** Undefined when the stored document cannot be read. */
  readonly document: Document | undefined;
}

/** A document before and after a change; the same value when nothing was to be changed. */
export interface Change<Document> {
  readonly before: Document | undefined;
  readonly after: Document | undefined;
}

/**
 * Documents of one kind, each under the collection's prefix and its own id, as JSON. A document that does not fit the
 * schema counts as absent. Every method throws FedwayError `STORE_FAILED`.
 */
export type Collection<Document> = Pick<StoredCollection<Document>, keyof StoredCollection<Document>>;

/** How a document is changed. */
interface ChangeOptions<Document> {
  /** How long the changed document is kept; absent: it stays. */
  readonly ttlMs?: (document: Document) => number | undefined;
  /** Where to begin, instead of reading the document first. */
  readonly from?: Versioned<Document>;
  /** Called with the present document: the written one, or the one read when other writers were faster. */
  readonly onVersion?: (current: Versioned<Document> | undefined) => void;
}

/** Why a stored value that fits the schema is no document after all. */
export class InvalidDocument {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Key and schema of documents. */
interface CollectionOptions<Schema extends TSchema> {
  readonly store: Store;
  /** Prefix of the keys, e.g. `monitor/health/`. */
  readonly prefix: string;
  /** Schema of the stored documents. Fields that it does not name are kept. */
  readonly schema: Schema;
  /** Documents per page; default 1,000. */
  readonly pageSize?: number;
  /** Removes documents that cannot be read from the store. */
  readonly removesInvalid?: boolean;
  /** The cost of a document that cannot be read, in a sentence. */
  readonly lost: string;
}

/** A stored document that cannot be read, and so counts as absent. */
export interface DamagedDocument {
  readonly key: string;
  readonly reason: string;
  /** The cost of that, in a sentence. */
  readonly lost: string;
  /** It has been removed; otherwise it stays until it is written over. */
  readonly removed: boolean;
}

/** Where collections tell of documents that cannot be read, each time they read one: `DamagedDocument`. */
export const damagedDocuments = channel("fedway:store:damaged");

/** Converts between a document and its stored form, where they differ. */
interface Codec<Schema extends TSchema, Document> {
  readonly decode: (stored: Static<Schema>) => Document | InvalidDocument;
  /** As JSON text. */
  readonly encode: (document: Document) => string;
}

type Decoder<Document> = (text: string) => Document | InvalidDocument;

const defaultPageSize = 1_000;
/** More processes than would change one document at the same time. */
const mostTries = 50;

/** Documents that are stored as they are. The schema is compiled here, once. */
export function createCollection<Schema extends TSchema>(
  options: CollectionOptions<Schema>,
): Collection<Static<Schema>>;
/** Documents with a codec for their stored form. */
export function createCollection<Schema extends TSchema, Document>(
  options: CollectionOptions<Schema>,
  codec: Codec<Schema, Document>,
): Collection<Document>;
export function createCollection(
  options: CollectionOptions<TSchema>,
  codec: Codec<TSchema, unknown> = asTheyAre,
): Collection<unknown> {
  return new StoredCollection(options, codec);
}

const asTheyAre: Codec<TSchema, unknown> = { decode: (stored) => stored, encode: JSON.stringify };

/** All documents under a prefix, whatever their text is, in key order and page by page. */
export async function* documentsUnder(
  store: Pick<Store, "list">,
  prefix: string,
  pageSize = defaultPageSize,
): AsyncGenerator<StoredDocument> {
  for (let after: string | undefined; ; ) {
    const page = await store.list(prefix, { limit: pageSize, ...(after !== undefined && { after }) });
    yield* page;
    after = page.at(-1)?.key;
    if (page.length < pageSize) return;
  }
}

class StoredCollection<Document> {
  readonly #options: CollectionOptions<TSchema>;
  readonly #decode: Decoder<Document>;
  readonly #encode: (document: Document) => string;

  constructor(options: CollectionOptions<TSchema>, codec: Codec<TSchema, Document>) {
    this.#options = options;
    this.#decode = decoderOf(options.schema, codec);
    this.#encode = codec.encode;
  }

  async get(id: string): Promise<Document | undefined> {
    return (await this.getVersioned(id))?.document;
  }

  /**
   * Also returns a document that cannot be read, so that it can be overwritten; `known` saves reading
   * an unchanged document again.
   */
  async getVersioned(id: string, known?: Versioned<Document>): Promise<Versioned<Document> | undefined> {
    const { store, prefix } = this.#options;
    const found = await store.get(prefix + id);
    return known !== undefined && known.version === found?.version ? known : found && this.#read(id, found);
  }

  /** Resolves to the new version, or to undefined when `ifVersion` did not hold. */
  put(id: string, document: Document, options?: PutOptions): Promise<number | undefined> {
    const { store, prefix } = this.#options;
    return store.put(prefix + id, this.#encode(document), options);
  }

  /** False when there was no such document, or `ifVersion` did not hold. */
  delete(id: string, options?: { readonly ifVersion?: number }): Promise<boolean> {
    const { store, prefix } = this.#options;
    return store.delete(prefix + id, options);
  }

  /** All documents whose id begins with `idPrefix`, in order of ids; read page by page. */
  async *entries(idPrefix?: string): AsyncGenerator<readonly [id: string, document: Document]> {
    for await (const [id, { document }] of this.versionedEntries(idPrefix)) {
      if (document !== undefined) yield [id, document];
    }
  }

  /** The same with versions, and with documents that cannot be read; `known` saves reading again what has not changed. */
  async *versionedEntries(
    idPrefix = "",
    known?: (id: string) => Versioned<Document> | undefined,
  ): AsyncGenerator<readonly [id: string, Versioned<Document>]> {
    const { store, prefix, pageSize } = this.#options;
    for await (const found of documentsUnder(store, prefix + idPrefix, pageSize)) {
      const id = found.key.slice(prefix.length);
      const before = known?.(id);
      yield [id, before?.version === found.version ? before : await this.#read(id, found)];
    }
  }

  /**
   * Changes a document by compare-and-set, up to 50 times when another writer wins.
   * @param change must depend on nothing but its argument; undefined, or its argument, leaves the document as it is
   */
  async change(
    id: string,
    change: (document: Document | undefined) => Document | undefined,
    options: ChangeOptions<Document> = {},
  ): Promise<Change<Document>> {
    let current = options.from ?? (await this.getVersioned(id));
    for (let tries = 0; tries < mostTries; tries += 1) {
      const before = current?.document;
      const after = change(before);
      if (after === undefined || after === before) return { before, after: before };
      const version = await this.put(id, after, putOptions(current, options.ttlMs?.(after)));
      const isWritten = version !== undefined;
      current = isWritten ? { version, document: after } : await this.getVersioned(id);
      options.onVersion?.(current);
      if (isWritten) return { before, after };
    }
    throw new FedwayError("STORE_FAILED", "A document changes all the time and could not be written.");
  }

  /** As `Store.watch`, with ids. */
  watch(listener: (change: DocumentChange | undefined) => void): () => void {
    const { store, prefix } = this.#options;
    return store.watch(prefix, (change) => listener(change && { ...change, key: change.key.slice(prefix.length) }));
  }

  async #read(id: string, { value, version }: { value: string; version: number }): Promise<Versioned<Document>> {
    const document = this.#decode(value);
    if (!(document instanceof InvalidDocument)) return { version, document };
    const { prefix, lost, removesInvalid = false } = this.#options;
    if (removesInvalid) await this.delete(id, { ifVersion: version });
    const damaged: DamagedDocument = { key: prefix + id, reason: document.reason, lost, removed: removesInvalid };
    damagedDocuments.publish(damaged);
    return { version, document: undefined };
  }
}

/** Only when the document is still this one; version 0: when there is none. */
function putOptions(current: Versioned<unknown> | undefined, ttlMs: number | undefined): PutOptions {
  const ifVersion = current?.version ?? 0;
  return ttlMs === undefined ? { ifVersion } : { ifVersion, ttlMs };
}

function decoderOf<Document>(schema: TSchema, codec: Codec<TSchema, Document>): Decoder<Document> {
  const validator = Compile(schema);
  return (text) => {
    const value = parsedJson(text);
    if (value === undefined) return new InvalidDocument("it is not JSON");
    if (!validator.Check(value)) return new InvalidDocument(reasonOf(validator.Errors(value)));
    return codec.decode(value);
  };
}

function reasonOf(errors: readonly { readonly instancePath: string; readonly message: string }[]): string {
  const [first] = errors;
  return first === undefined ? "it has an unknown form" : `${first.instancePath.slice(1) || "it"} ${first.message}`;
}
