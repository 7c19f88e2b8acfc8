import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { itemAt } from "../../../src/values.ts";
import type { Input } from "../load/input.ts";
import { asDiskFull } from "../materialise/build-folder.ts";
import { type Manifest, readManifest } from "../materialise/manifest.ts";
import type { OpenStore } from "./answer-store.ts";
import { checkTriples, heldTriples } from "./check-triples.ts";
import { checkHosted } from "./check-hosted.ts";
import { type AnswersTime, compareAnswers, type VerifiedQuery } from "./compare-answers.ts";
import { readOnce, type ReadOnce } from "./read-once.ts";
import { inputsAsBuilt, shardInputs } from "./read-sides.ts";
import { timeOver, type Check, Findings, notLookedAt, type Verification, verdictOf } from "./verification.ts";

/** How far a verification is. */
export interface VerifyProgress {
  readonly stage: "read" | "compare" | "hosted" | "answers";
  /** The stage is the `step`th of `steps`, from 1. */
  readonly step: number;
  readonly steps: number;
  /** Statements read from inputs and shards, parts compared, shards hosted, or queries answered; of `total`. */
  readonly done: number;
  readonly total: number;
}

/** Why something could not be read, as a sentence. */
export interface Unread {
  readonly unread: string;
}

/** The folder to verify; a JSON value. */
export interface VerifyPlan {
  /** A finished folder. */
  readonly folder: string;
  /** Inputs of the shards, under the names that the manifest has for them. */
  readonly inputs: readonly Input[] | Unread;
  readonly queries: readonly VerifiedQuery[] | Unread;
  /** Where temporary files go: with `openStore` a copy of the inputs, and of both sides where their triples differ. */
  readonly scratch?: string;
}

/** A verification, and when it ends. */
export interface VerifyRequest extends VerifyPlan {
  /** For all answers together: queries that it does not suffice for are unknown. Default: as long as it takes. */
  readonly answersTime?: AnswersTime | undefined;
  /**
   * Aborts when the time for all of it is over: parts not checked by then are unknown, and no error. A store that is
   * being loaded is waited for.
   */
  readonly timeUp?: AbortSignal | undefined;
  readonly signal?: AbortSignal;
}

/** The same with what a verification works with. */
export interface VerifyOptions extends VerifyRequest {
  /** Without it answers are not compared, and the check says so. */
  readonly openStore?: OpenStore | undefined;
  /** Opens stores that hold a shard as its endpoint does. Without it that is not checked. */
  readonly hosting?: OpenStore | undefined;
  readonly onProgress?: (progress: VerifyProgress) => void;
}

interface Work {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly scratch: string;
  readonly signal: AbortSignal;
  readonly timeUp: AbortSignal;
  readonly options: VerifyOptions;
}

/**
 * Verifies a finished folder of shards: the files are those of the manifest, each triple of the inputs is in exactly one
 * shard, the one that the rules say, and nothing else is, queries are federated as the report says, hosted shards have the
 * triples of their files, term by term, every query has the same answer over the union of the shards as over the whole. A fault is data, not an error, and an unreadable part is
 * unknown. Each side is read once; only what is wrong then is looked for in a second pass. Memory grows with the subjects.
 * @throws FedwayError `SHARDS_UNKNOWN`, `SHARDS_INVALID` without a manifest, `DISK_FULL`; the signal's reason when it is
 *   aborted
 */
export async function verifyShards(options: VerifyOptions): Promise<Verification> {
  const { folder, signal = new AbortController().signal, timeUp = new AbortController().signal } = options;
  const manifest = await readManifest(folder);
  const scratch = await mkdtemp(join(options.scratch ?? tmpdir(), "fedway-verify-"));
  try {
    return await verifyWith({ folder, manifest, scratch, signal, timeUp, options });
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
  const { folder, manifest, signal, timeUp, options } = work;
  const { inputs, queries, openStore } = options;
  const read = await readOnce({
    folder,
    manifest,
    inputs: isUnread(inputs) ? inputs.unread : inputs,
    queries: isUnread(queries) ? queries.unread : queries,
    copyPath: openStore && copyPath(work),
    signal,
    timeUp,
    onProgress: (done, total) => tell(work, "read", { done, total }),
  });
  const checks = [read.files, ...(await tripleChecks(work, read)), ...read.placement];
  return verdictOf([...checks, ...(await hostedChecks(work, read)), await answerCheck(work, read)]);
}

const isUnread = (value: readonly unknown[] | Unread): value is Unread => !Array.isArray(value);

const copyPath = ({ manifest, scratch }: Work): string =>
  join(scratch, manifest.format === "n-quads" ? "whole.nq" : "whole.nt");

function tell(
  { options: { queries, openStore, hosting, onProgress } }: Work,
  stage: VerifyProgress["stage"],
  progress: { readonly done: number; readonly total: number },
): void {
  const asks = openStore !== undefined && !isUnread(queries) && queries.length > 0;
  const stages = ["read", "compare", ...(hosting === undefined ? [] : ["hosted"]), ...(asks ? ["answers"] : [])];
  onProgress?.({ stage, step: stages.indexOf(stage) + 1, steps: stages.length, ...progress });
}

async function hostedChecks(work: Work, { lackOfShards, sums }: ReadOnce): Promise<readonly Check[]> {
  const { folder, manifest, signal, timeUp, options } = work;
  const { hosting } = options;
  if (hosting === undefined) return [];
  if (lackOfShards !== undefined) return [notLookedAt("hosted", lackOfShards)];
  const files = shardInputs({ folder, manifest }).map((input, at) => ({ input, sum: itemAt(sums, at) }));
  const onShard = (done: number): void => tell(work, "hosted", { done, total: files.length });
  return [await checkHosted(files, { openStore: hosting, gzip: manifest.gzip, signal, timeUp, onShard })];
}

async function answerCheck(work: Work, { lackOfInputs, lackOfShards }: ReadOnce): Promise<Check> {
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

async function tripleChecks(work: Work, read: ReadOnce): Promise<readonly Check[]> {
  const { lackOfInputs, lackOfShards } = read;
  if (lackOfShards !== undefined) {
    return [notLookedAt("disjoint", lackOfShards), notLookedAt("complete", lackOfShards)];
  }
  const { folder, manifest, scratch, signal, timeUp, options } = work;
  if (read.isDisjoint && (lackOfInputs !== undefined || read.isComplete)) {
    tell(work, "compare", { done: 1, total: 1 });
    return heldTriples(read.triples, lackOfInputs);
  }
  const parts = join(scratch, "parts");
  await mkdir(parts);
  const inputs = isUnread(options.inputs) ? [] : inputsAsBuilt(manifest, options.inputs);
  return checkTriples(
    { parts, shards: shardInputs({ folder, manifest }), inputs: lackOfInputs ?? inputs },
    { signal, timeUp, onPart: (done, total) => tell(work, "compare", { done, total }) },
  );
}
