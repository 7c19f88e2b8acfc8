import type { JobProgress } from "../jobs/job-queue.ts";
import type { Progress } from "../shards/load/read-statements.ts";
import type { SharedSlice } from "../shards/materialise/shared-slices.ts";
import type { LocatedSpec } from "../shards/spec-paths.ts";
import type { ToldError } from "../shards/threads/thread-protocol.ts";
import type { Verification } from "../shards/verify/verification.ts";
import type { BuildJobResult } from "./shard-jobs.ts";
import type { OpenSlices } from "./shard-readers.ts";
import type { FinishedOptions } from "./verify-folder.ts";

/** Work on shards that takes a processor for long, and so a process of its own (`shard-process.ts`). */
export type ShardTask =
  | {
      readonly kind: "build";
      readonly spec: LocatedSpec;
      readonly dryRun: boolean;
      /** Large inputs are read by others too, whom the parent asks. */
      readonly readers?: { readonly sliceBytes: number; readonly inputs: string };
    }
  | { readonly kind: "slice"; readonly shared: SharedSlice }
  | {
      readonly kind: "verify";
      readonly options: Omit<FinishedOptions, "signal" | "timeUp" | "onProgress" | "answersTime">;
      /** For the answers of all queries together. */
      readonly answersMs: number;
    };

/** What comes of a task. */
export interface ShardResults {
  readonly build: BuildJobResult;
  readonly slice: void;
  readonly verify: Verification;
}

/** What the process is told. */
export type ToShardProcess =
  | { readonly kind: "task"; readonly task: ShardTask }
  /** The task is to end soon, for this reason. */
  | { readonly kind: "stop"; readonly reason: ToldError }
  /** How far the readers are that the process asked for. */
  | { readonly kind: "reading"; readonly progress: Progress }
  | { readonly kind: "read"; readonly error?: ToldError };

/** What the process says; `done` or `failed` is its last word. */
export type FromShardProcess<Result> =
  | { readonly kind: "progress"; readonly progress: JobProgress }
  | { readonly kind: "readSlices"; readonly slices: OpenSlices }
  | { readonly kind: "done"; readonly result: Result }
  | { readonly kind: "failed"; readonly error: ToldError };
