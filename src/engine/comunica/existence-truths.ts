import { ActionContextKey } from "@comunica/core";
import { LRUCache } from "lru-cache";
import { type HeldBytes, keyBytes } from "../held-bytes.ts";

/** Whether patterns of EXISTS have solutions, by pattern and key, as far as one execution has asked. */
export interface Truths {
  get(key: string): Promise<boolean> | undefined;
  set(key: string, truth: Promise<boolean>): void;
}

/** Those of the running execution. */
export const truthsKey = new ActionContextKey<Truths>("fedway:existenceTruths");

// What is forgotten is asked for again.
const MOST_BYTES = 4 * 1024 * 1024;

/** Creates those of one execution. */
export function createTruths(held: HeldBytes): Truths {
  const holding = held.open();
  const kept = new LRUCache<string, Promise<boolean>>({
    maxSize: MOST_BYTES,
    sizeCalculation: (_truth, key) => keyBytes(key),
    dispose: (_truth, key) => holding.add(-keyBytes(key)),
  });
  return {
    get: (key) => kept.get(key),
    set(key, truth) {
      holding.add(keyBytes(key));
      kept.set(key, truth);
    },
  };
}
