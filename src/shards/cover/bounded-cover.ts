import { Worker } from "node:worker_threads";
import type { CoverInstance } from "./cover-instance.ts";
import type { CoverMessage } from "./cover-protocol.ts";

/** A cover and a bound that a thread keeps improving. */
export interface BoundedCover {
  /** Missing until the local search is over. */
  readonly chosen: readonly number[] | undefined;
  /** No cover is smaller. */
  readonly lowerBound: number;
  stop(): Promise<void>;
}

const heapMb = 512;

/** From source Node runs the TypeScript file itself; compiled it is JavaScript. */
function workerScript(): URL {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new URL(`./cover-worker.${extension}`, import.meta.url);
}

/** Starts a thread that looks for a small cover and a high bound; a thread that fails leaves what it has said. */
export function startBoundedCover(instance: CoverInstance): BoundedCover {
  const worker = new Worker(workerScript(), {
    workerData: instance,
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  let chosen: readonly number[] | undefined;
  let lowerBound = 0;
  worker.on("message", (message: CoverMessage) => {
    if (message.kind === "cover") ({ chosen } = message);
    else lowerBound = Math.max(lowerBound, message.lowerBound);
  });
  // What it knew until then stays true.
  worker.on("error", () => undefined);
  return {
    get chosen() {
      return chosen;
    },
    get lowerBound() {
      return lowerBound;
    },
    async stop() {
      await worker.terminate();
    },
  };
}
