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
  readonly #claims = new Map<number, NumberedClaim>();
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
    const { classSets } = this.#learned.subjects;
    const predicate = this.#predicates.intern(bytes, subjectEnd + 1, predicateEnd);
    const place = predicate * classSets.length + this.cursor.classSet;
    let claimed = this.#claims.get(place);
    if (claimed === undefined) {
      const types = classSets[this.cursor.classSet] ?? [];
      claimed = { claim: this.#claimOf(types, this.#predicates.textOf(predicate).slice(1, -1)), shards: [] };
      this.#claims.set(place, claimed);
    }
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
