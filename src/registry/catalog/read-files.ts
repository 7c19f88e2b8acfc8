import { hash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { publishedFacts, type PublishedFacts, withShapes } from "./published/published-facts.ts";
import { parsedJson } from "../../values.ts";
import type { Catalog, CatalogDocument, CatalogProblem } from "./catalog.ts";
import { documentBounds, documentKey, keyOfItem, parseDocument, toProblem } from "./document.ts";
import { createCatalog, type UrlKey, urlKeys } from "./index-catalog.ts";
import { isTombstone } from "./overlays.ts";
import { readItem } from "./parse-entry.ts";
import { type CatalogFile, type CatalogFiles, resolveCatalog } from "./resolve-catalog.ts";
import { EntryProblem } from "./statements.ts";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { FedwayError } from "../../errors/fedway-error.ts";
import { parseFactsFile } from "./published/facts-file.ts";
import { parseShapesFile, publishedShapes } from "./published/shapes-file.ts";

/** A folder of Turtle files. */
interface CatalogFolder {
  readonly path: string;
  /** The operator wrote its files; they did not come with Fedway. Default false. */
  readonly isOperators?: boolean;
}

/** Where the catalogue lies and what its relative URLs mean. */
export interface LoadCatalogOptions {
  /** Folders; their `*.ttl` files are read in name order, sub-folders are not. */
  readonly dirs: readonly CatalogFolder[];
  /** Public URL of this service without a trailing slash; relative IRIs in the files are resolved against `{baseUrl}/`. */
  readonly baseUrl: string;
  /** Other origins under which the service itself is reached. */
  readonly ownOrigins?: readonly string[] | undefined;
  /** Folders of published facts; of two files for one URL the first is kept. */
  readonly published?: readonly string[] | undefined;
  /** Ends the reading. */
  readonly signal?: AbortSignal;
}

/** Files that are read before timers and sockets have their turn. */
const filesPerTurn = 50;
/** Characters that all files together may have, as they stay in memory. */
const maxCharacters = 256_000_000;

/**
 * Reads catalogue files, one endpoint or federation a file; other documents become problems.
 * @throws FedwayError `CATALOG_INVALID` when a folder cannot be read or there are too many files
 */
export async function readCatalogFiles(
  options: LoadCatalogOptions,
  keyOf: UrlKey,
): Promise<CatalogFiles & { readonly published: readonly PublishedFacts[] }> {
  const read = createTextReader();
  const files: CatalogFile[] = [];
  const problems: CatalogProblem[] = [];
  const texts = new Map<string, string>();
  let characters = 0;
  for (const [index, { file, isOperators }] of (await listCatalogFiles(options.dirs)).entries()) {
    if (index % filesPerTurn === 0) await setImmediate(undefined, { signal: options.signal });
    let text: string | undefined;
    try {
      text = read(file);
      characters += text.length;
      if (characters > maxCharacters) throw new EntryProblem("The catalogue's files are too large together.");
      texts.set(file, text);
      const item = readItem(parseDocument(text, options.baseUrl));
      const key = documentKey(item.kind, item.id);
      const textHash = hash("sha256", text, "base64url");
      files.push({ key, file, isOperators, text, item, hash: textHash, urlKey: keyOfItem(item, keyOf) });
    } catch (problem) {
      problems.push(toProblem(file, problem, text));
    }
  }
  const published = await readPublished(options.published ?? []);
  return { files, problems: [...problems, ...published.problems], texts, published: published.facts };
}

/**
 * Reads a catalogue that will not change. A file that cannot be used becomes a `CatalogProblem` and the others load; of
 * two files with the same identifier or URL the first in reading order is kept.
 * @throws FedwayError `CATALOG_INVALID` when a folder cannot be read or holds more than 20,000 files
 */
export async function loadCatalog(options: LoadCatalogOptions): Promise<Catalog> {
  const addresses = { publicUrl: options.baseUrl, ownOrigins: options.ownOrigins };
  const { published, ...files } = await readCatalogFiles(options, urlKeys(addresses));
  const { entries, federations, problems } = await resolveCatalog(files, []);
  return createCatalog(entries, problems, { ...addresses, federations, published });
}

/** Stored changes whose keys begin with a prefix: keys and texts. */
type ReadChanges = (prefix: string) => Iterable<readonly [key: string, text: string]>;

/** Sorted ids of a catalogue: those of its files, with stored changes over them. @throws FedwayError as `loadCatalog` */
export async function listIds(options: LoadCatalogOptions, changes: ReadChanges = () => []) {
  const { entries, federations } = await loadCatalog({ ...options, published: [] });
  const listed = (kind: CatalogDocument["kind"], inFiles: readonly { readonly id: string }[]): readonly string[] => {
    const ids = new Set(inFiles.map(({ id }) => id));
    const prefix = `catalog/${kind}/`;
    for (const [key, text] of changes(prefix)) {
      ids[isTombstone(parsedJson(text)) ? "delete" : "add"](key.slice(prefix.length));
    }
    return [...ids].toSorted();
  };
  return { endpoints: listed("endpoint", entries), federations: listed("federation", federations) };
}

const maxFiles = 20_000;

/**
 * The `*.ttl` files of the folders, in folder and name order; sub-folders are not looked into.
 * @throws FedwayError `CATALOG_INVALID` when a folder cannot be read or there are more than 20,000 files
 */
async function listCatalogFiles(dirs: readonly CatalogFolder[]) {
  const files: { readonly file: string; readonly isOperators: boolean }[] = [];
  for (const { path, isOperators = false } of dirs) {
    const names = await readdir(path).catch((cause: unknown) => {
      throw new FedwayError("CATALOG_INVALID", `The catalogue folder ${path} cannot be read.`, { cause });
    });
    const turtle = names.filter((name) => name.endsWith(".ttl")).toSorted();
    files.push(...turtle.map((name) => ({ file: join(path, name), isOperators })));
  }
  if (files.length > maxFiles) {
    throw new FedwayError("CATALOG_INVALID", `The catalogue has ${files.length} files; at most ${maxFiles} are read.`);
  }
  return files;
}

/**
 * Reads one text after the other through one buffer: a catalogue of 20,000 small files would otherwise allocate 20 GB in
 * passing. Never takes in more than the cap, even when a file grows while it is read. Synchronous, because thousands of
 * small files take a tenth of the time that way; who reads many lets others have their turn in between.
 */
function createTextReader(): (path: string) => string {
  const bytes = Buffer.alloc(documentBounds.maxBytes + 1);
  return (path) => {
    // Opening a named pipe would wait for somebody to write into it.
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!fstatSync(file).isFile()) throw new EntryProblem("This is not a file.");
      let size = 0;
      for (let read = -1; read !== 0 && size < bytes.length; size += read) {
        read = readSync(file, bytes, size, bytes.length - size, null);
      }
      if (size > documentBounds.maxBytes) throw new EntryProblem("The file is larger than 1 MB.");
      return decode(bytes.subarray(0, size));
    } finally {
      closeSync(file);
    }
  };
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new EntryProblem("The file is not UTF-8 text.");
  }
}

