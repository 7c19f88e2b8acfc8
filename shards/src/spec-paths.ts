import { realpath } from "node:fs/promises";
import { basename, isAbsolute, join, relative, resolve, sep } from "node:path";
import { FedwayError } from "../../src/errors/fedway-error.ts";
import { type FileFault, readBoundedFile } from "./bounded-file.ts";
import type { ShardSpec } from "./spec.ts";

/** A specification whose paths are absolute, without symbolic links, and inside the allowed folders. */
export type LocatedSpec = ShardSpec & { readonly output: string };

/** Where paths may be read. */
interface ReadablePlaces {
  /** Relative paths start here. */
  readonly baseDir: string;
  /** Folders that may be read, symbolic links followed. */
  readonly readable: readonly string[];
}

/** Where the paths of a specification may lead. */
interface SpecPlaces extends ReadablePlaces {
  /** Folder of the result when the specification names none. */
  readonly output: string;
  /** Folders below which a named result may lie. Empty: none may be named. */
  readonly writable: readonly string[];
}

const maxSpecBytes = 200_000;

/** The JSON of a description's file. @throws FedwayError `REQUEST_INVALID` */
export async function readSpecFile(path: string): Promise<unknown> {
  const bytes = await readBoundedFile(path, maxSpecBytes, (fault, cause) => unreadable(path, faults[fault], cause));
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw unreadable(path, "is not JSON", cause);
  }
}

const faults = {
  missing: "is not there",
  "not a file": "is no file",
  "too large": `is larger than ${maxSpecBytes} bytes`,
} as const satisfies Readonly<Record<FileFault, string>>;

const unreadable = (path: string, how: string, cause: unknown): FedwayError =>
  new FedwayError("REQUEST_INVALID", `The description of the shards, ${basename(path).slice(0, 200)}, ${how}.`, {
    cause,
    next: "The page /help/shard-specs lists the fields; shards/example has one.",
  });

/**
 * Finds the files of a specification.
 * @throws FedwayError `REQUEST_INVALID` for a path that leads out of the allowed folders, by `..` or a symbolic link, that
 *   is not there, or a result that would lie among the inputs
 */
export async function locateSpec(spec: ShardSpec, places: SpecPlaces): Promise<LocatedSpec> {
  const readable = await Promise.all(places.readable.map(real));
  const find = (path: string): Promise<string> => readablePath(path, { baseDir: places.baseDir, readable });
  const inputs = await Promise.all(spec.inputs.map(find));
  const queries = await find(spec.queries);
  const ontology = spec.ontology === undefined ? undefined : await find(spec.ontology);
  const output = await outputPath(spec, places);
  for (const file of [...inputs, queries]) {
    if (isInside(file, output)) throw refused("output", "has files of the source in it; they would be replaced");
  }
  return { ...spec, ontology, inputs, queries, output };
}

const real = async (path: string): Promise<string> => realpath(path).catch(() => resolve(path));

/**
 * The file or folder that a path names, links followed. Says the same of a path outside whether or not something is there.
 * @throws FedwayError `REQUEST_INVALID`
 */
export async function readablePath(path: string, { baseDir, readable }: ReadablePlaces): Promise<string> {
  const named = resolve(baseDir, path);
  const found = await realpath(named).catch(() => undefined);
  const base = await real(baseDir);
  if (found === undefined) {
    const place = resolve(base, path);
    const isMissing = readable.some((folder) => isInside(place, folder));
    throw refused(path, isMissing ? "is not there" : "leads out of the folders that may be read");
  }
  if (readable.some((folder) => isInside(found, folder))) return found;
  throw refused(path, "leads out of the folders that may be read");
}

async function outputPath(spec: ShardSpec, { baseDir, output, writable }: SpecPlaces): Promise<string> {
  if (spec.output === undefined) return realParent(resolve(output));
  if (writable.length === 0) throw refused("output", "cannot be chosen here: leave it out");
  const found = await realParent(resolve(baseDir, spec.output));
  for (const folder of writable) {
    const allowed = await real(folder);
    if (found !== allowed && isInside(found, allowed)) return found;
  }
  throw refused(spec.output, "leads out of the folders that may be written");
}

/** The path with the links of those of its folders that are there followed; itself it need not be there. */
async function realParent(path: string): Promise<string> {
  const found = await realpath(path).catch(() => undefined);
  if (found !== undefined) return found;
  const parent = resolve(path, "..");
  return parent === path ? path : join(await realParent(parent), path.slice(parent.length));
}

/** True if a path is a folder or something below it. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function refused(path: string, reason: string): FedwayError {
  const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  return new FedwayError("REQUEST_INVALID", `The description of the shards: ${JSON.stringify(shown)} ${reason}.`);
}
