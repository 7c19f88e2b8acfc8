import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Catalog, CatalogEntry, CatalogProblem } from "./catalog.ts";
import { type CatalogOptions, createCatalog, urlKeys } from "./create-catalog.ts";
import { describeEntry, EntryProblem } from "./describe-entry.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { parseTurtle } from "../rdf/turtle.ts";

/** Where the catalogue lies and what its relative URLs mean. */
export interface LoadCatalogOptions {
  /** Folders; their `*.ttl` files are read in name order, sub-folders are not. */
  readonly dirs: readonly { readonly path: string }[];
  /** Public URL of this service without a trailing slash; relative IRIs in the files are resolved against `{baseUrl}/`. */
  readonly baseUrl: string;
  /** Other origins under which the service itself is reached. */
  readonly ownOrigins?: readonly string[];
}

const maxFileBytes = 1_000_000;
const maxFiles = 20_000;
const maxQuads = 10_000;

/**
 * Reads a catalogue of Turtle files, one endpoint a file. A file that cannot be used becomes a `CatalogProblem` and
 * the others load; of two files with the same identifier or URL the first in reading order is kept.
 * @throws FedwayError `CATALOG_INVALID` when a folder cannot be read or holds more than 20,000 files
 */
export async function loadCatalog(options: LoadCatalogOptions): Promise<Catalog> {
  const reading = startReading({ publicUrl: options.baseUrl, ...ownOriginsOf(options) });
  // One buffer for all files: a catalogue of 20,000 small files would otherwise allocate 20 GB in passing.
  const buffer = Buffer.alloc(maxFileBytes + 1);
  for (const file of await filesOf(options.dirs)) {
    try {
      const text = await readText(file, buffer);
      reading.add(file, text, options.baseUrl);
    } catch (problem) {
      reading.refuse(file, problem);
    }
  }
  return reading.finish();
}

const ownOriginsOf = ({ ownOrigins }: LoadCatalogOptions): Pick<CatalogOptions, "ownOrigins"> =>
  ownOrigins === undefined ? {} : { ownOrigins };

async function filesOf(dirs: LoadCatalogOptions["dirs"]): Promise<readonly string[]> {
  const files: string[] = [];
  for (const { path } of dirs) {
    const names = await readdir(path).catch((cause: unknown) => {
      throw new FedwayError("CATALOG_INVALID", `The catalogue folder ${path} cannot be read.`, { cause });
    });
    const turtle = names.filter((name) => name.endsWith(".ttl")).toSorted();
    files.push(...turtle.map((name) => join(path, name)));
  }
  if (files.length > maxFiles) {
    throw new FedwayError("CATALOG_INVALID", `The catalogue has ${files.length} files; at most ${maxFiles} are read.`);
  }
  return files;
}

/** The text of one file, never more than the cap even when the file grows while it is read. */
async function readText(path: string, bytes: Buffer): Promise<string> {
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    if (!(await file.stat()).isFile()) throw new EntryProblem("This is not a file.");
    let size = 0;
    for (;;) {
      const { bytesRead } = await file.read(bytes, size, bytes.length - size);
      size += bytesRead;
      if (bytesRead === 0 || size === bytes.length) break;
    }
    if (size > maxFileBytes) throw new EntryProblem("The file is larger than 1 MB.");
    return decode(bytes.subarray(0, size));
  } finally {
    await file?.close();
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new EntryProblem("The file is not UTF-8 text.");
  }
}

/** Collects entries and problems file by file. */
function startReading(options: CatalogOptions) {
  const keyOf = urlKeys(options);
  const entries: CatalogEntry[] = [];
  const problems: CatalogProblem[] = [];
  const fileOfId = new Map<string, string>();
  const fileOfUrl = new Map<string, string>();
  return {
    add(file: string, text: string, baseUrl: string): void {
      try {
        const entry = describeEntry(parseTurtle(text, { baseIri: `${baseUrl}/`, maxBytes: maxFileBytes, maxQuads }));
        const key = keyOf(entry.url) ?? entry.url;
        refuseTaken(fileOfId.get(entry.id), `dcterms:identifier "${entry.id}"`, `"${entry.id}"`);
        refuseTaken(fileOfUrl.get(key), `dcat:endpointURL <${entry.url}>`, entry.url);
        fileOfId.set(entry.id, file);
        fileOfUrl.set(key, file);
        entries.push(entry);
      } catch (problem) {
        problems.push(toProblem(file, problem, text));
      }
    },
    refuse(file: string, problem: unknown): void {
      problems.push(toProblem(file, problem, ""));
    },
    finish: (): Catalog => createCatalog(entries, problems, options),
  };
}

function refuseTaken(file: string | undefined, what: string, about: string): void {
  if (file !== undefined) throw new EntryProblem(`${what} is already taken by ${file}.`, about);
}

function toProblem(file: string, problem: unknown, text: string): CatalogProblem {
  const line = lineOf(problem, text);
  return Object.freeze({ file, reason: reasonOf(problem), ...(line !== undefined && { line }) });
}

function reasonOf(problem: unknown): string {
  if (problem instanceof EntryProblem || problem instanceof FedwayError) return problem.message;
  const code = problem instanceof Error && "code" in problem ? ` (${String(problem.code)})` : "";
  return `The file cannot be read${code}.`;
}

/** Turtle syntax errors know their line; for the others, the last line that has the text they are about. */
function lineOf(problem: unknown, text: string): number | undefined {
  if (problem instanceof FedwayError) return problem.details.where?.line;
  if (!(problem instanceof EntryProblem) || problem.about === undefined) return undefined;
  const at = text.lastIndexOf(problem.about);
  return at === -1 ? undefined : text.slice(0, at).split("\n").length;
}
