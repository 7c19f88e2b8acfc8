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

/** Records on disk: which triple is in which file, parted by digest so that each part fits into memory. */
export interface DigestSpool {
  readonly parts: number;
  add(statement: Statement, file: number): void;
  /** Writes what is ready; to be awaited now and then. */
  settle(): Promise<void>;
  /** Writes the rest; nothing can be added any more. */
  finish(): Promise<void>;
  /** Gives each record of one part after the other, for as long as the visit says that it wants more. */
  eachPart(visit: (records: Iterable<readonly [Digest, number]>) => boolean): Promise<void>;
  close(): Promise<void>;
}

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

/** A spool in an empty folder; whoever made the folder removes it. */
export async function createDigestSpool(folder: string): Promise<DigestSpool> {
  const opened = await openParts(folder);
  let ready: (readonly [FileHandle, Buffer])[] = [];
  const settle = async (): Promise<void> => {
    const blocks = ready;
    ready = [];
    for (const [file, block] of blocks) await file.appendFile(block);
  };
  return {
    parts,
    add: ({ bytes, start, end }, number) => {
      const digest = hash("sha256", bytes.subarray(start, end), "buffer");
      const part = opened[digest[digestBytes] ?? 0]!;
      digest.copy(part.block, part.used, 0, digestBytes);
      part.block.writeUInt32LE(number, part.used + digestBytes);
      part.used += recordBytes;
      if (part.used < blockBytes) return;
      ready.push([part.file, part.block]);
      part.block = Buffer.allocUnsafe(blockBytes);
      part.used = 0;
    },
    settle,
    finish: async () => {
      for (const part of opened) ready.push([part.file, part.block.subarray(0, part.used)]);
      await settle();
    },
    eachPart: async (visit) => {
      for (const { path } of opened) if (!visit(recordsOf(await readFile(path)))) return;
    },
    close: async () => {
      await Promise.allSettled(opened.map(({ file }) => file.close()));
    },
  };
}
