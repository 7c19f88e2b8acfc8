import { hash } from "node:crypto";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Statement } from "../load/statement.ts";

/** Bytes of a digest: enough that no two triples share one by chance or on purpose (128 bits of sha256). */
const digestBytes = 16;
/** A digest and the number of the file that holds the triple. */
const recordBytes = digestBytes + 4;
const blockBytes = 1_024 * recordBytes;
/** A part has to fit into memory: about 80,000 records at 10 million triples and as many in shards. */
const parts = 256;

/** Statement lines of these digests are asked for. */
export type Digest = string;

/** The digest of a statement as a text of 16 characters. */
export const digestOf = ({ bytes, start, end }: Statement): Digest =>
  hash("sha256", bytes.subarray(start, end), "buffer").toString("latin1", 0, digestBytes);

interface Part {
  readonly path: string;
  readonly file: FileHandle;
  block: Buffer;
  used: number;
}

async function openParts(folder: string): Promise<Part[]> {
  const opened: Part[] = [];
  try {
    for (let at = 0; at < parts; at++) {
      const path = join(folder, `part-${at}`);
      opened.push({ path, file: await open(path, "wx"), block: Buffer.allocUnsafe(blockBytes), used: 0 });
    }
  } catch (error) {
    await Promise.allSettled(opened.map(({ file }) => file.close()));
    throw error;
  }
  return opened;
}

function* recordsOf(bytes: Buffer): Iterable<readonly [Digest, number]> {
  for (let at = 0; at + recordBytes <= bytes.length; at += recordBytes) {
    yield [bytes.toString("latin1", at, at + digestBytes), bytes.readUInt32LE(at + digestBytes)];
  }
}

/** Records on disk: which triple is in which file, parted by digest so that each part fits into memory. */
export class DigestSpool {
  readonly parts = parts;
  readonly #opened: readonly Part[];
  #ready: (readonly [FileHandle, Buffer])[] = [];

  private constructor(opened: readonly Part[]) {
    this.#opened = opened;
  }

  /** A spool in an empty folder; whoever made the folder removes it. */
  static async open(folder: string): Promise<DigestSpool> {
    return new DigestSpool(await openParts(folder));
  }

  add({ bytes, start, end }: Statement, file: number): void {
    const digest = hash("sha256", bytes.subarray(start, end), "buffer");
    const part = this.#opened[digest[digestBytes] ?? 0]!;
    digest.copy(part.block, part.used, 0, digestBytes);
    part.block.writeUInt32LE(file, part.used + digestBytes);
    part.used += recordBytes;
    if (part.used < blockBytes) return;
    this.#ready.push([part.file, part.block]);
    part.block = Buffer.allocUnsafe(blockBytes);
    part.used = 0;
  }

  /** Writes what is ready; to be awaited now and then. */
  async settle(): Promise<void> {
    for (const [file, block] of this.#ready.splice(0)) await file.appendFile(block);
  }

  /** Writes the rest; nothing can be added any more. */
  async finish(): Promise<void> {
    for (const { file, block, used } of this.#opened) this.#ready.push([file, block.subarray(0, used)]);
    await this.settle();
  }

  /** Gives each record of one part after the other, for as long as the visit says that it wants more. */
  async eachPart(visit: (records: Iterable<readonly [Digest, number]>) => boolean): Promise<void> {
    for (const { path } of this.#opened) if (!visit(recordsOf(await readFile(path)))) return;
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#opened.map(({ file }) => file.close()));
  }
}
