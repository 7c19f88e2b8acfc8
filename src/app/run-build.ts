import { FedwayError } from "../errors/fedway-error.ts";
import { type BuildOptions, type BuildResult, buildShards } from "../shards/build.ts";
import { discardBuild } from "../shards/materialise/materialise.ts";
import { createClingoSolver } from "../shards/solver/clingo-solver.ts";
import type { LocatedSpec } from "../shards/spec-paths.ts";
import { lockTarget } from "../shards/target-lock.ts";
import { systemClock } from "../clock.ts";
import { storeOpener } from "./open-store.ts";

/** Of the queries whose solutions a build wants to know: one that takes longer, or more, stays unknown. */
const quick = { timeoutMs: 20_000, memoryMb: 768, maxAnswerBytes: 64 * 1024 * 1024 };

/** Builds shards with a solver of their own. @throws FedwayError what `buildShards` throws */
export async function runBuild(
  spec: LocatedSpec,
  options: Pick<BuildOptions, "dryRun" | "signal" | "onProgress" | "readers" | "solveMs" | "answersMs">,
): Promise<BuildResult> {
  const solver = createClingoSolver();
  try {
    return await buildShards(spec, { ...options, solver, openStore: storeOpener(quick), now: systemClock.now });
  } finally {
    await solver.close();
  }
}

/**
 * Removes what an unfinished build left, unless another one is at work on the same target: then that one goes on with it.
 * @throws errors of the file system
 */
export async function discardLeftovers(target: string): Promise<void> {
  const lock = await lockTarget(target, { now: systemClock.now }).catch((error: unknown) => {
    if (error instanceof FedwayError && error.code === "SHARDS_BUSY") return undefined;
    throw error;
  });
  if (lock === undefined) return;
  try {
    await discardBuild(target);
  } finally {
    await lock.release();
  }
}
