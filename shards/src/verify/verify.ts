import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { type Input, namedInputs } from "../load/input.ts";
import { asDiskFull } from "../materialise/seal.ts";
import { type Manifest, readManifest } from "../materialise/manifest.ts";
import type { OpenStore } from "./answer-store.ts";
import { checkPlacement } from "./check-placement.ts";
import { checkTriples } from "./check-triples.ts";
import { type AnswersTime, compareAnswers, type VerifiedQuery } from "./compare-answers.ts";
import { DigestSpool } from "./digest-spool.ts";
import { type Reading, readInputs, readShards, shardInputs } from "./read-sides.ts";
import { timeOver, type Check, Findings, notLookedAt, type Verification, verdictOf } from "./verification.ts";

/** How far a verification is. */
export interface VerifyProgress {
  readonly stage: "read" | "compare" | "place" | "answers";
  /** The stage is the `step`th of `steps`, from 1. */
  readonly step: number;
  readonly steps: number;
  /** Statements read from inputs and shards, parts compared, statements placed, or queries answered; of `total`. */
  readonly done: number;
  readonly total: number;
}

/** Why something could not be read, as a sentence. */
export interface Unread {
  readonly unread: string;
}

/** What is verified, and with what. */
export interface VerifyOptions {
  /** A finished folder. */
  readonly folder: string;
  /** What the shards were made of, under the names that the manifest has for them. */
  readonly inputs: readonly Input[] | Unread;
  readonly queries: readonly VerifiedQuery[] | Unread;
  /** Without it answers are not compared, and the check says so. */
  readonly openStore?: OpenStore | undefined;
  /** For all answers together: queries that it does not suffice for are unknown. Default: as long as it takes. */
  readonly answersTime?: AnswersTime | undefined;
  /**
   * Aborts when the time for all of it is over: what was not looked at by then is unknown, and no error. A store that is
   * being loaded is waited for.
   */
  readonly timeUp?: AbortSignal | undefined;
  /** Where temporary files go, about 20 bytes for each triple, with `openStore` a copy of the inputs too. */
  readonly scratch?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: VerifyProgress) => void;
}

interface Work {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly spool: DigestSpool;
  readonly scratch: string;
  readonly signal: AbortSignal;
  readonly timeUp: AbortSignal;
  readonly options: VerifyOptions;
}

/**
 * Verifies a finished folder of shards: the files are those of the manifest, each triple of the inputs is in exactly one
 * shard, the one that the rules say, and nothing else is, queries are federated as the report says, every query has the same
 * answer over the union of the shards as over the whole. What is wrong is data, not an error, and what cannot be looked at is
 * unknown. Memory is that of a 256th of the triples, the rest is on disk.
 * @throws FedwayError `SHARDS_UNKNOWN`, `SHARDS_INVALID` without a manifest, `DISK_FULL`; the signal's reason when it is
 *   aborted
 */
