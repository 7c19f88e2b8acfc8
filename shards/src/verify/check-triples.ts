import type { NamedInput } from "../load/input.ts";
import { readStatements } from "../load/read-statements.ts";
import { type Digest, DigestSpool, digestOf } from "./digest-spool.ts";
import { timeOver, type Check, Findings, notLookedAt } from "./verification.ts";

/** Shards and inputs that were read to their end before, and how their triples are checked. */
interface TripleSides {
  /** An empty folder for digests. */
  readonly parts: string;
  /** In the order of their numbers in the spool, from 1. */
  readonly shards: readonly NamedInput[];
  /** Why not all inputs are known, as a sentence, or all of them. */
  readonly inputs: string | readonly NamedInput[];
}

/** Limits and progress. */
interface TripleCheckOptions {
  readonly signal: AbortSignal;
  /** Aborts when there is no time left: what was not compared by then is unknown. */
  readonly timeUp: AbortSignal;
  readonly onPart: (done: number, total: number) => void;
}

const reasons: Readonly<Record<Fault, string>> = {
  missing: "in the input, but in no shard",
  foreign: "in a shard, but not in the input",
  shared: "in several shards",
  repeated: "more than once in its shard",
};

/** Faults of a shard by itself, and those that only a look at the inputs shows. */
const faultsOf = { disjoint: ["shared", "repeated"], complete: ["missing", "foreign"] } as const;

/** The checks of shards whose triples are right. @param lackOfInputs why not all inputs are known */
export const heldTriples = (triples: number, lackOfInputs: string | undefined): readonly Check[] => [
  new Findings("disjoint").check(triples),
  lackOfInputs === undefined ? new Findings("complete").check(triples) : notLookedAt("complete", lackOfInputs),
];

/** Which triples are in two shards, or not in both the inputs and the shards: reads all of them once more. */
export async function checkTriples(sides: TripleSides, options: TripleCheckOptions): Promise<readonly Check[]> {
  const spool = await DigestSpool.open(sides.parts);
  try {
    await fill(spool, sides, options);
    return await checksOf(spool, sides, options);
  } catch (error) {
    options.signal.throwIfAborted();
    if (!options.timeUp.aborted || error !== options.timeUp.reason) throw error;
    return [notLookedAt("disjoint", timeOver), notLookedAt("complete", timeOver)];
  } finally {
    await spool.close();
  }
}

async function fill(
  spool: DigestSpool,
  { shards, inputs }: TripleSides,
  { signal, timeUp }: TripleCheckOptions,
): Promise<void> {
  const known = typeof inputs === "string" ? [] : inputs.map((input) => ({ input, number: inputNumber }));
  for (const { input, number } of [...known, ...shards.map((each, at) => ({ input: each, number: at + 1 }))]) {
    await readStatements([input], (statement) => spool.add(statement, number), {
      phase: "verify",
      signal: AbortSignal.any([signal, timeUp]),
      afterChunk: () => spool.settle(),
    });
  }
  await spool.finish();
}

async function checksOf(
  spool: DigestSpool,
  { shards, inputs }: TripleSides,
  options: TripleCheckOptions,
): Promise<readonly Check[]> {
  const { signal, timeUp, onPart } = options;
  const { isWhole, triples, faults } = await compareTriples(spool, (done, total) => {
    signal.throwIfAborted();
    onPart(done, total);
    return !timeUp.aborted;
  });
  const known = typeof inputs === "string" ? [] : inputs;
  const looked = [...faultsOf.disjoint, ...(typeof inputs === "string" ? [] : faultsOf.complete)];
  const texts = await exampleTexts(
    looked.map((fault) => faults[fault]),
    [...known, ...shards],
    options,
  );
  const check = (name: keyof typeof faultsOf): Check => {
    const findings = new Findings(name);
    for (const fault of faultsOf[name]) {
      const { count, examples } = faults[fault];
      for (const [at, { digest, files }] of examples.entries()) {
        const where = files.filter((file) => file > 0).map((file) => shards[file - 1]?.name ?? "?");
        const reason = `${reasons[fault]}${where.length > 0 ? `: ${where.join(", ")}` : ""}`;
        // The first example stands for those that are not shown, too.
        findings.wrongIs(texts.get(digest) ?? "a triple", reason, at === 0 ? count - examples.length + 1 : 1);
      }
    }
    if (!isWhole) findings.unknownIs("the rest", timeOver);
    return findings.check(triples);
  };
  return [check("disjoint"), typeof inputs === "string" ? notLookedAt("complete", inputs) : check("complete")];
}

