import { hash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Catalog, CatalogProblem } from "./catalog.ts";
import { createTextReader, listCatalogFiles } from "./catalog-files.ts";
import { toProblem } from "./catalog-problem.ts";
import { type CatalogOptions, createCatalog, type UrlKey, urlKeys } from "./create-catalog.ts";
import { type Described, describeDocument } from "./describe-document.ts";
import { documentKey, keyOfDescribed, parseDocument } from "./parse-document.ts";
import { type CatalogFile, type CatalogFiles, resolveCatalog } from "./resolve-catalog.ts";
import { EntryProblem } from "./statements.ts";

/** Where the catalogue lies and what its relative URLs mean. */
export interface LoadCatalogOptions {
  /** Folders; their `*.ttl` files are read in name order, sub-folders are not. */
  readonly dirs: readonly { readonly path: string }[];
  /** Public URL of this service without a trailing slash; relative IRIs in the files are resolved against `{baseUrl}/`. */
  readonly baseUrl: string;
  /** Other origins under which the service itself is reached. */
  readonly ownOrigins?: readonly string[];
  /** See `CatalogOptions.search`. */
  readonly search?: CatalogOptions["search"];
}

/** Files that are read before timers and sockets have their turn. */
const filesPerTurn = 50;
/** Characters that all files together may have, as they stay in memory. */
const maxCharacters = 256_000_000;

/**
 * Reads catalogue files, one endpoint or federation a file; what is no entry becomes a problem.
 * @throws FedwayError `CATALOG_INVALID` when a folder cannot be read or there are too many files
 */
export async function readCatalogFiles(options: LoadCatalogOptions, keyOf: UrlKey): Promise<CatalogFiles> {
  const read = createTextReader();
  const files: CatalogFile[] = [];
  const problems: CatalogProblem[] = [];
  const texts = new Map<string, string>();
  let characters = 0;
  for (const [index, file] of (await listCatalogFiles(options.dirs)).entries()) {
    if (index % filesPerTurn === 0) await setImmediate();
    let text: string | undefined;
    try {
      text = read(file);
      characters += text.length;
      if (characters > maxCharacters) throw new EntryProblem("The catalogue's files are too large together.");
      texts.set(file, text);
      files.push(toCatalogFile(file, describeDocument(parseDocument(text, options.baseUrl)), { text, keyOf }));
    } catch (problem) {
      problems.push(toProblem(file, problem, text));
    }
  }
  return { files, problems, texts };
}

function toCatalogFile(file: string, described: Described, { text, keyOf }: FileReading): CatalogFile {
  const urlKey = keyOfDescribed(described, keyOf);
  return {
    key: documentKey(described.kind, described.id),
    file,
    text,
    described,
    hash: hash("sha256", text, "base64url"),
    ...(urlKey !== undefined && { urlKey }),
  };
}

interface FileReading {
  readonly text: string;
  readonly keyOf: UrlKey;
}

/**
 * Reads a catalogue that will not change. A file that cannot be used becomes a `CatalogProblem` and the others load; of
 * two files with the same identifier or URL the first in reading order is kept.
 * @throws FedwayError `CATALOG_INVALID` when a folder cannot be read or holds more than 20,000 files
 */
export async function loadCatalog(options: LoadCatalogOptions): Promise<Catalog> {
  const { baseUrl: publicUrl, ownOrigins, search } = options;
  const addresses = { publicUrl, ...(ownOrigins && { ownOrigins }) };
  const { entries, federations, problems } = resolveCatalog(await readCatalogFiles(options, urlKeys(addresses)), []);
  return createCatalog(entries, problems, { ...addresses, federations, ...(search && { search }) });
}
