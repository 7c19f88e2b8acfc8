import { LRUCache } from "lru-cache";
import type { FederatedClause } from "../plan/query-plan.ts";

// Of the texts of clauses; a longer one is not remembered.
const MOST_CHARACTERS = 2 * 1024 * 1024;
const LONGEST = 32 * 1024;

/** How many solutions clauses had when they were asked without keys. Only an estimate of their present size. */
export class ClauseSizes {
  readonly #known = new LRUCache<string, number>({
    maxSize: MOST_CHARACTERS,
    maxEntrySize: LONGEST,
    sizeCalculation: (_rows, text) => text.length + 64,
  });

  of(clause: FederatedClause): number | undefined {
    return this.#known.get(textOf(clause)) ?? clause.estimate;
  }

  /** Rows of its whole answer. */
  note(clause: FederatedClause, rows: number): void {
    this.#known.set(textOf(clause), rows);
  }
}

const textOf = ({ endpoint, distinct, prologue, pattern }: FederatedClause): string =>
  `${endpoint.url} ${distinct === true} ${prologue}${pattern}`;
