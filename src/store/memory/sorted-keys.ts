import { compareKeys } from "../key-order.ts";

/** A set of keys in key order; look-ups take logarithmic time, changes move what lies behind them. */
export interface SortedKeys {
  add(key: string): void;
  delete(key: string): void;
  /** Keys from the first one that is not below `from` (that is above it, when `exclusive`). */
  from(from: string, exclusive: boolean): IterableIterator<string>;
}

/** An empty set of keys. */
export function createSortedKeys(): SortedKeys {
  const keys: string[] = [];
  const indexOf = (key: string): number => {
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeys(keys[middle] ?? "", key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    add(key) {
      const index = indexOf(key);
      if (keys[index] !== key) keys.splice(index, 0, key);
    },
    delete(key) {
      const index = indexOf(key);
      if (keys[index] === key) keys.splice(index, 1);
    },
    *from(from, exclusive) {
      const start = indexOf(from);
      for (let index = exclusive && keys[start] === from ? start + 1 : start; index < keys.length; index += 1) {
        yield keys[index] ?? "";
      }
    },
  };
}
