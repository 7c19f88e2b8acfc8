import type { DataShape } from "../described-data.ts";
import type { EnginePolicy, EngineStatistics } from "./policy.ts";

/** What the worker thread of simulated engines is started with. */
export interface EngineBoot {
  readonly shape: DataShape;
  readonly policies: readonly EnginePolicy[];
  readonly aheadMs: SharedArrayBuffer;
}

export interface EngineCommand {
  readonly kind: "statistics" | "revive";
  readonly id: number;
  readonly engine: string;
}

export type EngineEvent =
  | { readonly kind: "ready"; readonly triples: number; readonly ports: ReadonlyMap<string, number> }
  | { readonly kind: "done"; readonly id: number; readonly statistics: EngineStatistics }
  | { readonly kind: "failed"; readonly id: number; readonly message: string };
