/** Bounds of a fair queue. */
export interface FairQueueLimits {
  /** Items of all clients together. */
  readonly maxWaiting: number;
  /** Items of one client. */
  readonly maxPerClient: number;
}

/** Whether an item was taken, or which bound refused it. */
export type Pushed = "waiting" | "client-full" | "full";

/** An item that is served now. */
export interface Turn<T> {
  readonly item: T;
  /** It is not served any more; to be called once, whatever came of it. */
  readonly done: () => void;
}

/** Items that wait to be served, each client's in order of arrival. */
export interface FairQueue<T> {
  /** Items that wait. */
  readonly size: number;
  push(client: string, item: T): Pushed;
  /** The next item; of those that are `ready`, which are asked in the order of their turns, where not all can be served. */
  take(ready?: (item: T) => boolean): Turn<T> | undefined;
  /** False when the item was not waiting. */
  remove(item: T): boolean;
}

/**
 * A queue in which a client that asks much delays itself and not the others: the next is whoever has the fewest items
 * served at the moment, and of those whose last one ended first or who came first. Nothing is kept of a client without
 * items.
 */
export function createFairQueue<T extends object | string>({
  maxWaiting,
  maxPerClient,
}: FairQueueLimits): FairQueue<T> {
  // In order of turn.
  const lines = new Map<string, T[]>();
  const served = new Map<string, number>();
  let size = 0;

  const servedOf = (client: string): number => served.get(client) ?? 0;
  const cut = (client: string, line: T[], index: number): T | undefined => {
    if (index === -1) return undefined;
    const [item] = line.splice(index, 1);
    if (line.length === 0) lines.delete(client);
    size -= 1;
    return item;
  };
  const turnOf = (client: string, item: T): Turn<T> => {
    served.set(client, servedOf(client) + 1);
    return {
      item,
      done() {
        const left = servedOf(client) - 1;
        if (left > 0) served.set(client, left);
        else served.delete(client);
        const line = lines.get(client);
        if (line === undefined) return;
        lines.delete(client);
        lines.set(client, line);
      },
    };
  };
  return {
    get size() {
      return size;
    },
    push(client, item) {
      const line = lines.get(client);
      if ((line?.length ?? 0) >= maxPerClient) return "client-full";
      if (size >= maxWaiting) return "full";
      if (line === undefined) lines.set(client, [item]);
      else line.push(item);
      size += 1;
      return "waiting";
    },
    take(ready = () => true) {
      for (const [client, line] of [...lines].toSorted(([one], [other]) => servedOf(one) - servedOf(other))) {
        const item = cut(client, line, line.findIndex(ready));
        if (item !== undefined) return turnOf(client, item);
      }
      return undefined;
    },
    remove(item) {
      for (const [client, line] of lines) {
        if (cut(client, line, line.indexOf(item)) !== undefined) return true;
      }
      return false;
    },
  };
}