export async function verifyShards(options: VerifyOptions): Promise<Verification> {
  const { folder, signal = new AbortController().signal, timeUp = new AbortController().signal } = options;
  const manifest = await readManifest(folder);
  const scratch = await mkdtemp(join(options.scratch ?? tmpdir(), "fedway-verify-"));
  try {
    await mkdir(join(scratch, "parts"));
    const spool = await DigestSpool.open(join(scratch, "parts"));
    try {
      return await verifyWith({ folder, manifest, spool, scratch, signal, timeUp, options });
    } finally {
      await spool.close();
    }
  } catch (error) {
    throw withoutRoom(error);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function withoutRoom(error: unknown): unknown {
  const full = asDiskFull(error);
  if (full === error) return error;
  return new FedwayError("DISK_FULL", "The disk became full while the shards were verified.", {
    next: "Make room where temporary files go.",
    cause: error,
  });
}

async function verifyWith(work: Work): Promise<Verification> {
  const read = await readSides(work);
  await work.spool.finish();
  const checks = [read.files, ...(await tripleChecks(work, read)), ...(await placementChecks(work, read))];
  return verdictOf([...checks, await answerCheck(work, read)]);
}

const isUnread = (value: readonly unknown[] | Unread): value is Unread => !Array.isArray(value);

const copyPath = ({ manifest, scratch }: Work): string =>
  join(scratch, manifest.format === "n-quads" ? "whole.nq" : "whole.nt");

function tell(
  { options: { queries, openStore, onProgress } }: Work,
  stage: VerifyProgress["stage"],
  progress: Pick<VerifyProgress, "done" | "total">,
): void {
  const asks = openStore !== undefined && !isUnread(queries) && queries.length > 0;
  const stages = ["read", "compare", "place", ...(asks ? ["answers"] : [])];
  onProgress?.({ stage, step: stages.indexOf(stage) + 1, steps: stages.length, ...progress });
}

type Read = Awaited<ReturnType<typeof readSides>>;

/** Reads both sides: `lackOfInputs` and `lackOfShards` say why one is not known to its end, where that is so. */
async function readSides(work: Work) {
  const { manifest, spool, signal, timeUp, options } = work;
  const findings = new Findings("files");
  const expected = manifest.statements + manifest.triples;
  let [triples, files] = [0, 0];
  const reading: Reading = {
    spool,
    findings,
    signal: AbortSignal.any([signal, timeUp]),
    onProgress: (more) => {
      triples += more;
      tell(work, "read", { done: triples, total: Math.max(triples, expected) });
    },
    onFile: () => void (files += 1),
  };
  const count = (isUnread(options.inputs) ? 0 : options.inputs.length) + manifest.shards.length;
  try {
    const lackOfInputs = await inputSide(work, reading);
    const lackOfShards = await readShards(work, reading);
    return { files: findings.check(count), lackOfInputs, lackOfShards };
  } catch (error) {
    signal.throwIfAborted();
    if (!timeUp.aborted || error !== timeUp.reason) throw error;
    findings.unknownIs("the rest", timeOver, count - files);
    return { files: findings.check(files), lackOfInputs: timeOver, lackOfShards: timeOver };
  }
}

async function inputSide(work: Work, reading: Reading): Promise<string | undefined> {
  const { folder, manifest, options } = work;
  const { inputs, openStore } = options;
  if (!isUnread(inputs)) {
    return readInputs({ folder, manifest, inputs }, reading, openStore === undefined ? undefined : copyPath(work));
  }
  for (const { name } of manifest.inputs) reading.findings.unknownIs(name, inputs.unread);
  return inputs.unread;
}

async function answerCheck(work: Work, { lackOfInputs, lackOfShards }: Read): Promise<Check> {
  const { queries, openStore } = work.options;
  const lack = lackOfShards ?? lackOfInputs;
  if (lack !== undefined) return notLookedAt("answers", lack);
  if (isUnread(queries)) return notLookedAt("answers", queries.unread);
  if (queries.length === 0) return new Findings("answers").check(0);
  if (openStore === undefined) return notLookedAt("answers", "There is no store to ask.");
  if (work.timeUp.aborted) return notLookedAt("answers", timeOver);
  return askBoth(work, { queries, openStore });
}

async function askBoth(
  work: Work,
  { queries, openStore }: { readonly queries: readonly VerifiedQuery[]; readonly openStore: OpenStore },
): Promise<Check> {
  const { manifest, signal, timeUp, options } = work;
  const { format, gzip } = manifest;
  const files = shardInputs(work).map(({ path }) => ({ path, format, gzip }));
  const opened = await Promise.allSettled([
    openStore([{ path: copyPath(work), format, gzip: false }], signal),
    openStore(files, signal),
  ]);
  const [whole, union] = opened;
  try {
    if (whole.status === "rejected") return cannotOpen("the whole", whole.reason, signal);
    if (union.status === "rejected") return cannotOpen("the union of the shards", union.reason, signal);
    const total = queries.length;
    return await compareAnswers(
      queries,
      { whole: whole.value, union: union.value },
      { signal, onQuery: (done) => tell(work, "answers", { done, total }), time: options.answersTime, timeUp },
    );
  } finally {
    await Promise.all(opened.map(async (store) => (store.status === "fulfilled" ? store.value.close() : undefined)));
  }
}

/** When no store can load the data, mostly for lack of memory, the answers are unknown. */
function cannotOpen(what: string, reason: unknown, signal: AbortSignal): Check {
  signal.throwIfAborted();
  if (!(reason instanceof FedwayError)) throw reason;
  return notLookedAt("answers", `No store could load ${what}: ${reason.message}`);
}

async function tripleChecks(work: Work, { lackOfInputs, lackOfShards }: Read): Promise<readonly Check[]> {
  if (lackOfShards !== undefined) {
    return [notLookedAt("disjoint", lackOfShards), notLookedAt("complete", lackOfShards)];
  }
  const { spool, signal, timeUp, options } = work;
  const { inputs } = options;
  const known = isUnread(inputs) ? inputs.unread : namedInputs(inputs);
  return checkTriples(
    { spool, shards: shardInputs(work), inputs: lackOfInputs ?? known },
    { signal, timeUp, onPart: (done, total) => tell(work, "compare", { done, total }) },
  );
}

async function placementChecks(work: Work, { lackOfShards }: Read): Promise<readonly Check[]> {
  const { folder, manifest, signal, timeUp, options } = work;
  const lack = lackOfShards ?? (timeUp.aborted ? timeOver : undefined);
  if (lack !== undefined) return [notLookedAt("placement", lack), notLookedAt("federated", lack)];
  const queries = isUnread(options.queries) ? options.queries.unread : options.queries;
  // Each shard is read twice.
  const total = 2 * manifest.triples;
  let [done, inFile] = [0, 0];
  const onProgress = ({ triples }: { readonly triples: number }): void => {
    done += triples < inFile ? triples : triples - inFile;
    inFile = triples;
    tell(work, "place", { done, total: Math.max(done, total) });
  };
  return checkPlacement({ folder, manifest, queries }, { signal, timeUp, onProgress });
}
