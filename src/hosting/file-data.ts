import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { HostedSource } from "./store-thread.ts";

/** A file of N-Triples or N-Quads, `.gz` where compressed. */
interface DataFile {
  readonly path: string;
  /** Hexadecimal; the file is refused when it has another one. Absent: taken as it is. */
  readonly sha256?: string;
}

/**
 * Files that a store's thread reads by itself each time it starts, so that the main thread never holds their text.
 * @param bytes about as many bytes of text as there are in all of them
 */
export function fileSource(files: readonly DataFile[], bytes: number): HostedSource {
  return { kind: "module", url: import.meta.url, name: "fileData", argument: JSON.stringify(files), bytes };
}

/** The text of the files one after the other; `argument` is the JSON of a list of `DataFile`s. */
export function fileData(argument: string): string {
  const files: readonly DataFile[] = JSON.parse(argument);
  return files.map(textOf).join("\n");
}

function textOf({ path, sha256 }: DataFile): string {
  const bytes = readFileSync(path);
  if (sha256 !== undefined && createHash("sha256").update(bytes).digest("hex") !== sha256) {
    throw new Error("The file has changed since it was written.");
  }
  return (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
}
