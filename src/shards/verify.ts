import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Input, type InputFormat, namedInputs } from "./load/input.ts";
import { readStatements } from "./load/read-statements.ts";
import { type Manifest, readManifest } from "./materialise/manifest.ts";
import { type AnswerStore, compareAnswers, type VerifiedQuery } from "./verify/compare-answers.ts";
import { compareTriples, type Comparison, type Fault } from "./verify/compare-triples.ts";
import { createDigestSpool, type Digest, type DigestSpool, digestOf } from "./verify/digest-spool.ts";
import { readInputs, readShards, shardInputs, type Sides } from "./verify/read-sides.ts";
import { type Check, type CheckName, createFindings, type Verification, verdictOf } from "./verify/verification.ts";

/** A file that a store loads. */
export interface StoreFile {
  readonly path: string;
  readonly format: InputFormat;
  /** Compressed by gzip. */
  readonly gzip: boolean;
}

/** How far a verification is. */
export interface VerifyProgress {
  readonly stage: "read" | "compare" | "answers";
  /** Statements read from inputs and shards, or queries answered. */
  readonly done: number;
  /** Undefined where nobody knows yet. */
  readonly total: number | undefined;
}

/** What is verified, and with what. */
export interface VerifyOptions {
  /** A finished folder. */
  readonly folder: string;
  /** What the shards were made of, under the names that the manifest has for them. */
  readonly inputs: readonly Input[];
  readonly queries: readonly VerifiedQuery[];
  /** Loads files into one default graph; without it answers are not compared, and the check says so. */
  readonly openStore?: (files: readonly StoreFile[], signal: AbortSignal) => Promise<AnswerStore>;
  /** Where temporary files go, about 20 bytes for each triple, with `openStore` a copy of the inputs too. */
  readonly scratch?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: VerifyProgress) => void;
}

interface Work extends Sides {
  readonly spool: DigestSpool;
  readonly scratch: string;
  readonly signal: AbortSignal;
  readonly options: VerifyOptions;
}

/**
 * Verifies a finished folder of shards: the files are those of the manifest, each triple of the inputs is in exactly one
 * shard and nothing else is, every query has the same answer over the union of the shards as over the whole. What is
 * wrong is data, not an error. Memory is that of a 256th of the triples, the rest is on disk.
 * @throws FedwayError `SHARDS_UNKNOWN`, `SHARDS_INVALID` without a manifest; the signal's reason when it is aborted
 */
