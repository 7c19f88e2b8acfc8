import { realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { readReport, readOrigins } from "../finished-folder.ts";
import { readManifest } from "../materialise/manifest.ts";
import { type SqlDialect, warehouseSql } from "../materialise/warehouse-sql.ts";
import { readShardSpecs, type ShardSpec } from "../spec.ts";
import { type LocatedSpec, locateSpec, readSpecFile } from "../spec-paths.ts";
import { type BuildRequest, type BuildResult, buildShards } from "../build.ts";
import type { BuildProgress } from "../build-problem.ts";
import { isObject } from "../guards.ts";
import { createClingoSolver } from "../solver/clingo-solver.ts";
import { systemClock } from "../../../src/clock.ts";
import type { OpenStores, StoreLimits } from "../verify/answer-store.ts";
import type { JobProgress } from "../../../src/jobs/job-queue.ts";
import { checkPackage, isPackage, packageFolder } from "../package/open-package.ts";
import type { RekeyOptions, RekeyResult } from "../variants/rekey.ts";
import { type Verification, verdictOf } from "../verify/verification.ts";
import type { VerifyPlan, VerifyProgress, VerifyRequest } from "../verify/verify.ts";

interface Running {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: BuildProgress) => void;
}

/** Changes that the command line makes to a description. */
interface SpecCommand {
  /** In the place of those of the description. */
  readonly fields?: Partial<ShardSpec>;
  readonly output?: string;
  readonly allow: readonly string[];
}

interface BuildCommand extends Running, SpecCommand {
  readonly dryRun: boolean;
  readonly solveMs?: number;
}

interface PackageCommand extends Running {
  /** Without it the package lies in the data folder. */
  readonly output?: string | undefined;
  readonly baseUrl: string;
  readonly timeoutMs?: number | undefined;
  readonly version: string;
}

interface RekeyCommand extends RekeyOptions {
  readonly allow: readonly string[];
}

interface VerifyCommand extends Running {
  readonly inputs: readonly string[];
  readonly answers: boolean;
  readonly timeoutMs?: number;
}

/** Commands on shards that need no service; each loads what it alone needs. */
export const createShardCommands = (dataDir: string, openStores: OpenStores) => ({
  async build(specFile: string, options: BuildCommand): Promise<readonly BuildResult[]> {
    const outcomes: BuildResult[] = [];
    for (const spec of await locateAll(dataDir, specFile, options)) {
      outcomes.push(await runBuild(spec, { ...options, openStores }));
    }
    return outcomes;
  },
  report: reportAt,
  sql: async (folder: string, dialect: SqlDialect): Promise<string> =>
    warehouseSql(await readManifest(resolve(folder)), dialect),
  async package(folder: string, options: PackageCommand) {
    const { packageShards } = await import("../package/package-shards.ts");
    const { dataset } = await readManifest(folder);
    const output = options.output ?? packageFolder(dataDir, dataset);
    return packageShards(folder, { ...options, output }, openStores);
  },
  /** Each description's twin lies in a folder of its own where there are several. */
  async rekey(specFile: string, { out, allow, ...options }: RekeyCommand) {
    const { rekeyDataset } = await import("../variants/rekey.ts");
    const results: RekeyResult[] = [];
    for (const spec of await locateAll(dataDir, specFile, { output: out, allow }))
      results.push(await rekeyDataset(spec, { ...options, out: spec.output }));
    return results;
  },
  verify: (folder: string, options: VerifyCommand) => verifyFolder(folder, { ...options, openStores }),
});

