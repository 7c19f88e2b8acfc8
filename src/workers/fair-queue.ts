/** Which bound refused an item, or `waiting`. */
export type Pushed = "waiting" | "client-full" | "full";

/** An item that is served now. */
export interface Turn<T> {
  readonly item: T;
  /** Marks it as no longer served; to be called once, in every outcome. */
  readonly done: () => void;
}

/**
 * A queue in which a client that asks much delays itself and not the others: the next is whoever has the fewest items
 * served at the moment, and of those whose last one ended first or who came first. Each client's items are in order of
 * arrival. Nothing is kept of a client without items.
 */
export class FairQueue<T extends object | string> {
  /** In order of turn. */
  readonly #lines = new Map<string, T[]>();
  readonly #served = new Map<string, number>();
  readonly #maxWaiting: number;
  readonly #maxPerClient: number;
  #size = 0;

  /** @param limits items of all clients together, and of one client */
  constructor(limits: { readonly maxWaiting: number; readonly maxPerClient: number }) {
    this.#maxWaiting = limits.maxWaiting;
    this.#maxPerClient = limits.maxPerClient;
  }

  /** Items that wait. */
  get size(): number {
    return this.#size;
  }

  /** Items of the client that are served at the moment. */
  servedOf(client: string): number {
    return this.#served.get(client) ?? 0;
  }

  /** Counts an item of the client as served that need not wait; the returned function ends that, as `done` of a turn. */
  serve(client: string): () => void {
    this.#served.set(client, this.servedOf(client) + 1);
    return () => this.#leave(client);
  }

  push(client: string, item: T): Pushed {
    const line = this.#lines.get(client);
    if ((line?.length ?? 0) >= this.#maxPerClient) return "client-full";
    if (this.#size >= this.#maxWaiting) return "full";
    if (line === undefined) this.#lines.set(client, [item]);
    else line.push(item);
    this.#size += 1;
    return "waiting";
  }

  /** The next item; of those that are `ready`, which are asked in the order of their turns, where not all can be served. */
  take(ready: (item: T) => boolean = () => true): Turn<T> | undefined {
    const inTurn = [...this.#lines].toSorted(([one], [other]) => this.servedOf(one) - this.servedOf(other));
    for (const [client, line] of inTurn) {
      const item = this.#cut(client, line.findIndex(ready));
      if (item !== undefined) return { item, done: this.serve(client) };
    }
    return undefined;
  }

  /** False when the item was not waiting. */
  remove(item: T): boolean {
    for (const [client, line] of this.#lines) if (this.#cut(client, line.indexOf(item)) !== undefined) return true;
    return false;
  }

  #cut(client: string, index: number): T | undefined {
    const line = this.#lines.get(client);
    if (line === undefined || index === -1) return undefined;
    const [item] = line.splice(index, 1);
    if (line.length === 0) this.#lines.delete(client);
    this.#size -= 1;
    return item;
  }

  #leave(client: string): void {
    const left = this.servedOf(client) - 1;
    if (left > 0) this.#served.set(client, left);
    else this.#served.delete(client);
    const line = this.#lines.get(client);
    if (line === undefined) return;
    this.#lines.delete(client);
    this.#lines.set(client, line);
  }
}
