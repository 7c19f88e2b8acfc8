import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { DataShape } from "../described-data.ts";
import type { EnginePolicy, EngineStatistics } from "./policy.ts";
import type { EngineBoot, EngineCommand, EngineEvent } from "./protocol.ts";
import { createVirtualClock, type VirtualClock } from "./virtual-clock.ts";

/** A simulated engine as its clients see it. */
export interface SimulatedEngine {
  readonly policy: EnginePolicy;
  readonly url: string;
  statistics(): Promise<EngineStatistics>;
  /** Brings an engine back that has died. */
  readonly revive: () => Promise<void>;
}

/** Engines over one graph. */
export interface SimulatedEngines {
  readonly triples: number;
  /** The time that answers take passes on this clock only. */
  readonly clock: VirtualClock;
  readonly engines: readonly SimulatedEngine[];
  close(): Promise<void>;
}

/** Starts one engine per policy, all over the same graph, on free ports of 127.0.0.1. */
export async function startSimulatedEngines(
  shape: DataShape,
  policies: readonly EnginePolicy[],
): Promise<SimulatedEngines> {
  const clock = createVirtualClock();
  const workerData: EngineBoot = { shape, policies, aheadMs: clock.aheadMs };
  const worker = new Worker(new URL("worker.ts", import.meta.url), {
    workerData,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 4_096 },
  });
  const [ready] = (await once(worker, "message")) as [EngineEvent];
  if (ready.kind !== "ready") throw new Error("the engines did not start");
  const command = createCommands(worker);
  return {
    triples: ready.triples,
    clock,
    engines: policies.map((policy) => ({
      policy,
      url: `http://127.0.0.1:${ready.ports.get(policy.name)}/sparql`,
      statistics: () => command("statistics", policy.name),
      revive: async () => {
        await command("revive", policy.name);
      },
    })),
    close: async () => {
      await worker.terminate();
    },
  };
}

function createCommands(worker: Worker) {
  const waiting = new Map<number, { resolve(statistics: EngineStatistics): void; reject(error: Error): void }>();
  let lastId = 0;
  worker.on("message", (event: EngineEvent) => {
    if (event.kind === "ready") return;
    const caller = waiting.get(event.id);
    waiting.delete(event.id);
    if (event.kind === "done") caller?.resolve(event.statistics);
    else caller?.reject(new Error(event.message));
  });
  return (kind: EngineCommand["kind"], engine: string): Promise<EngineStatistics> =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      waiting.set(id, { resolve, reject });
      const command: EngineCommand = { kind, id, engine };
      worker.postMessage(command, []);
    });
}