/** The manifest must be there, too: a folder that is still being built has none, and may have a report. */
async function reportAt(path: string): Promise<BuildResult> {
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

/** A path on the command line may lead anywhere; one in a description, which may come from others, may not. */
async function locateAll(
  dataDir: string,
  specFile: string,
  { fields, output, allow }: SpecCommand,
): Promise<readonly LocatedSpec[]> {
  const described = await readSpecFile(specFile);
  const specs = readShardSpecs(isObject(described) ? { ...described, ...fields } : described);
  const baseDir = dirname(await realpath(specFile));
  const located = specs.map(async ({ output: own, ...spec }) => {
    const wanted = output === undefined ? own : undefined;
    const given = output !== undefined && specs.length > 1 ? join(output, spec.dataset) : output;
    return locateSpec(
      { ...spec, output: wanted },
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

/** Limits of the queries that a build asks: the solutions of one that exceeds them stay unknown. */
const quick = { timeoutMs: 20_000, memoryMb: 768, maxAnswerBytes: 64 * 1024 * 1024 };

interface WithStores {
  readonly openStores: OpenStores;
}

/** Builds shards with a solver of their own. @throws FedwayError what `buildShards` throws */
export async function runBuild(
  spec: LocatedSpec,
  { openStores, ...request }: BuildRequest & WithStores,
): Promise<BuildResult> {
  const solver = createClingoSolver();
  try {
    return await buildShards(spec, { ...request, solver, openStore: openStores(quick), now: systemClock.now });
  } finally {
    await solver.close();
  }
}

/** A person waits: two minutes a query, and nearly all the memory that WebAssembly can address. */
const generous = { timeoutMs: 120_000, memoryMb: 3_584, maxAnswerBytes: 512 * 1024 * 1024 };

/**
 * Verifies a finished folder against its inputs.
 * @throws FedwayError `SHARDS_UNKNOWN`, `SHARDS_INVALID`, `DISK_FULL`; the signal's reason when it is aborted
 */
async function verifyFolder(path: string, options: VerifyCommand & WithStores): Promise<Verification> {
  const folder = resolve(path);
  if (await isPackage(folder)) return verifyPackage(folder, options);
  // First, so that a folder without shards is reported as such.
  await readManifest(folder);
  const { queries } = await readReport(folder);
  const { answers, timeoutMs, signal, onProgress, openStores } = options;
  const inputs = options.inputs.length > 0 ? options.inputs.map((each) => resolve(each)) : await readOrigins(folder);
  return verifyFinished({
    folder,
    inputs: inputs.map((each) => ({ path: each })),
    queries: queries.map(({ id, text, federated }) => ({ id, text, federated })),
    answers,
    limits: generous,
    openStores,
    timeUp: timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs),
    signal,
    onProgress,
  });
}

/** Its files; its shards too where it is given what they were made of, which a package does not say. */
async function verifyPackage(folder: string, options: VerifyCommand & WithStores): Promise<Verification> {
  const files = await checkPackage(folder);
  if (options.inputs.length === 0) return verdictOf([files]);
  const { checks } = await verifyFolder(join(folder, "build"), options);
  return verdictOf([files, ...checks]);
}

/** A verification, and the limits of the stores that are asked; a JSON value. */
export interface FinishedPlan extends VerifyPlan {
  /** Compare the answers of all queries too. */
  readonly answers: boolean;
  /** Limits of each of the two stores; both hold the whole dataset. */
  readonly limits: StoreLimits;
}

interface FinishedOptions extends FinishedPlan, VerifyRequest, WithStores {
  readonly onProgress: (progress: JobProgress) => void;
}

/** Verifies with stores of this process. @throws FedwayError as `verifyShards` */
export async function verifyFinished({
  answers,
  limits,
  openStores,
  onProgress,
  ...request
}: FinishedOptions): Promise<Verification> {
  const { verifyShards } = await import("../verify/verify.ts");
  return verifyShards({
    ...request,
    openStore: answers ? openStores(limits) : undefined,
    hosting: openStores(limits),
    onProgress: (progress) => onProgress(shown(progress)),
  });
}

const stages = {
  read: "reading inputs and shards",
  compare: "comparing triples",
  hosted: "comparing hosted shards with their files",
  answers: "comparing answers",
} as const;

const shown = ({ stage, step, steps, done, total }: VerifyProgress): JobProgress => ({
  stage: `${stages[stage]} (${step} of ${steps})`,
  done,
  total,
});
