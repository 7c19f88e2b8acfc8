import type { EditableCatalog } from "./catalog.ts";
import type { Clock, Timer } from "../../clock.ts";

/** What follows when endpoints leave the catalogue. */
interface RemovalOptions {
  readonly catalog: Pick<EditableCatalog, "entries" | "byId" | "onChange">;
  /** Drops what is kept of an endpoint; called again when it has failed, also half-way. */
  readonly remove: (id: string) => Promise<unknown>;
  readonly clock: Pick<Clock, "setTimeout" | "clearTimeout">;
  /** Called with every failure, and with what was given up. */
  readonly onFault: (error: unknown) => void;
}

/** Waits before the next tries; the last one is repeated, for somewhat more than an hour in all. */
const retryMs = [250, 1_000, 5_000, 30_000, 120_000];
const mostTries = 40;
/** Endpoints whose removal waits to be tried again. */
const mostWaiting = 1_000;

/**
 * Calls `remove` for every endpoint that leaves the catalogue, until `close`. While that fails it is tried again, unless
 * the endpoint is back.
 */
export function followRemovals(options: RemovalOptions): { close(): void } {
  const { catalog } = options;
  const removals = new Removals(options);
  let known = catalog.entries;
  const ignore = catalog.onChange(() => {
    const before = known;
    known = catalog.entries;
    for (const { id } of before) if (catalog.byId(id) === undefined) removals.begin(id);
  });
  return {
    close() {
      ignore();
      removals.close();
    },
  };
}

/** One removal that is under way or waits; a later one of the same endpoint takes its place. */
interface Removal {
  tries: number;
  timer?: Timer;
}

class Removals {
  readonly #options: RemovalOptions;
  readonly #open = new Map<string, Removal>();
  #closed = false;

  constructor(options: RemovalOptions) {
    this.#options = options;
  }

  begin(id: string): void {
    this.#end(id);
    const removal: Removal = { tries: 0 };
    this.#open.set(id, removal);
    void this.#try(id, removal);
  }

  close(): void {
    this.#closed = true;
    for (const id of this.#open.keys()) this.#end(id);
  }

  #end(id: string): void {
    const timer = this.#open.get(id)?.timer;
    if (timer !== undefined) this.#options.clock.clearTimeout(timer);
    this.#open.delete(id);
  }

  async #try(id: string, removal: Removal): Promise<void> {
    removal.tries += 1;
    try {
      await this.#options.remove(id);
      if (this.#open.get(id) === removal) this.#end(id);
    } catch (error) {
      if (this.#closed) return;
      this.#options.onFault(error);
      if (this.#open.get(id) === removal) this.#wait(id, removal);
    }
  }

  #wait(id: string, removal: Removal): void {
    const { catalog, clock, onFault } = this.#options;
    if (removal.tries >= mostTries || this.#open.size > mostWaiting) {
      this.#end(id);
      onFault(new Error(`What is kept of the removed endpoint "${id}" could not be dropped, and stays.`));
      return;
    }
    removal.timer = clock.setTimeout(
      () => {
        // What is there now may be what was learnt of it since it came back.
        if (catalog.byId(id) !== undefined) this.#end(id);
        else void this.#try(id, removal);
      },
      retryMs[Math.min(removal.tries, retryMs.length) - 1] ?? 0,
    );
  }
}