const maxPublishedFiles = 5_000;
const maxPublishedTerms = 200_000;
/** 12 MB in memory. */
const maxPublishedShapes = 20_000;

/** Published facts, and the files that could not be used. */
interface PublishedFiles {
  readonly facts: readonly PublishedFacts[];
  readonly problems: readonly CatalogProblem[];
}

/**
 * Reads the `*.json` files of folders, and those of their folder `shapes`, in name order, one endpoint a file; of two for the same
 * URL the first is kept. A folder that is not there has none.
 */
export async function readPublished(folders: readonly string[]): Promise<PublishedFiles> {
  const problems: CatalogProblem[] = [];
  const facts = await readFactsIn(folders, problems, {
    read: (text) => publishedFacts(parseFactsFile(text)),
    sizeOf: ({ terms }) => terms.size,
    most: maxPublishedTerms,
    what: "classes and properties",
  });
  const shapeFolders = folders.map((folder) => join(folder, "shapes"));
  const shapes = await readFactsIn(shapeFolders, problems, {
    read(text) {
      const { url, asOf, sources, like = [], ...file } = parseShapesFile(text);
      const own = publishedShapes(file);
      return { url, like, own, alone: publishedFacts({ format: 1, url, asOf, sources }) };
    },
    sizeOf: ({ own }) => own.length,
    most: maxPublishedShapes,
    what: "shapes",
  });
  for (const [url, { like, own, alone }] of shapes) {
    const ofLike = like.flatMap((other) => shapes.get(other)?.own ?? []);
    facts.set(url, withShapes(facts.get(url) ?? alone, own, ofLike));
  }
  return { facts: [...facts.values()], problems };
}

/** How one kind of published files is read. */
interface PublishedKind<Read> {
  readonly read: (text: string) => Read;
  readonly sizeOf: (read: Read) => number;
  /** Size of all together; further files are problems. */
  readonly most: number;
  readonly what: string;
}

/** By URL. */
async function readFactsIn<Read extends { readonly url: string }>(
  folders: readonly string[],
  problems: CatalogProblem[],
  { read, sizeOf, most, what }: PublishedKind<Read>,
): Promise<Map<string, Read>> {
  const found = new Map<string, Read>();
  const textOf = createTextReader();
  let size = 0;
  for (const folder of new Set(folders)) {
    const names = (await readdir(folder).catch(() => [])).filter((each) => each.endsWith(".json"));
    for (const [index, name] of names.toSorted().slice(0, maxPublishedFiles).entries()) {
      if (index % filesPerTurn === 0) await setImmediate();
      const file = join(folder, name);
      try {
        const facts = read(textOf(file));
        size += sizeOf(facts);
        if (size > most) throw new RangeError(`The files have more than ${most} ${what}.`);
        if (!found.has(facts.url)) found.set(facts.url, facts);
      } catch (error) {
        problems.push({ file, reason: error instanceof Error ? error.message : String(error) });
      }
    }
  }
  return found;
}
