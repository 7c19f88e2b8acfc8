import { type NamedInput } from "../load/input.ts";
import { readStatements } from "../load/read-statements.ts";
import { compareTriples, type Fault, type Faults } from "./compare-triples.ts";
import { type Digest, type DigestSpool, digestOf } from "./digest-spool.ts";
import { timeOver } from "./time-over.ts";
import { type Check, type CheckName, createFindings } from "./verification.ts";

/** Shards and inputs that were read to their end, and how their triples are checked. */
export interface TripleSides {
  readonly spool: DigestSpool;
  /** In the order of their numbers in the spool, from 1. */
  readonly shards: readonly NamedInput[];
  /** Why not all inputs are known, as a sentence, or all of them. */
  readonly inputs: string | readonly NamedInput[];
}

/** How long, and who is told. */
export interface TripleCheckOptions {
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

/** A check of which nothing was looked at. */
export function notLookedAt(name: CheckName, reason: string): Check {
  const findings = createFindings(name);
  findings.unknownIs("all", reason);
  return findings.check(0);
}

/** No triple is in two shards; the union equals the input. */
export async function checkTriples(sides: TripleSides, options: TripleCheckOptions): Promise<readonly Check[]> {
  const { spool, shards, inputs } = sides;
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
    const findings = createFindings(name);
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

/** The lines of the examples, for which everything has to be read once more; only some when time is over. */
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
