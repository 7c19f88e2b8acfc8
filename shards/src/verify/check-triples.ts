import { hash } from "node:crypto";
import { join } from "node:path";
import { setImmediate as otherWork } from "node:timers/promises";
import { itemAt } from "../../../src/values.ts";
import type { NamedInput } from "../load/input.ts";
import { readStatements } from "../load/read-statements.ts";
import type { Statement } from "../load/statement.ts";
import { readRecords, RecordWriter } from "../materialise/records.ts";
import { timeOver, type Check, Findings, notLookedAt } from "./verification.ts";

/** Shards and inputs that were read to their end before, and how their triples are checked. */
interface TripleSides {
  /** An empty folder for their lines. */
  readonly parts: string;
  readonly shards: readonly NamedInput[];
  /** Why not all inputs are known, as a sentence, or all of them. */
  readonly inputs: string | readonly NamedInput[];
}

/** Limits and progress. */
interface TripleCheckOptions {
  readonly signal: AbortSignal;
  /** Aborts when there is no time left: triples not compared by then are unknown. */
  readonly timeUp: AbortSignal;
  readonly onPart: (done: number, total: number) => void;
}

const reasons = {
  missing: "in the input, but in no shard",
  foreign: "in a shard, but not in the input",
  shared: "in several shards",
  repeated: "more than once in its shard",
} as const;
type Fault = keyof typeof reasons;

/** Faults visible in a shard alone, and those that only a look at the inputs shows. */
const faultsOf = { disjoint: ["shared", "repeated"], complete: ["missing", "foreign"] } as const;

/** The checks of shards whose triples are right. @param lackOfInputs why not all inputs are known */
export const heldTriples = (triples: number, lackOfInputs: string | undefined): readonly Check[] => [
  new Findings("disjoint").check(triples),
  lackOfInputs === undefined ? new Findings("complete").check(triples) : notLookedAt("complete", lackOfInputs),
];

/** A part has to fit into memory: about 20 MB at 10 million triples and as many in shards. */
const partCount = 256;
const partBufferBytes = 64 * 1024;

/** Which triples are in two shards, or not in both the inputs and the shards: reads all of them once more. */
export async function checkTriples(sides: TripleSides, options: TripleCheckOptions): Promise<readonly Check[]> {
  const paths = Array.from({ length: partCount }, (_, part) => join(sides.parts, String(part)));
  try {
    await writeParts(paths, sides, options);
  } catch (error) {
    options.signal.throwIfAborted();
    if (!options.timeUp.aborted || error !== options.timeUp.reason) throw error;
    return [notLookedAt("disjoint", timeOver), notLookedAt("complete", timeOver)];
  }
  return compareParts(paths, sides, options);
}

/** Parts the lines of both sides by hash, each with the number of its shard from 1, or 0 for those of inputs. */
async function writeParts(
  paths: readonly string[],
  { shards, inputs }: TripleSides,
  { signal, timeUp }: TripleCheckOptions,
): Promise<void> {
  const known = typeof inputs === "string" ? [] : inputs.map((input) => ({ input, number: 0 }));
  const writer = new RecordWriter(paths, partBufferBytes);
  try {
    for (const { input, number } of [...known, ...shards.map((each, at) => ({ input: each, number: at + 1 }))]) {
      const visit = (statement: Statement): void => writer.write(partOf(statement), number, statement);
      await readStatements([input], visit, { phase: "verify", signal: AbortSignal.any([signal, timeUp]) });
    }
    writer.finish();
  } finally {
    writer.close();
  }
}

const partOf = ({ bytes, start, end }: Statement): number =>
  hash("sha256", bytes.subarray(start, end), "buffer")[0]! % partCount;

/** Where a triple was found. */
interface Found {
  inInput: boolean;
  readonly shards: number[];
}

/** One kind of fault: how often, and the first few triples. */
interface Faults {
  count: number;
  readonly examples: (readonly [line: string, found: Found])[];
}

const none = (): Faults => ({ count: 0, examples: [] });
const mostExamples = 5;
const longestExample = 300;

/**
 * Compares part by part, for as long as there is time: each triple of the input is in exactly one shard, once, and nothing
 * else is. A part has all of its triples, so that faults are faults when others were not seen.
 */
async function compareParts(
  paths: readonly string[],
  { shards, inputs }: TripleSides,
  { signal, timeUp, onPart }: TripleCheckOptions,
): Promise<readonly Check[]> {
  const faults = { missing: none(), foreign: none(), shared: none(), repeated: none() };
  let [triples, parts] = [0, 0];
  for (const path of paths) {
    if (timeUp.aborted) break;
    const found = triplesIn(path);
    triples += found.size;
    for (const example of found) {
      for (const fault of faultsIn(example[1])) {
        faults[fault].count += 1;
        if (faults[fault].examples.length < mostExamples) faults[fault].examples.push(example);
      }
    }
    parts += 1;
    onPart(parts, paths.length);
    await otherWork();
    signal.throwIfAborted();
  }
  const check = (name: keyof typeof faultsOf): Check => {
    const findings = new Findings(name);
    for (const fault of faultsOf[name]) {
      const { count, examples } = faults[fault];
      for (const [at, [line, found]] of examples.entries()) {
        const where = found.shards.map((shard) => itemAt(shards, shard - 1).name);
        const reason = `${reasons[fault]}${where.length > 0 ? `: ${where.join(", ")}` : ""}`;
        const text = Buffer.from(line, "latin1").toString("utf8", 0, Math.min(line.length - 1, longestExample));
        // The first example stands for those that are not shown, too.
        findings.wrongIs(text, reason, at === 0 ? count - examples.length + 1 : 1);
      }
    }
    if (parts < paths.length) findings.unknownIs("the rest", timeOver);
    return findings.check(triples);
  };
  return [check("disjoint"), typeof inputs === "string" ? notLookedAt("complete", inputs) : check("complete")];
}

function triplesIn(path: string): ReadonlyMap<string, Found> {
  const triples = new Map<string, Found>();
  for (const { number, line } of readRecords(path)) {
    const found = triples.get(line) ?? { inInput: false, shards: [] };
    triples.set(line, found);
    if (number === 0) found.inInput = true;
    else found.shards.push(number);
  }
  return triples;
}

function faultsIn({ inInput, shards }: Found): readonly Fault[] {
  const faults: Fault[] = [];
  if (inInput && shards.length === 0) faults.push("missing");
  if (!inInput && shards.length > 0) faults.push("foreign");
  if (shards.some((shard) => shard !== shards[0])) faults.push("shared");
  else if (shards.length > 1) faults.push("repeated");
  return faults;
}
