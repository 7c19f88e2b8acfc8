import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { FedwayError } from "../../errors/fedway-error.ts";
import { EntryProblem } from "./statements.ts";

/** Bytes of one catalogue document, as a file or stored. */
export const maxDocumentBytes = 1_000_000;
const maxFiles = 20_000;

/**
 * The `*.ttl` files of the folders, in folder and name order; sub-folders are not looked into.
 * @throws FedwayError `CATALOG_INVALID` when a folder cannot be read or there are more than 20,000 files
 */
export async function listCatalogFiles(dirs: readonly { readonly path: string }[]): Promise<readonly string[]> {
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

/**
 * Reads one text after the other through one buffer: a catalogue of 20,000 small files would otherwise allocate 20 GB in
 * passing. Never takes in more than the cap, even when a file grows while it is read. Synchronous, because thousands of
 * small files take a tenth of the time that way; who reads many lets others have their turn in between.
 */
export function createTextReader(): (path: string) => string {
  const bytes = Buffer.alloc(maxDocumentBytes + 1);
  return (path) => {
    // Opening a named pipe would wait for somebody to write into it.
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!fstatSync(file).isFile()) throw new EntryProblem("This is not a file.");
      let size = 0;
      for (let read = -1; read !== 0 && size < bytes.length; size += read) {
        read = readSync(file, bytes, size, bytes.length - size, null);
      }
      if (size > maxDocumentBytes) throw new EntryProblem("The file is larger than 1 MB.");
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
