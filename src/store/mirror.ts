import { type Clock, every, sleep } from "../clock.ts";
import type { Change, Collection, Versioned } from "./collection.ts";
import type { DocumentChange } from "./store.ts";

/** How a mirror follows its collection. */
export interface FollowOptions {
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
  /** Called after changes of this or other processes were applied. */
  readonly onChange?: () => void;
  /** Milliseconds between two full looks, which find what no change reported; default 60,000. */
  readonly lookEveryMs?: number;
}

/** Changes of this time are read together, and one that this process made itself is in memory by then. */
const gatherMs = 20;
const defaultLookEveryMs = 60_000;

/** A collection with all of its documents in memory, as this process last saw them; empty until it is refreshed. */
export class Mirror<Document> {
  readonly #collection: Collection<Document>;
  readonly #held = new Map<string, Versioned<Document>>();

  constructor(collection: Collection<Document>) {
    this.#collection = collection;
  }

  /** From memory. */
  get(id: string): Document | undefined {
    return this.#held.get(id)?.document;
  }

  /** From memory, in no order. */
  *entries(): IterableIterator<readonly [string, Document]> {
    for (const [id, { document }] of this.#held) if (document !== undefined) yield [id, document];
  }

  /** Reads the writes of other processes; resolves to the ids of changed documents. @throws FedwayError `STORE_FAILED` */
  async refresh(): Promise<readonly string[]> {
    const before = new Map(this.#held);
    const found = new Map<string, Versioned<Document>>();
    for await (const [id, one] of this.#collection.versionedEntries("", (known) => this.#held.get(known))) {
      found.set(id, one);
    }
    // What this process wrote meanwhile is newer than what was listed. Versions alone do not tell, as a store that was
    // emptied begins to count anew.
    for (const [id, one] of found) if (this.#held.get(id) === before.get(id)) this.#held.set(id, one);
    for (const [id, one] of before) if (!found.has(id) && this.#held.get(id) === one) this.#held.delete(id);
    return [...new Set([...before.keys(), ...found.keys()])].filter((id) => this.#held.get(id) !== before.get(id));
  }

  /** As `Collection.change`, beginning with the document in memory. @throws FedwayError `STORE_FAILED` */
  change(
    id: string,
    change: (document: Document | undefined) => Document | undefined,
    options: { readonly ttlMs?: (document: Document) => number | undefined } = {},
  ): Promise<Change<Document>> {
    const known = this.#held.get(id);
    const onVersion = (current: Versioned<Document> | undefined): void => this.#keep(id, current);
    return this.#collection.change(id, change, { ...options, from: known ?? absent, onVersion });
  }

  /** @throws FedwayError `STORE_FAILED` */
  async put(id: string, document: Document, options?: { readonly ttlMs?: number }): Promise<void> {
    const version = await this.#collection.put(id, document, options);
    if (version !== undefined) this.#keep(id, { version, document });
  }

  /** False when there was no such document, or it is not `document` any more. @throws FedwayError `STORE_FAILED` */
  async delete(id: string, document?: Document): Promise<boolean> {
    const known = this.#held.get(id);
    if (document !== undefined && known?.document !== document) return false;
    const only = document !== undefined && known !== undefined ? { ifVersion: known.version } : {};
    const removed = await this.#collection.delete(id, only);
    if (this.#held.get(id) === known) this.#held.delete(id);
    return removed;
  }

  /** Takes in changes as they happen, until it is stopped. */
  follow({ clock, onFault, onChange, lookEveryMs = defaultLookEveryMs }: FollowOptions): { stop(): Promise<void> } {
    const ending = new AbortController();
    const { signal } = ending;
    const changed = new Map<string, number>();
    let readsAll = false;
    let isRunning = false;
    let turn = Promise.resolve();

    const takeIn = async (): Promise<void> => {
      try {
        while (!signal.aborted && (readsAll || changed.size > 0)) {
          await sleep(gatherMs, { clock, signal });
          const some = new Map(changed);
          changed.clear();
          if (readsAll) {
            readsAll = false;
            await this.refresh();
          } else for (const [id, version] of some) await this.#readAgain(id, version);
          onChange?.();
        }
      } catch (error) {
        readsAll = true;
        if (!signal.aborted) onFault(error);
      } finally {
        isRunning = false;
      }
    };
    const begin = (): void => {
      if (isRunning) return;
      isRunning = true;
      turn = takeIn();
    };
    const hear = (change: DocumentChange | undefined): void => {
      if (change === undefined) readsAll = true;
      else changed.set(change.key, change.version);
      begin();
    };
    const look = async (): Promise<void> => hear(undefined);
    const stopWatching = this.#collection.watch(hear);
    const looking = every(lookEveryMs, look, { clock, onFault, firstAfterMs: lookEveryMs });
    return {
      async stop() {
        ending.abort();
        stopWatching();
        await looking.stop();
        await turn;
      },
    };
  }

  async #readAgain(id: string, version: number): Promise<void> {
    const known = this.#held.get(id);
    if ((known?.version ?? 0) === version) return;
    const found = await this.#collection.getVersioned(id);
    if (this.#held.get(id) === known) this.#keep(id, found);
  }

  #keep(id: string, current: Versioned<Document> | undefined): void {
    if (current === undefined) this.#held.delete(id);
    else this.#held.set(id, current);
  }
}

/** Start of a compare-and-set on an unknown document. */
const absent = { version: 0, document: undefined };
