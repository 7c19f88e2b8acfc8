import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Learned } from "../load/learn.ts";
import { type PassOptions, readStatements } from "../load/read-statements.ts";
import type { Statement } from "../load/statement.ts";
import type { Precedence, Rule } from "../rule.ts";
import { rangesOf } from "./ranges.ts";
import { RecordWriter } from "./record-writer.ts";
import { Router } from "./router.ts";

/** Bytes of one part; a few hundredths of a second of sorting. */
const partBytes = 8 * 1024 * 1024;
const maxParts = 1024;
/** Of all parts together. */
const bufferBytes = 32 * 1024 * 1024;
const unknown = 0xffff;

/** What is parted, and by which rules. */
export interface SplitRequest {
  readonly learned: Learned;
  readonly rules: readonly Rule[];
  readonly precedence: Precedence;
  /** Bytes that a part should have. */
  readonly partBytes?: number | undefined;
}

/** The parts, in the order of the lines in them, and the keys of the shards by the numbers in them. */
export interface Split {
  readonly parts: readonly string[];
  readonly keys: readonly string[];
}

/** Reads the inputs and writes their statements, each with the number of its shard, to files by range of subjects. */
export async function splitInputs(folder: string, request: SplitRequest, options: PassOptions): Promise<Split> {
  const { learned, rules, precedence } = request;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const wanted = Math.ceil(learned.statementBytes / (request.partBytes ?? partBytes));
  const ranges = rangesOf(learned.sample, Math.min(maxParts, Math.max(1, wanted)));
  const parts = Array.from({ length: ranges.count }, (_, index) => String(index));
  const perPart = Math.min(256 * 1024, Math.max(16 * 1024, Math.floor(bufferBytes / parts.length)));
  const router = new Router(learned, rules, precedence);
  const rangeOf = new Uint16Array(learned.subjects.size).fill(unknown);
  const writer = new RecordWriter(
    parts.map((part) => join(folder, part)),
    perPart,
  );
  const visit = (statement: Statement): void => {
    const shard = router.shardOf(statement);
    const { subject } = router.cursor;
    let range = subject < 0 ? unknown : rangeOf[subject]!;
    if (range === unknown) {
      range = ranges.of(statement.bytes, statement.start, statement.subjectEnd);
      if (subject >= 0) rangeOf[subject] = range;
    }
    writer.write(range, shard, statement);
  };
  try {
    await readStatements(learned.inputs, visit, { ...options, phase: "split" });
    writer.finish();
  } finally {
    writer.close();
  }
  return { parts, keys: router.keys };
}
