import { toFedwayError } from "../../../src/errors/fedway-error.ts";
import { featuresOf, readQuery } from "../rules/query-features.ts";
import { CellCounter, type CellFacts } from "../load/cells.ts";
import { learn } from "../load/learn.ts";
import { type PassOptions, readStatements } from "../load/read-statements.ts";
import type { Manifest } from "../materialise/manifest.ts";
import { placementOf } from "../rules/placement.ts";
import type { Pattern } from "../rules/problem.ts";
import { touchedShards } from "../report/query-shards.ts";
import type { VerifiedQuery } from "./compare-answers.ts";
import { shardInputs } from "./read-sides.ts";
import { timeOver, type Check, Findings, notLookedAt } from "./verification.ts";

/** Shards that were read to their end before, and their manifest and queries. */
interface PlacedShards {
  readonly folder: string;
  readonly manifest: Manifest;
  /** Why the queries are not known, as a sentence, or all of them. */
  readonly queries: string | readonly VerifiedQuery[];
}

/** Limits and progress. */
interface PlacementOptions {
  readonly signal: AbortSignal;
  readonly onProgress: NonNullable<PassOptions["onProgress"]>;
  /** Aborts when there is no time left. */
  readonly timeUp: AbortSignal;
}

/** The number of triples of a cell in a shard. */
interface Lying {
  readonly cell: number;
  readonly shard: number;
  triples: number;
}

/**
 * Each triple lies in the shard that the manifest's rules give it, and each query needs as many shards as the report says:
 * two or more where it is federated. Reads the shards twice: for the classes of the subjects, then for each triple.
 */
export async function checkPlacement(shards: PlacedShards, options: PlacementOptions): Promise<readonly Check[]> {
  const { signal, timeUp, onProgress } = options;
  try {
    return await placementChecks(shards, { signal: AbortSignal.any([signal, timeUp]), onProgress });
  } catch (error) {
    signal.throwIfAborted();
    if (!timeUp.aborted) throw error;
    return [notLookedAt("placement", timeOver), notLookedAt("federated", timeOver)];
  }
}

async function placementChecks(shards: PlacedShards, options: PassOptions): Promise<readonly Check[]> {
  const { manifest, queries } = shards;
  const inputs = shardInputs(shards);
  const { subjects } = await learn(inputs, options);
  const known = typeof queries === "string" ? [] : queries.map((query) => patternsOf(query, manifest));
  const counter = new CellCounter({
    subjects,
    buckets: manifest.reading.buckets,
    patterns: known.map(({ patterns }) => patterns),
  });
  const lying = new Map<string, Lying>();
  for (const [shard, input] of inputs.entries()) {
    const visit: Parameters<typeof readStatements>[1] = (statement) => {
      const cell = counter.take(statement);
      const key = `${cell} ${shard}`;
      const found = lying.get(key);
      if (found === undefined) lying.set(key, { cell, shard, triples: 1 });
      else found.triples += 1;
    };
    await readStatements([input], visit, { ...options, phase: "verify" });
  }
  const facts = counter.facts();
  const federated =
    typeof queries === "string" ? notLookedAt("federated", queries) : fanOutCheck(manifest, facts, known);
  return [placesCheck(manifest, facts, lying.values()), federated];
}

function placesCheck(manifest: Manifest, { cells }: CellFacts, lying: Iterable<Lying>): Check {
  const findings = new Findings("placement");
  const placement = placementOf(manifest.rules, manifest.precedence);
  const idOf = new Map(manifest.shards.map(({ id, key }) => [key, id]));
  let looked = 0;
  for (const { cell, shard, triples } of lying) {
    looked += triples;
    const { types, predicate, bucket } = cells[cell]!;
    const key = placement(types, predicate, bucket);
    const found = manifest.shards[shard]!;
    if (found.key === key) continue;
    const what = `${triples} ${triples === 1 ? "triple" : "triples"} of the predicate <${predicate}>`;
    findings.wrongIs(found.id, `${what} belong to ${idOf.get(key) ?? key} by the rules.`, triples);
  }
  return findings.check(looked);
}

interface QueryPatterns {
  readonly query: VerifiedQuery;
  readonly patterns: readonly Pattern[];
  /** Why it cannot be read. */
  readonly problem?: string;
}

function patternsOf(query: VerifiedQuery, { reading }: Manifest): QueryPatterns {
  try {
    const { patterns } = featuresOf(readQuery({ ...query, same: [] }), reading);
    return { query, patterns };
  } catch (error) {
    return { query, patterns: [], problem: toFedwayError(error).message };
  }
}

/** f(q) >= 2 where the report says that a query is federated, and nowhere else. */
function fanOutCheck(
  { rules, precedence }: Manifest,
  { cells, touches }: CellFacts,
  queries: readonly QueryPatterns[],
): Check {
  const findings = new Findings("federated");
  const touched = touchedShards({ precedence, cells, touches }, placementOf(rules, precedence));
  for (const [at, { query, problem }] of queries.entries()) {
    if (problem !== undefined) {
      findings.unknownIs(query.id, problem);
      continue;
    }
    const fanOut = touched[at]?.length ?? 0;
    if (query.federated === undefined || fanOut >= 2 === query.federated) continue;
    const shards = `${fanOut} ${fanOut === 1 ? "shard has" : "shards have"} matches for its patterns`;
    findings.wrongIs(query.id, `${shards}, but the report says that it is ${query.federated ? "" : "not "}federated.`);
  }
  return findings.check(queries.length);
}