const longestExample = 300;

/** The lines of the examples, for which everything is read once more; not all of them when time is over. */
async function exampleTexts(
  faults: readonly Faults[],
  inputs: readonly NamedInput[],
  { signal, timeUp }: TripleCheckOptions,
): Promise<ReadonlyMap<Digest, string>> {
  const wanted = new Set(faults.flatMap(({ examples }) => examples.map(({ digest }) => digest)));
  const texts = new Map<Digest, string>();
  if (wanted.size === 0) return texts;
  const visit: Parameters<typeof readStatements>[1] = (statement) => {
    const digest = digestOf(statement);
    if (!wanted.has(digest) || texts.has(digest)) return;
    const { bytes, start, end } = statement;
    texts.set(digest, bytes.toString("utf8", start, Math.min(end - 1, start + longestExample)));
  };
  try {
    await readStatements(inputs, visit, { phase: "verify", signal: AbortSignal.any([signal, timeUp]) });
  } catch (error) {
    signal.throwIfAborted();
    if (!timeUp.aborted) throw error;
  }
  return texts;
}

/** The file number of all inputs; shards count from 1. */
export const inputNumber = 0;

/** What can be wrong with a triple, and in which files it was found: first 0 for the input, then shards. */
type Fault = "missing" | "foreign" | "shared" | "repeated";

/** One kind of fault: how often, and some examples, at most five. */
interface Faults {
  count: number;
  readonly examples: { readonly digest: Digest; readonly files: readonly number[] }[];
}

const mostExamples = 5;

const none = (): Faults => ({ count: 0, examples: [] });

/** In which files a triple was found: in the input, first in which shard, and in which others. */
type Found = { inInput: boolean; shard: number; more: number[] | undefined };

function gather(records: Iterable<readonly [Digest, number]>): Map<Digest, Found> {
  const found = new Map<Digest, Found>();
  for (const [digest, file] of records) {
    let entry = found.get(digest);
    if (entry === undefined) {
      entry = { inInput: false, shard: 0, more: undefined };
      found.set(digest, entry);
    }
    if (file === inputNumber) entry.inInput = true;
    else if (entry.shard === 0) entry.shard = file;
    else (entry.more ??= []).push(file);
  }
  return found;
}

function faultsIn({ inInput, shard, more }: Found): readonly Fault[] {
  const faults: Fault[] = [];
  if (inInput && shard === 0) faults.push("missing");
  if (!inInput && shard > 0) faults.push("foreign");
  if (more?.some((file) => file !== shard) === true) faults.push("shared");
  else if (more !== undefined) faults.push("repeated");
  return faults;
}

/**
 * Compares part by part, for as long as `onPart` says that there is time: each triple of the input is in exactly one
 * shard, once, and nothing else is. A part has all of its triples, so that faults are faults when others were not seen.
 */
async function compareTriples(spool: DigestSpool, onPart: (done: number, total: number) => boolean) {
  const faults = { missing: none(), foreign: none(), shared: none(), repeated: none() };
  let triples = 0;
  let parts = 0;
  await spool.eachPart((records) => {
    const found = gather(records);
    triples += found.size;
    for (const [digest, entry] of found) {
      for (const fault of faultsIn(entry)) {
        const { examples } = faults[fault];
        faults[fault].count += 1;
        if (examples.length < mostExamples) examples.push({ digest, files: [entry.shard, ...(entry.more ?? [])] });
      }
    }
    parts += 1;
    return onPart(parts, spool.parts);
  });
  // Of different triples in inputs and shards, as far as they were compared: all parts, when it is whole.
  return { isWhole: parts === spool.parts, triples, faults };
}
