import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { makeFolder } from "../../../src/make-folder.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { valueFor } from "../../../src/values.ts";
import { compareBytes, keysOfCells, placementOf } from "../rules/placement.ts";
import { type ShardNaming, shardIdsOf } from "../rules/shard-names.ts";
import type { Precedence, Rule, Interpretation } from "../rules/problem.ts";
import type { TermGroups } from "../rules/term-groups.ts";
import {
  type BuildState,
  readState,
  syncPaths,
  writeDurably,
  type WrittenShard,
  writeState,
  type BuildFolder,
  placeOf,
  publish,
  recoverTarget,
  removeFolder,
  asDiskFull,
  sealFile,
} from "./build-folder.ts";
import { gather, type Gathered, type GatherOptions, type GatherRequest } from "./gather.ts";
import { type Manifest, manifestName, type ManifestShard, manifestIn, type Source } from "./manifest.ts";
import { filesOf, type Sorting, openShardFiles, sortRanges } from "./sort-ranges.ts";

/** The shards to build, and their inputs. */
export interface MaterialiseRequest {
  readonly gather: GatherRequest;
  /** The result of `gather`; without it the inputs are gathered when that is needed. */
  readonly gathered?: Gathered | undefined;
  readonly rules: readonly Rule[];
  readonly reading: Interpretation;
  readonly precedence: Precedence;
  /** Of rules over groups. */
  readonly groups?: TermGroups | undefined;
  readonly source: Source;
  /** The folder of the result. It appears as a whole, at the end. */
  readonly target: string;
  readonly gzip: boolean;
  /** Default `readable`. */
  readonly naming?: ShardNaming | undefined;
  /** Topic of each shard, by its key. */
  readonly topics?: ReadonlyMap<string, string> | undefined;
  /** The properties of each shard, by its key. */
  readonly properties?: ReadonlyMap<string, ManifestShard["properties"]> | undefined;
  /** Replace finished shards of another build in the target at the end; otherwise they are an error. */
  readonly replace?: boolean;
  /** Texts of files to write beside the manifest, by name; they appear with it. */
  readonly beside?: ((shards: readonly ManifestShard[]) => Readonly<Record<string, string>>) | undefined;
}

export interface MaterialiseOptions extends GatherOptions {
  /** Monotonous milliseconds. */
  readonly now?: () => number;
  /** Time between two notes of how far the build is; a build that was killed goes on from the last. */
  readonly noteMs?: number;
  /** Bytes from which a range is parted further. */
  readonly maxPartBytes?: number;
}

/**
 * Writes each triple of the inputs once, to its shard, as canonical N-Triples (N-Quads when there are named graphs), the
 * lines in the order of their bytes (`LC_ALL=C sort -u` changes nothing). The bytes depend on the statements, the rules
 * and the zlib of this Node, not on the order of statements or files, nor on who read which part of them.
 *
 * All work is done in `<target>.building`, which is renamed at the end; a build that was killed there goes on when it is
 * started again with the same request. The caller sees to it that one build of a target runs at a time (`lockTarget`).
 * @throws FedwayError `DISK_FULL` (nothing is left), `DATASET_INVALID`, `REQUEST_INVALID` for a target that is taken;
 *   the signal's reason when that is aborted; the work is kept to be resumed (`discardBuild` removes it)
 */
