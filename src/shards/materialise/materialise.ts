import { createHash } from "node:crypto";
import { mkdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { FedwayError } from "../../errors/fedway-error.ts";
import { compareText } from "../../rdf/canonical.ts";
import type { Learned } from "../load/learn.ts";
import type { PassOptions } from "../load/read-statements.ts";
import { shardIdOf } from "../placement.ts";
import type { Precedence, Reading, Rule } from "../rule.ts";
import { type BuildState, readState, syncPaths, writeDurably, type WrittenShard, writeState } from "./build-state.ts";
import { asDiskFull, freeBytesAt, needRoom } from "./disk-space.ts";
import { type Manifest, manifestName, type ManifestShard, readManifest, type Source } from "./manifest.ts";
import { type Place, placeOf, publish, recoverTarget } from "./publish.ts";
import { sealFile } from "./seal.ts";
import { ShardFiles } from "./shard-files.ts";
import { PartSorter } from "./sort-part.ts";
import { splitInputs } from "./split.ts";

/** What is built, and from what. */
export interface MaterialiseRequest {
  readonly learned: Learned;
  readonly rules: readonly Rule[];
  readonly reading: Reading;
  readonly precedence: Precedence;
  readonly source: Source;
  /** The folder of the result. It comes to be, as a whole, at the end. */
  readonly target: string;
  readonly gzip: boolean;
  /** Finished shards of another build in the target give way to these at the end; otherwise they are an error. */
  readonly replace?: boolean;
}

export interface MaterialiseOptions extends PassOptions {
  /** Free bytes at a folder; asks the file system by default. */
  readonly freeBytes?: (folder: string) => Promise<number>;
  /** Monotonous milliseconds. */
  readonly now?: () => number;
  /** Time between two notes of how far the build is; a build that was killed goes on from the last. */
  readonly noteMs?: number;
  /** Bytes of a part, which is sorted at once, and bytes from which a part is parted further. */
  readonly partBytes?: number;
  readonly maxPartBytes?: number;
}

const maxPartBytes = 64 * 1024 * 1024;
const spareBytes = 16 * 1024 * 1024;

/**
 * Writes each triple of the inputs once, to its shard, as canonical N-Triples (N-Quads when there are named graphs), the
 * lines in the order of their bytes (`LC_ALL=C sort -u` changes nothing). The bytes depend on the statements, the rules
 * and the zlib of this Node, not on the order of statements or files.
 *
 * All work is done in `<target>.building`, which is renamed at the end; a build that was killed there goes on when it is
 * started again with the same request. The caller sees to it that one build of a target runs at a time (`lockTarget`).
 * @throws FedwayError `DISK_FULL` (nothing is left), `DATASET_INVALID`, `REQUEST_INVALID` for a target that is taken;
 *   the signal's reason when that is aborted, with what was done left to go on with (or for `discardBuild`)
 */
export async function materialise(request: MaterialiseRequest, options: MaterialiseOptions = {}): Promise<Manifest> {
  const place = placeOf(request.target);
  const fingerprint = fingerprintOf(request);
  await recoverTarget(place);
  if (await isDone(place, request, fingerprint)) {
    await discardBuild(request.target);
    return readManifest(place.target);
  }
  try {
    const state = (await goOn(place, request, fingerprint)) ?? (await begin(place, { request, fingerprint }, options));
    const shards = await sortParts(place, { request, state }, options);
    const sealed = await sealShards(place, { request, shards }, options);
    await syncPaths([place.shards, ...sealed.map(({ file }) => join(place.result, file))]);
    const manifest = manifestOf(request, fingerprint, sealed);
    await writeDurably(join(place.result, manifestName), `${JSON.stringify(manifest, undefined, 2)}\n`);
    options.signal?.throwIfAborted();
    await publish(place);
    return manifest;
  } catch (error) {
    const full = asDiskFull(error);
    if (full instanceof FedwayError && full.code === "DISK_FULL") await discardBuild(request.target);
    throw full;
  }
}

/** Removes what an unfinished build left; the target itself is not touched. */
export const discardBuild = (target: string): Promise<void> =>
  rm(placeOf(target).building, { recursive: true, force: true });

const endingOf = ({ learned }: MaterialiseRequest): string => (learned.hasGraphs ? ".nq" : ".nt");

/** Everything that the bytes of the result depend on. */
function fingerprintOf(request: MaterialiseRequest): string {
  const { learned, rules, reading, precedence, source, gzip } = request;
  const inputs = learned.inputs.map(({ name, format, baseIri, sha256 }) => ({ name, format, baseIri, sha256 }));
  const text = JSON.stringify({ version: 1, inputs, rules, reading, precedence, source, gzip });
  return createHash("sha256").update(text).digest("hex");
}

/** Whether the target has just this result already; a damaged one is built again. */
async function isDone(
  { target }: Place,
  { replace = false }: MaterialiseRequest,
  fingerprint: string,
): Promise<boolean> {
  const isFree = await stat(target).then(
    () => false,
    () => true,
  );
  if (isFree) return false;
  const name = basename(target);
  const found = await readManifest(target).catch((cause: unknown) => {
    throw new FedwayError("REQUEST_INVALID", `There is something else than finished shards in ${name}.`, {
      next: "Choose another output folder.",
      cause,
    });
  });
  if (found.fingerprint === fingerprint) {
    const isWhole = await Promise.all(found.shards.map(({ file, bytes }) => hasSize(join(target, file), bytes, bytes)));
    return isWhole.every(Boolean);
  }
  if (replace) return false;
  throw new FedwayError("REQUEST_INVALID", `There are shards of another build in ${name}.`, {
    next: "Choose another output folder, or ask for the shards to be replaced.",
  });
}

/** The state that an earlier run left, if all that it speaks of is there. */
async function goOn(place: Place, request: MaterialiseRequest, fingerprint: string): Promise<BuildState | undefined> {
  const state = await readState(place.building, fingerprint);
  if (state === undefined) return undefined;
  const isWhole = await Promise.all([
    ...state.parts.map((part) => hasSize(join(place.parts, part), 0)),
    ...state.shards.map(async ({ key, bytes }) => {
      const path = join(place.shards, `${shardIdOf(key)}${endingOf(request)}`);
      return (await hasSize(path, bytes)) || (state.parts.length === 0 && (await hasSize(`${path}.gz`, 1)));
    }),
  ]);
  return isWhole.every(Boolean) ? state : undefined;
}

const hasSize = (path: string, leastBytes: number, mostBytes = Number.POSITIVE_INFINITY): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile() && found.size >= leastBytes && found.size <= mostBytes,
    () => false,
  );

