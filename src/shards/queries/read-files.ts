import { open, readdir, stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { FedwayError } from "../../errors/fedway-error.ts";
import { compareText } from "../../rdf/canonical.ts";
import { entriesFromCsv } from "./parse-csv.ts";
import { entriesFromJson } from "./parse-json.ts";
import type { EntryFilter, QueryEntry } from "./query-entry.ts";

/** Bounds of reading. */
export interface ReadLimits {
  /** All files together. */
  readonly maxBytes: number;
  readonly maxQueries: number;
}

/**
 * The entries of a JSON or CSV file, or of a folder's `.rq` files in the order of their names: the id is the name
 * without its ending, the question what the comment lines at the beginning say.
 * @throws FedwayError `REQUEST_INVALID`, `REQUEST_TOO_LARGE`
 */
export async function readEntries(
  path: string,
  limits: ReadLimits,
  only?: EntryFilter,
): Promise<readonly QueryEntry[]> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new FedwayError("REQUEST_INVALID", `The queries "${basename(path)}" cannot be read.`, { cause });
  });
  if (found.isDirectory()) return readFolder(path, limits);
  if (!found.isFile()) throw new FedwayError("REQUEST_INVALID", `"${basename(path)}" is not a regular file.`);
  const read = fileReaders[extname(path).toLowerCase()];
  if (read === undefined) {
    throw new FedwayError("REQUEST_INVALID", `The queries "${basename(path)}" are neither JSON nor CSV.`, {
      next: "Give a .json or .csv file, or a folder of .rq files.",
    });
  }
  return read(await readText(path, limits.maxBytes), only);
}

const fileReaders: Readonly<Record<string, typeof entriesFromJson>> = {
  ".json": entriesFromJson,
  ".csv": entriesFromCsv,
};

async function readFolder(path: string, limits: ReadLimits): Promise<readonly QueryEntry[]> {
  const entries = await readdir(path, { withFileTypes: true });
  const queryFiles = entries
    .filter(({ name }) => extname(name) === ".rq")
    .toSorted((left, right) => compareText(left.name, right.name));
  if (queryFiles.length > limits.maxQueries) throw tooMany(limits.maxQueries);
  const found: QueryEntry[] = [];
  let left = limits.maxBytes;
  for (const entry of queryFiles) {
    const id = basename(entry.name, ".rq");
    if (!entry.isFile()) {
      // A symbolic link could lead anywhere.
      found.push({ place: entry.name, id, problem: "This is not a regular file." });
      continue;
    }
    const text = await readText(join(path, entry.name), left);
    left -= Buffer.byteLength(text);
    const question = leadingComment(text);
    found.push({ place: entry.name, id, text, ...(question !== "" && { question }) });
  }
  return found;
}

/** The error for more queries than allowed. */
export function tooMany(maxQueries: number): FedwayError {
  return new FedwayError("REQUEST_TOO_LARGE", `There are more than ${maxQueries} queries.`);
}

function leadingComment(text: string): string {
  const lines: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (!line.startsWith("#")) break;
    lines.push(line.replace(/^#+\+?/, "").trim());
  }
  return lines.join(" ").trim();
}

/** A file's text; never more than the allowed bytes are read, however the file grows meanwhile. */
async function readText(path: string, maxBytes: number): Promise<string> {
  const file = await open(path).catch((cause: unknown) => {
    throw new FedwayError("REQUEST_INVALID", `The file "${basename(path)}" cannot be read.`, { cause });
  });
  try {
    const { size } = await file.stat();
    if (size > maxBytes) throw tooLarge(maxBytes);
    const buffer = Buffer.alloc(size);
    let filled = 0;
    while (filled < size) {
      const { bytesRead } = await file.read(buffer, filled, size - filled, filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return decoded(buffer.subarray(0, filled), basename(path));
  } finally {
    await file.close();
  }
}

const tooLarge = (maxBytes: number): FedwayError =>
  new FedwayError("REQUEST_TOO_LARGE", `The queries are larger than ${maxBytes} bytes.`);

function decoded(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new FedwayError("REQUEST_INVALID", `The file "${name}" is not UTF-8 text.`, { cause });
  }
}