export async function materialise(request: MaterialiseRequest, options: MaterialiseOptions = {}): Promise<Manifest> {
  const place = placeOf(request.target);
  const fingerprint = fingerprintOf(request);
  await recoverTarget(place);
  const done = await doneBefore(request, fingerprint);
  if (done !== undefined) return done;
  try {
    const begun = await beginOrGoOn(place, { request, fingerprint }, options);
    const shards = await sortRanges(place, sortingOf(begun), options);
    const sealed = await sealShards(request, shards, options);
    await syncPaths([place.shards, ...sealed.map(({ file }) => join(place.result, file))]);
    const manifest = manifestOf(request, fingerprint, sealed);
    const beside = { ...request.beside?.(sealed), [manifestName]: `${JSON.stringify(manifest, undefined, 2)}\n` };
    for (const [name, text] of Object.entries(beside)) await writeDurably(join(place.result, name), text);
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
export const discardBuild = (target: string): Promise<void> => removeFolder(placeOf(target).building);

const endingOf = ({ gather: { learned } }: MaterialiseRequest): ".nt" | ".nq" => (learned.hasGraphs ? ".nq" : ".nt");

/** Everything that the bytes of the result depend on. */
function fingerprintOf(request: MaterialiseRequest): string {
  const { learned } = request.gather;
  const { rules, reading, precedence, groups, source, gzip, naming, topics = new Map() } = request;
  const inputs = learned.inputs.map(({ name, format, sha256 }) => ({ name, format, sha256 }));
  const text = JSON.stringify({
    version: 3,
    inputs,
    rules,
    reading,
    precedence,
    groups,
    source,
    gzip,
    naming,
    topics: [...topics],
  });
  return createHash("sha256").update(text).digest("hex");
}

/** The target's manifest, if it is this very result; parts missing beside it are added. */
async function doneBefore(request: MaterialiseRequest, fingerprint: string): Promise<Manifest | undefined> {
  const { target } = placeOf(request.target);
  const found = await manifestIn(target);
  if (found === undefined) return undefined;
  if (found.fingerprint !== fingerprint) {
    if (request.replace === true) return undefined;
    throw new FedwayError("REQUEST_INVALID", `There are shards of another build in ${basename(target)}.`, {
      next: "Choose another output folder, or ask for the shards to be replaced.",
    });
  }
  // A damaged one is built again.
  const isWhole = await Promise.all(found.shards.map(({ file, bytes }) => hasSize(join(target, file), bytes, bytes)));
  if (!isWhole.every(Boolean)) return undefined;
  await discardBuild(request.target);
  const beside = Object.entries(request.beside?.(found.shards) ?? {});
  for (const [name, text] of beside) await writeDurably(join(target, name), text);
  return found;
}

const hasSize = (path: string, leastBytes: number, mostBytes = Number.POSITIVE_INFINITY): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile() && found.size >= leastBytes && found.size <= mostBytes,
    () => false,
  );

interface Begun {
  readonly request: MaterialiseRequest;
  readonly gathered: Gathered;
  /** For each cell the key of its shard. */
  readonly keys: readonly string[];
  readonly state: BuildState;
}

/** Goes on with the state that an earlier run left, if all that it speaks of is there, or begins to sort. */
async function beginOrGoOn(
  place: BuildFolder,
  { request, fingerprint }: { readonly request: MaterialiseRequest; readonly fingerprint: string },
  options: MaterialiseOptions,
): Promise<Begun> {
  const found = request.gathered ?? (await gather(request.target, request.gather, options));
  const own = `${fingerprint} ${found.fingerprint}`;
  const keys = keysFor(request, found);
  const state = await readState(place.building, own);
  if (state !== undefined) {
    const begun = { request, gathered: found, keys, state };
    if (await isAllThere(place, begun)) return begun;
  }
  let gathered = found;
  if (!found.isWhole) {
    // It is used up, in part, by a build with other rules.
    await discardBuild(request.target);
    gathered = await gather(request.target, request.gather, options);
  }
  await makeFolder(place.shards);
  // The cells are the same whenever they are gathered.
  const begun = { request, gathered, keys, state: { fingerprint: own, nextRange: 0, shards: shardsOf(request, keys) } };
  // All files are there before the first note says so.
  openShardFiles(place.shards, endingOf(request), begun.state.shards);
  await writeState(place.building, begun.state);
  return begun;
}

/** True if all files of a state exist. */
async function isAllThere(place: BuildFolder, { request, gathered, state }: Begun): Promise<boolean> {
  const isWhole = await Promise.all([
    ...sourcesFrom(place, gathered, state.nextRange).map((path) => hasSize(path, 0)),
    ...state.shards.map(async ({ id, bytes }) => {
      const path = join(place.shards, `${id}${endingOf(request)}`);
      return (await hasSize(path, bytes)) || (state.nextRange === gathered.ranges && (await hasSize(`${path}.gz`, 1)));
    }),
  ]);
  return isWhole.every(Boolean);
}

const sourcesFrom = (place: BuildFolder, gathered: Gathered, from: number): readonly string[] =>
  Array.from({ length: gathered.ranges - from }, (_, index) => filesOf(place, gathered, from + index)).flat();

/** @throws RangeError for rules with buckets that the cells do not tell apart */
function keysFor({ rules, precedence, groups, gather: { buckets } }: MaterialiseRequest, { cells }: Gathered) {
  for (const rule of rules) {
    if (rule.kind === "horizontal" && buckets % rule.buckets !== 0)
      throw new RangeError(`${rule.buckets} buckets do not divide ${buckets}`);
  }
  return keysOfCells(cells.cells, placementOf(rules, precedence, groups));
}

function sortingOf({ request, gathered, keys, state }: Begun): Sorting {
  const { statements, statementBytes } = request.gather.learned;
  return { gathered, keys, state, ending: endingOf(request), statements, statementBytes };
}

/** The shards of all cells, each once, in order. */
const shardsOf = (request: MaterialiseRequest, keysOfAll: readonly string[]): readonly WrittenShard[] => {
  const keys = [...new Set(keysOfAll)].toSorted(compareBytes);
  const ids = shardIdsOf(keys, request.naming);
  const shards = keys.map((key) => ({ key, id: valueFor(ids, key), bytes: 0, triples: 0 }));
  if (new Set(shards.map(({ id }) => id)).size < keys.length) throw new Error("two shards have the same id");
  return shards;
};

async function sealShards(
  request: MaterialiseRequest,
  shards: readonly WrittenShard[],
  { signal, onProgress }: MaterialiseOptions,
): Promise<readonly ManifestShard[]> {
  const place = placeOf(request.target);
  const sealed: ManifestShard[] = [];
  const totalBytes = shards.reduce((sum, { bytes }) => sum + bytes, 0);
  const progress = { phase: "compress" as const, triples: 0, bytes: 0, totalBytes };
  const onBytes = (bytes: number): void => {
    progress.bytes += bytes;
    onProgress?.({ ...progress });
  };
  const byKey = shards.toSorted((left, right) => compareBytes(left.key, right.key));
  for (const { key, id, bytes: lineBytes, triples } of byKey) {
    const topic = request.topics?.get(key);
    const properties = request.properties?.get(key);
    const name = `${id}${endingOf(request)}`;
    const file = await sealFile(join(place.shards, name), request.gzip, { signal, onBytes });
    progress.triples += triples;
    const path = `shards/${name}${request.gzip ? ".gz" : ""}`;
    sealed.push({ id, key, topic, properties, file: path, triples, ...file, lineBytes });
  }
  return sealed;
}

function manifestOf(request: MaterialiseRequest, fingerprint: string, shards: readonly ManifestShard[]): Manifest {
  const { rules, reading, precedence, groups, source, gzip } = request;
  const { learned } = request.gather;
  return {
    version: 1,
    fingerprint,
    ...source,
    rules,
    reading,
    precedence,
    groups,
    format: learned.hasGraphs ? "n-quads" : "n-triples",
    gzip,
    inputs: learned.inputs.map(({ name, format, bytes, sha256, badLines }) => {
      return { name, format, bytes, sha256, badLines: badLines?.count };
    }),
    statements: learned.statements,
    triples: shards.reduce((sum, { triples }) => sum + triples, 0),
    untypedSubjects: learned.untyped,
    shards,
  };
}