interface Beginning {
  readonly request: MaterialiseRequest;
  readonly fingerprint: string;
}

async function begin(
  place: Place,
  { request, fingerprint }: Beginning,
  options: MaterialiseOptions,
): Promise<BuildState> {
  const { learned } = request;
  await rm(place.building, { recursive: true, force: true });
  await mkdir(place.shards, { recursive: true });
  // The parts go as the shards come, but for some that are not yet removed.
  const needed = learned.statementBytes * 1.25 + learned.statements * 8 + spareBytes;
  needRoom(needed, await (options.freeBytes ?? freeBytesAt)(dirname(place.target)));
  const split = await splitInputs(place.parts, { ...request, partBytes: options.partBytes }, options);
  const shards = split.keys.map((key) => ({ key, bytes: 0, triples: 0 }));
  const ids = new Set(split.keys.map(shardIdOf));
  if (ids.size < shards.length) throw new Error("two shards have the same id");
  // All files are there before the first note says so.
  new ShardFiles(place.shards, endingOf(request), shards).close();
  const state: BuildState = { fingerprint, parts: split.parts, shards };
  await writeState(place.building, state);
  return state;
}

interface Sorting {
  readonly request: MaterialiseRequest;
  readonly state: BuildState;
}

async function sortParts(
  place: Place,
  { request, state }: Sorting,
  options: MaterialiseOptions,
): Promise<readonly WrittenShard[]> {
  if (state.parts.length === 0) return state.shards;
  const { now = () => performance.now(), noteMs = 2_000, onProgress, signal } = options;
  const files = new ShardFiles(place.shards, endingOf(request), state.shards);
  const { statementBytes: totalBytes, statements } = request.learned;
  // What an earlier run has done counts, but for repetitions.
  const before = state.shards.reduce((sum, { triples }) => sum + triples, 0);
  const progress = { phase: "sort" as const, triples: before, bytes: 0, totalBytes };
  const sorter = new PartSorter(files, options.maxPartBytes ?? maxPartBytes);
  let notedMs = now();
  const done: string[] = [];
  try {
    for (const [index, part] of state.parts.entries()) {
      signal?.throwIfAborted();
      progress.triples += await sorter.sortPart(join(place.parts, part));
      progress.bytes = Math.round((totalBytes * progress.triples) / statements);
      done.push(part);
      if (now() - notedMs >= noteMs || index === state.parts.length - 1) {
        await writeState(place.building, { ...state, parts: state.parts.slice(index + 1), shards: files.written });
        for (const each of done.splice(0)) await rm(join(place.parts, each), { force: true });
        notedMs = now();
      }
      onProgress?.({ ...progress });
    }
    return files.written;
  } finally {
    files.close();
  }
}

interface Sealing {
  readonly request: MaterialiseRequest;
  readonly shards: readonly WrittenShard[];
}

async function sealShards(
  place: Place,
  { request, shards }: Sealing,
  { signal, onProgress }: MaterialiseOptions,
): Promise<readonly ManifestShard[]> {
  const sealed: ManifestShard[] = [];
  const totalBytes = shards.reduce((sum, { bytes }) => sum + bytes, 0);
  const progress = { phase: "compress" as const, triples: 0, bytes: 0, totalBytes };
  const onBytes = (bytes: number): void => {
    progress.bytes += bytes;
    onProgress?.({ ...progress });
  };
  for (const { key, bytes: lineBytes, triples } of shards.toSorted((left, right) => compareText(left.key, right.key))) {
    const id = shardIdOf(key);
    const name = `${id}${endingOf(request)}`;
    const file = await sealFile(join(place.shards, name), { gzip: request.gzip, signal, onBytes });
    progress.triples += triples;
    sealed.push({ id, key, file: `shards/${name}${request.gzip ? ".gz" : ""}`, triples, ...file, lineBytes });
  }
  return sealed;
}

function manifestOf(request: MaterialiseRequest, fingerprint: string, shards: readonly ManifestShard[]): Manifest {
  const { learned, rules, reading, precedence, source, gzip } = request;
  return {
    version: 1,
    fingerprint,
    ...source,
    rules,
    reading,
    precedence,
    format: learned.hasGraphs ? "n-quads" : "n-triples",
    gzip,
    inputs: learned.inputs.map(({ name, format, bytes, sha256 }) => ({ name, format, bytes, sha256 })),
    statements: learned.statements,
    triples: shards.reduce((sum, { triples }) => sum + triples, 0),
    untypedSubjects: { count: learned.untyped.subjects, isAtLeast: learned.untyped.isAtLeast },
    shards,
  };
}
