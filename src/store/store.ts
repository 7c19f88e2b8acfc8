/** A stored document. */
export interface StoredDocument {
  readonly key: string;
  /** Text, as it was put; JSON by convention. */
  readonly value: string;
  /** Grows with every change of the document; for compare-and-set. */
  readonly version: number;
}

/** How a document is written. */
export interface PutOptions {
  /** Milliseconds after which the document is gone; absent: it stays. */
  readonly ttlMs?: number;
  /** Write only when the document has this version; 0: only when there is none. */
  readonly ifVersion?: number;
}

/** Which documents are listed. */
interface ListOptions {
  /** Documents per page; default 1,000. */
  readonly limit?: number;
  /** Only keys after this one (UTF-8 byte order). */
  readonly after?: string;
}

/** A document that was put or deleted. */
export interface DocumentChange {
  readonly key: string;
  /** Its version now; 0 when it was deleted. */
  readonly version: number;
}

/**
 * Where the service keeps its state. A write whose promise has resolved survives the end of the process. Keys are
 * non-empty, at most 512 bytes of UTF-8 without control characters; values at most 64 MiB. Not in the port:
 * transactions over several keys, queries by value.
 *
 * Every method rejects with a FedwayError `STORE_FAILED` when the store cannot carry out an operation (full disk, lost
 * connection, closed), and with `REQUEST_INVALID` for a key or value beyond the bounds.
 */
export interface Store {
  readonly name: "sqlite" | "redis";
  get(key: string): Promise<StoredDocument | undefined>;
  /** Resolves to the new version, or to undefined when `ifVersion` did not hold. */
  put(key: string, value: string, options?: PutOptions): Promise<number | undefined>;
  /** False when there was no such document, or `ifVersion` did not hold. */
  delete(key: string, options?: { readonly ifVersion?: number }): Promise<boolean>;
  /** Documents whose key begins with `prefix`, in key order. */
  list(prefix: string, options?: ListOptions): Promise<readonly StoredDocument[]>;

  /**
   * Notifies of every document whose key begins with `prefix` that this or another process has put or deleted, soon after
   * it happened; not of one whose time is over. `undefined`: changes may have been missed, read everything again; so it
   * is in the beginning, too, as soon as changes are heard of. The listener must not throw.
   * @returns ends it
   */
  watch(prefix: string, listener: (change: DocumentChange | undefined) => void): () => void;

  /** Adds to a counter (0 when new) and resolves to its value; `ttlMs` counts from the counter's creation. */
  increment(counter: string, by: number, options?: { readonly ttlMs?: number }): Promise<number>;

  /** Takes or renews a lease; false while another owner holds it. It ends after `ttlMs` unless renewed. */
  acquire(lease: string, owner: string, ttlMs: number): Promise<boolean>;
  /** Gives a lease back; nothing happens when `owner` does not hold it. */
  release(lease: string, owner: string): Promise<void>;

  close(): Promise<void>;
}
