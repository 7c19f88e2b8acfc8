import type { DocumentChange, Store } from "./store.ts";

/** `Store.watch` of a store whose changes are all made in this process. */
export interface Watchers {
  readonly watch: Store["watch"];
  tell(change: DocumentChange): void;
  clear(): void;
}

/** Nobody listens yet. */
export function createWatchers(): Watchers {
  const watchers = new Set<{ readonly prefix: string; readonly listener: Parameters<Store["watch"]>[1] }>();
  return {
    watch(prefix, listener) {
      const watcher = { prefix, listener };
      watchers.add(watcher);
      queueMicrotask(() => watchers.has(watcher) && listener(undefined));
      return () => watchers.delete(watcher);
    },
    tell(change) {
      for (const { prefix, listener } of watchers) {
        if (change.key.startsWith(prefix)) listener(change);
      }
    },
    clear: () => watchers.clear(),
  };
}
