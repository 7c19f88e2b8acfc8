/** Bounds of a fair queue. */
export interface FairQueueLimits {
  /** Items of all clients together. */
  readonly maxWaiting: number;
  /** Items of one client. */
  readonly maxPerClient: number;
}

/** Whether an item was taken, or which bound refused it. */
export type Pushed = "waiting" | "client-full" | "full";

/** Items that wait for their turn: clients take turns, each client's items in order of arrival. */
export interface FairQueue<T> {
  readonly size: number;
  push(client: string, item: T): Pushed;
  /** The next item of the client whose turn it is. */
  shift(): T | undefined;
  /** False when the item was not waiting. */
  remove(item: T): boolean;
}

/**
 * A queue in which a client that asks much delays itself and not the others: whoever has just been served goes behind
 * all that wait. Nothing is kept of a client that has no item waiting.
 */
export function createFairQueue<T>({ maxWaiting, maxPerClient }: FairQueueLimits): FairQueue<T> {
  // In order of turn.
  const lines = new Map<string, T[]>();
  let size = 0;

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
    shift() {
      for (const [client, line] of lines) {
        const item = line.shift();
        lines.delete(client);
        if (line.length > 0) lines.set(client, line);
        size -= 1;
        return item;
      }
      return undefined;
    },
    remove(item) {
      for (const [client, line] of lines) {
        const index = line.indexOf(item);
        if (index === -1) continue;
        line.splice(index, 1);
        if (line.length === 0) lines.delete(client);
        size -= 1;
        return true;
      }
      return false;
    },
  };
}
