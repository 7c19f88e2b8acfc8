import { toFedwayError } from "../../../src/errors/fedway-error.ts";
import { amountText } from "../../../src/figures.ts";
import { itemAt } from "../../../src/values.ts";
import { featuresOf, readQuery } from "../rules/query-features.ts";
import { CellCounter, type CellFacts } from "../load/cells.ts";
import type { Statement } from "../load/statement.ts";
import type { SubjectClasses } from "../load/subject-classes.ts";
import type { Manifest } from "../materialise/manifest.ts";
import { keysOfCells, placementOf } from "../rules/placement.ts";
import type { Pattern } from "../rules/problem.ts";
import { touchedShards } from "../report/query-shards.ts";
import type { VerifiedQuery } from "./compare-answers.ts";
import { type Check, Findings, notLookedAt } from "./verification.ts";

/** The number of triples of a cell in a shard. */
interface Lying {
  readonly cell: number;
  readonly shard: number;
  triples: number;
}

/**
 * Each triple lies in the shard that the manifest's rules give it, and each query needs as many shards as the report says:
 * two or more where it is federated.
 */
export class PlacedTriples {
  readonly #manifest: Manifest;
  /** Why the queries are not known, as a sentence, or all of them. */
  readonly #queries: string | readonly QueryPatterns[];
  readonly #counter: CellCounter;
  /** By cell, for each shard. */
  readonly #lying: readonly Map<number, Lying>[];

  constructor(manifest: Manifest, subjects: SubjectClasses, queries: string | readonly VerifiedQuery[]) {
    const known = typeof queries === "string" ? [] : queries.map((query) => patternsOf(query, manifest));
    this.#manifest = manifest;
    this.#queries = typeof queries === "string" ? queries : known;
    this.#lying = manifest.shards.map(() => new Map());
    const patterns = known.map(({ patterns: own }) => own);
    this.#counter = new CellCounter({ subjects, buckets: manifest.reading.buckets, patterns });
  }

  /** Takes a triple of a shard, by its place in the manifest. */
  take(statement: Statement, shard: number): void {
    const cell = this.#counter.take(statement);
    const found = this.#lying[shard]!.get(cell);
    if (found === undefined) this.#lying[shard]!.set(cell, { cell, shard, triples: 1 });
    else found.triples += 1;
  }

  /** Once all shards are taken. */
  checks(): readonly Check[] {
    const facts = this.#counter.facts();
    const lying = this.#lying.flatMap((cells) => [...cells.values()]);
    const queries = this.#queries;
    return [
      placesCheck(this.#manifest, facts, lying),
      typeof queries === "string" ? notLookedAt("federated", queries) : fanOutCheck(this.#manifest, facts, queries),
    ];
  }
}

function placesCheck(manifest: Manifest, { cells }: CellFacts, lying: Iterable<Lying>): Check {
  const findings = new Findings("placement");
  const placement = placementOf(manifest.rules, manifest.precedence, manifest.groups);
  const idOf = new Map(manifest.shards.map(({ id, key }) => [key, id]));
  let looked = 0;
  for (const { cell, shard, triples } of lying) {
    looked += triples;
    const { types, predicate, bucket } = itemAt(cells, cell);
    const key = placement(types, predicate, bucket);
    const found = itemAt(manifest.shards, shard);
    if (found.key === key) continue;
    const what = `${amountText(triples, "triple")} of the predicate <${predicate}>`;
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
  { rules, precedence, groups }: Manifest,
  { cells, touches }: CellFacts,
  queries: readonly QueryPatterns[],
): Check {
  const findings = new Findings("federated");
  const touched = touchedShards(touches, keysOfCells(cells, placementOf(rules, precedence, groups)));
  for (const [at, { query, problem }] of queries.entries()) {
    if (problem !== undefined) {
      findings.unknownIs(query.id, problem);
      continue;
    }
    const fanOut = itemAt(touched, at).length;
    if (query.federated === undefined || fanOut >= 2 === query.federated) continue;
    const shards = `${fanOut} ${fanOut === 1 ? "shard has" : "shards have"} matches for its patterns`;
    findings.wrongIs(query.id, `${shards}, but the report says that it is ${query.federated ? "" : "not "}federated.`);
  }
  return findings.check(queries.length);
}
