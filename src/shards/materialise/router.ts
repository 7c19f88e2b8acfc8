import { ByteTable } from "../load/byte-table.ts";
import type { Learned } from "../load/learn.ts";
import type { Statement } from "../load/statement.ts";
import { SubjectCursor } from "../load/subject-cursor.ts";
import { type Claim, type ClaimOf, claimantOf, keyOfClaim } from "../placement.ts";
import type { Precedence, Rule } from "../rule.ts";

/** A claim with the numbers of its shards, by bucket; undefined as long as no triple came. */
interface NumberedClaim {
  readonly claim: Claim;
  readonly shards: (number | undefined)[];
}

/** Numbers shards in the order in which triples come, and tells which shard a statement belongs to. */
export class Router {
  /** The subject of the statement that was last routed. */
  readonly cursor: SubjectCursor;
  /** Keys of the shards, by number. */
  readonly keys: string[] = [];
  readonly #learned: Learned;
  readonly #claimOf: ClaimOf;
  readonly #predicates = new ByteTable();
  /** By predicate and set of classes. */
  readonly #claims: Map<number, NumberedClaim>[] = [];
  readonly #numbers = new Map<string, number>();

  constructor(learned: Learned, rules: readonly Rule[], precedence: Precedence) {
    this.#learned = learned;
    this.#claimOf = claimantOf(rules, precedence);
    this.cursor = new SubjectCursor(learned.subjects);
  }

  shardOf(statement: Statement): number {
    this.cursor.move(statement);
    const { claim, shards } = this.#claimed(statement);
    const hash = claim.buckets > 1 ? this.cursor.hash(statement) : 0;
    const bucket = hash % claim.buckets;
    const known = shards[bucket];
    if (known !== undefined) return known;
    const number = this.#numberOf(keyOfClaim(claim, bucket));
    shards[bucket] = number;
    return number;
  }

  #claimed({ bytes, subjectEnd, predicateEnd }: Statement): NumberedClaim {
    const predicate = this.#predicates.intern(bytes, subjectEnd + 1, predicateEnd);
    const { classSet } = this.cursor;
    if (predicate === this.#claims.length) this.#claims.push(new Map());
    const claims = this.#claims[predicate]!;
    const known = claims.get(classSet);
    if (known !== undefined) return known;
    const types = this.#learned.subjects.classSets[classSet] ?? [];
    const claim = this.#claimOf(types, this.#predicates.textOf(predicate).slice(1, -1));
    const claimed: NumberedClaim = { claim, shards: [] };
    claims.set(classSet, claimed);
    return claimed;
  }

  #numberOf(key: string): number {
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.keys.push(key) - 1;
      this.#numbers.set(key, number);
    }
    return number;
  }
}