export async function verifyShards(options: VerifyOptions): Promise<Verification> {
  const { folder, inputs, signal = new AbortController().signal } = options;
  const manifest = await readManifest(folder);
  const scratch = await mkdtemp(join(options.scratch ?? tmpdir(), "fedway-verify-"));
  try {
    await mkdir(join(scratch, "parts"));
    const spool = await createDigestSpool(join(scratch, "parts"));
    try {
      return await verifyWith({ folder, inputs, manifest, spool, scratch, signal, options });
    } finally {
      await spool.close();
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const copyName = (manifest: Manifest): string => (manifest.format === "n-quads" ? "whole.nq" : "whole.nt");

async function verifyWith(work: Work): Promise<Verification> {
  const { manifest, spool, signal, scratch, options } = work;
  const { queries, openStore, onProgress } = options;
  const findings = createFindings("files");
  let done = 0;
  const total = manifest.statements + manifest.triples;
  const reading = {
    spool,
    findings,
    signal,
    onProgress: (triples: number): void => {
      done += triples;
      onProgress?.({ stage: "read", done, total });
    },
  };
  const copy = join(scratch, copyName(manifest));
  const isWhole = [
    await readInputs(work, reading, openStore === undefined ? undefined : copy),
    await readShards(work, reading),
  ].every(Boolean);
  await spool.finish();
  onProgress?.({ stage: "compare", done: 0, total: undefined });
  const files = findings.check(work.inputs.length + manifest.shards.length);
  if (!isWhole) {
    const reason = "A file could not be read to its end.";
    return verdictOf([
      files,
      notLookedAt("disjoint", reason),
      notLookedAt("complete", reason),
      notLookedAt("answers", reason),
    ]);
  }
  const triples = await tripleChecks(work);
  if (queries.length === 0) return verdictOf([files, ...triples, createFindings("answers").check(0)]);
  if (openStore === undefined) {
    return verdictOf([files, ...triples, notLookedAt("answers", "There is no store to ask.")]);
  }
  return verdictOf([files, ...triples, await answerCheck(work, [openStore, copy])]);
}

function notLookedAt(name: CheckName, reason: string): Check {
  const findings = createFindings(name);
  findings.unknownIs("all", reason);
  return findings.check(0);
}

type OpenStore = NonNullable<VerifyOptions["openStore"]>;

async function answerCheck(work: Work, [openStore, copy]: readonly [OpenStore, string]): Promise<Check> {
  const { manifest, signal, options } = work;
  const { format, gzip } = manifest;
  const files = shardInputs(work).map(({ path }) => ({ path, format, gzip }));
  const opened = await Promise.allSettled([
    openStore([{ path: copy, format, gzip: false }], signal),
    openStore(files, signal),
  ]);
  const [whole, union] = opened;
  try {
    if (whole.status === "rejected") throw whole.reason;
    if (union.status === "rejected") throw union.reason;
    const total = options.queries.length;
    const onQuery = (done: number): void => options.onProgress?.({ stage: "answers", done, total });
    return await compareAnswers(options.queries, { whole: whole.value, union: union.value }, { signal, onQuery });
  } finally {
    await Promise.all(opened.map(async (store) => (store.status === "fulfilled" ? store.value.close() : undefined)));
  }
}

const reasons: Readonly<Record<Fault, string>> = {
  missing: "in the input, but in no shard",
  foreign: "in a shard, but not in the input",
  shared: "in several shards",
  repeated: "more than once in its shard",
};

/** No triple is in two shards; the union equals the input. */
async function tripleChecks(work: Work): Promise<readonly Check[]> {
  const comparison = await compareTriples(work.spool);
  const texts = await exampleTexts(work, comparison);
  const check = (name: CheckName, faults: readonly Fault[]): Check => {
    const findings = createFindings(name);
    for (const fault of faults) {
      const { count, examples } = comparison.faults[fault];
      for (const [at, { digest, files }] of examples.entries()) {
        const where = files.filter((file) => file > 0).map((file) => work.manifest.shards[file - 1]?.id ?? "?");
        const reason = `${reasons[fault]}${where.length > 0 ? `: ${where.join(", ")}` : ""}`;
        // The first example stands for those that are not shown, too.
        findings.wrongIs(texts.get(digest) ?? "a triple", reason, at === 0 ? count - examples.length + 1 : 1);
      }
    }
    return findings.check(comparison.triples);
  };
  return [check("disjoint", ["shared", "repeated"]), check("complete", ["missing", "foreign"])];
}

const longestExample = 300;

/** The lines of the examples, for which everything has to be read once more. */
async function exampleTexts(work: Work, { faults }: Comparison): Promise<ReadonlyMap<Digest, string>> {
  const wanted = new Set(Object.values(faults).flatMap(({ examples }) => examples.map(({ digest }) => digest)));
  const texts = new Map<Digest, string>();
  if (wanted.size === 0) return texts;
  await readStatements(
    [...namedInputs(work.inputs), ...shardInputs(work)],
    (statement) => {
      const digest = digestOf(statement);
      if (!wanted.has(digest) || texts.has(digest)) return;
      const { bytes, start, end } = statement;
      texts.set(digest, bytes.toString("utf8", start, Math.min(end - 1, start + longestExample)));
    },
    { phase: "verify", signal: work.signal },
  );
  return texts;
}
