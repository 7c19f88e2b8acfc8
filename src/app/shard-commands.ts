import { realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { BuildShardsOptions, ShardCommands, ShardOutcome } from "../cli/cli-io.ts";
import type { Config } from "../config/config.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { readReport } from "../shards/finished-folder.ts";
import { readManifest } from "../shards/materialise/manifest.ts";
import { readShardSpecs } from "../shards/spec.ts";
import { type LocatedSpec, locateSpec } from "../shards/spec-paths.ts";
import { runBuild } from "./run-build.ts";
import { readSpecFile } from "./shard-jobs.ts";
import { verifyFolder } from "./verify-folder.ts";

/** What the command line does with shards, without a service. */
export function createShardCommands(config: Pick<Config, "dataDir">): ShardCommands {
  return {
    async build(specFile, options) {
      const outcomes: ShardOutcome[] = [];
      for (const spec of await locateAll(config, specFile, options)) outcomes.push(await runBuild(spec, options));
      return outcomes;
    },
    report: reportAt,
    verify: verifyFolder,
  };
}

/** The manifest too has to be there: what is being built has none, and may have a report. */
async function reportAt(path: string): Promise<ShardOutcome> {
  const folder = resolve(path);
  try {
    await readManifest(folder);
    return { report: await readReport(folder), folder };
  } catch (error) {
    if (!(error instanceof FedwayError)) throw error;
    // Several folders may have been named.
    throw new FedwayError(error.code, `${path}: ${error.message}`, error.details);
  }
}

/** Who calls a command may name any place on the command line; a description, which may come from others, may not. */
async function locateAll(
  { dataDir }: Pick<Config, "dataDir">,
  specFile: string,
  { mode, output, allow }: BuildShardsOptions,
): Promise<readonly LocatedSpec[]> {
  const specs = readShardSpecs(await readSpecFile(specFile));
  const baseDir = dirname(await realpath(specFile));
  const located = specs.map(async ({ output: described, ...spec }) => {
    const wanted = output === undefined ? described : undefined;
    const given = output !== undefined && specs.length > 1 ? join(output, spec.dataset) : output;
    return locateSpec(
      { ...spec, ...(mode !== undefined && { mode }), ...(wanted !== undefined && { output: wanted }) },
      {
        baseDir,
        readable: [baseDir, process.cwd(), ...allow],
        output: given ?? join(dataDir, "shards", spec.dataset),
        writable: [baseDir, process.cwd(), join(dataDir, "shards")],
      },
    );
  });
  const found = await Promise.all(located);
  const twice = found.find(({ output: folder }, index) => found.findIndex((each) => each.output === folder) !== index);
  if (twice === undefined) return found;
  throw new FedwayError(
    "REQUEST_INVALID",
    "The description of the shards: output names one folder for several datasets.",
    {
      next: 'Put "{dataset}" into it.',
    },
  );
}
