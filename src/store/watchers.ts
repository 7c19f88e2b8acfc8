import type { DocumentChange, Store } from "./store.ts";

/** `Store.watch` of a store whose changes are all made in this process. */
export type Watchers = ReturnType<typeof createWatchers>;

type Listener = Parameters<Store["watch"]>[1];

/** Listeners to changes, initially none. */
export function createWatchers() {
  const watchers = new Set<{ readonly prefix: string; readonly listener: Listener }>();
  return {
    watch: (prefix: string, listener: Listener): (() => void) => {
      const watcher = { prefix, listener };
      watchers.add(watcher);
      queueMicrotask(() => watchers.has(watcher) && listener(undefined));
      return () => watchers.delete(watcher);
    },
    tell(change: DocumentChange): void {
      for (const { prefix, listener } of watchers) {
        if (change.key.startsWith(prefix)) listener(change);
      }
    },
    clear: (): void => watchers.clear(),
  };
}
