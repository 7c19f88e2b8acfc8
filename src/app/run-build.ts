import { type BuildOptions, type BuildResult, buildShards } from "../shards/build.ts";
import { createClingoSolver } from "../shards/solver/clingo-solver.ts";
import type { LocatedSpec } from "../shards/spec-paths.ts";
import { wallClock } from "./clock.ts";

/** Builds shards with a solver of their own. @throws FedwayError what `buildShards` throws */
export async function runBuild(
  spec: LocatedSpec,
  options: Pick<BuildOptions, "dryRun" | "signal" | "onProgress">,
): Promise<BuildResult> {
  const solver = createClingoSolver();
  try {
    return await buildShards(spec, { ...options, solver, now: wallClock.now });
  } finally {
    await solver.close();
  }
}
