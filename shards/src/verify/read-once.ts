import { toFedwayError } from "../../../src/errors/fedway-error.ts";
import type { Input } from "../load/input.ts";
import { learn, Learner } from "../load/learn.ts";
import type { Visit } from "../load/statement.ts";
import type { SubjectClasses } from "../load/subject-classes.ts";
import type { Manifest } from "../materialise/manifest.ts";
import { PlacedTriples } from "./check-placement.ts";
import type { VerifiedQuery } from "./compare-answers.ts";
import { createCopy, type Reading, readInputs, readShards, shardInputs } from "./read-sides.ts";
import { LineOrder, newSumKey, TripleSum } from "./triple-sum.ts";
import { type Check, Findings, notLookedAt, timeOver } from "./verification.ts";

interface Sides {
  readonly folder: string;
  readonly manifest: Manifest;
  /** Why they are not known, as a sentence, or all of them. */
  readonly inputs: string | readonly Input[];
  readonly queries: string | readonly VerifiedQuery[];
  /** Where the inputs are copied to. */
  readonly copyPath: string | undefined;
  readonly signal: AbortSignal;
  /** Aborts when there is no time left. */
  readonly timeUp: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

/** Facts from reading each side once. */
export interface ReadOnce extends ReadTriples {
  /** The files are those of the manifest. */
  readonly files: Check;
}

interface ReadTriples {
  /** Each triple lies where the rules put it; queries are federated as the report says. */
  readonly placement: readonly Check[];
  /** Why a side is not known to its end, where that is so. */
  readonly lackOfInputs: string | undefined;
  readonly lackOfShards: string | undefined;
  /** Triples in the shards. */
  readonly triples: number;
  /** The sum of each shard's file, in the order of the manifest; none where a shard is not known to its end. */
  readonly sums: readonly TripleSum[];
  /** No triple is there twice: the lines of each shard ascend, and each triple lies in the one shard of the rules. */
  readonly isDisjoint: boolean;
  /** Inputs and shards have the same statements, each as often. False also when the inputs repeat statements. */
  readonly isComplete: boolean;
}

/** Reads the inputs and learns the classes from them, then the shards, whose triples are placed and counted. */
export async function readOnce(sides: Sides): Promise<ReadOnce> {
  const { manifest, inputs, signal, timeUp, onProgress } = sides;
  const findings = new Findings("files");
  const expected = manifest.statements + manifest.triples;
  let [triples, files] = [0, 0];
  const reading: Reading = {
    findings,
    signal: AbortSignal.any([signal, timeUp]),
    onProgress: (more) => {
      triples += more;
      onProgress(triples, Math.max(triples, expected));
    },
    onFile: () => void (files += 1),
  };
  const count = (typeof inputs === "string" ? 0 : inputs.length) + manifest.shards.length;
  try {
    const found = await readBoth(sides, reading);
    return { ...found, files: findings.check(count) };
  } catch (error) {
    signal.throwIfAborted();
    if (!timeUp.aborted || error !== timeUp.reason) throw error;
    findings.unknownIs("the rest", timeOver, count - files);
    return { ...unknown(timeOver), lackOfInputs: timeOver, files: findings.check(files) };
  }
}

const unknown = (lackOfShards: string) => ({
  lackOfShards,
  placement: [notLookedAt("placement", lackOfShards), notLookedAt("federated", lackOfShards)],
  triples: 0,
  sums: [],
  isDisjoint: false,
  isComplete: false,
});

async function readBoth(sides: Sides, reading: Reading): Promise<ReadTriples> {
  const key = newSumKey();
  const ofInputs = new TripleSum(key);
  const learner = new Learner();
  const lackOfInputs = await inputSide(sides, reading, (statement) => {
    learner.take(statement);
    ofInputs.add(statement);
  });
  const subjects = lackOfInputs === undefined ? learner.learned([]).subjects : await subjectsOf(sides, reading);
  const placed = new PlacedTriples(sides.manifest, subjects ?? learner.learned([]).subjects, sides.queries);
  const sums = sides.manifest.shards.map(() => new TripleSum(key));
  const orders = sides.manifest.shards.map(() => new LineOrder());
  const visitOf = (shard: number): Visit => {
    const order = orders[shard]!;
    const sum = sums[shard]!;
    return (statement) => {
      placed.take(statement, shard);
      sum.add(statement);
      order.next(statement);
    };
  };
  const lackOfShards = await readShards(sides, visitOf, reading);
  if (lackOfShards !== undefined) return { ...unknown(lackOfShards), lackOfInputs };
  const ofShards = new TripleSum(key);
  for (const sum of sums) ofShards.join(sum);
  const placement = placed.checks();
  const isDisjoint = placement[0]?.outcome === "held" && orders.every(({ isAscending }) => isAscending);
  const isComplete = lackOfInputs === undefined && ofInputs.equals(ofShards);
  return { placement, lackOfInputs, lackOfShards, triples: ofShards.count, sums, isDisjoint, isComplete };
}

async function inputSide(sides: Sides, reading: Reading, visit: Visit): Promise<string | undefined> {
  const { folder, manifest, inputs, copyPath } = sides;
  if (typeof inputs === "string") {
    for (const { name } of manifest.inputs) reading.findings.unknownIs(name, inputs);
    return inputs;
  }
  if (copyPath === undefined) return readInputs({ folder, manifest, inputs }, visit, reading);
  const copy = await createCopy(copyPath);
  try {
    const both: Visit = (statement) => {
      visit(statement);
      copy.visit(statement);
    };
    return await readInputs({ folder, manifest, inputs }, both, { ...reading, settle: copy.settle });
  } finally {
    await copy.close();
  }
}

/** The classes as the shards have them, where the inputs are not known; undefined when a shard cannot be read. */
async function subjectsOf(sides: Sides, { signal }: Reading): Promise<SubjectClasses | undefined> {
  const learned = await learn(shardInputs(sides), { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    if (toFedwayError(error).code !== "DATASET_INVALID") throw error;
  });
  return learned?.subjects;
}
