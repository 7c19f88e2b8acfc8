import type * as RDF from "@rdfjs/types";
import { FedwayError } from "../errors/fedway-error.ts";

/** Bytes that one evaluation may hold at once when nothing else is said. */
export const defaultHeldBytes = 128 * 1024 * 1024;

/** Limit that all evaluations of one process share. */
export interface HeldTogether {
  readonly most: number;
  bytes: number;
  /** Evaluations that hold something. */
  holders: number;
}

/** Counts what one evaluation holds at once, over all of its operators. */
export interface HeldBytes {
  /** The account of one operator. */
  open(): Holding;
  /** The evaluation is over and holds nothing any more. */
  close(): void;
}

/** Bytes held by one operator. */
export interface Holding {
  /** Takes note of more; throws when the evaluation holds too much. Negative for released bytes. */
  add(bytes: number): void;
  /** Lets go of everything. */
  release(): void;
}

/** Errors for evaluations that hold too much. */
export interface HeldErrors {
  tooMuch(most: number): FedwayError;
  noRoomBesideOthers(): FedwayError;
}

/**
 * Creates the count of one evaluation. When all of them together hold too much, those fail that hold more than their
 * share, so that small ones go on beside a large one.
 */
export function createHeldBytes(
  most: number,
  together: HeldTogether = { most: Number.POSITIVE_INFINITY, bytes: 0, holders: 0 },
  errors: HeldErrors = solutionErrors,
): HeldBytes {
  let held = 0;
  let closed = false;
  const change = (bytes: number): void => {
    if (closed) return;
    together.holders += Number(held + bytes > 0) - Number(held > 0);
    together.bytes += bytes;
    held += bytes;
  };
  return {
    open() {
      let own = 0;
      return {
        add(bytes) {
          own += bytes;
          change(bytes);
          if (held > most) throw errors.tooMuch(most);
          if (together.bytes > together.most && held > together.most / together.holders) {
            throw errors.noRoomBesideOthers();
          }
        },
        release() {
          change(-own);
          own = 0;
        },
      };
    },
    close() {
      change(-held);
      closed = true;
    },
  };
}

const solutionErrors: HeldErrors = {
  tooMuch(most) {
    const message = `The query needs to hold more than ${Math.round(most / 1024 / 1024)} MiB of intermediate solutions.`;
    return new FedwayError("ANSWER_TOO_LARGE", message, {
      fault: "too-large",
      next: "Narrow what ORDER BY, GROUP BY, DISTINCT and joins see with VALUES, FILTER or LIMIT, or bind less and shorter values.",
    });
  },
  noRoomBesideOthers: () =>
    new FedwayError("SERVICE_BUSY", "There is no room for this query's intermediate solutions beside others.", {
      retryAfterMs: 5_000,
      next: "Try again in a moment, or narrow what ORDER BY, GROUP BY, DISTINCT and joins see.",
    }),
};

const ROW_BYTES = 200;
const TERM_BYTES = 60;

/** Estimate: two bytes a character, and a constant for the term itself. */
export const termBytes = (term: RDF.Term | undefined): number => (term ? TERM_BYTES + 2 * term.value.length : 0);

/** Estimate of the bytes of a solution. */
export function rowBytes(row: { forEach(callback: (term: RDF.Term) => void): void }): number {
  let bytes = ROW_BYTES;
  row.forEach((term) => {
    bytes += termBytes(term);
  });
  return bytes;
}

/** All rows; they are counted as held. */
export async function takenIn<Row extends Parameters<typeof rowBytes>[0]>(
  batches: AsyncIterable<readonly Row[]>,
  holding: Pick<Holding, "add">,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for await (const batch of batches) {
    for (const row of batch) {
      holding.add(rowBytes(row));
      rows.push(row);
    }
  }
  return rows;
}

/** Estimate of the bytes of a text that is kept as a key. */
export const keyBytes = (key: string): number => TERM_BYTES + 2 * key.length;

/** Items whose key did not come before; the keys are counted as held. */
export async function* once<T>(
  items: AsyncIterable<readonly T[]>,
  keyOf: (item: T) => string,
  held: Holding,
): AsyncIterable<readonly T[]> {
  const seen = new Set<string>();
  const isNew = (item: T): boolean => {
    const key = keyOf(item);
    if (seen.has(key)) return false;
    held.add(keyBytes(key));
    seen.add(key);
    return true;
  };
  try {
    for await (const batch of items) yield batch.filter(isNew);
  } finally {
    held.release();
  }
}

/** The error of a query that would take in, or make, more solutions than one query may. */
function tooManySolutions(most: number): FedwayError {
  return new FedwayError("ANSWER_TOO_LARGE", `The query needs more than ${most} intermediate solutions.`, {
    fault: "too-large",
    next: "Narrow the SERVICE clauses with VALUES, FILTER or LIMIT, and make sure that they share variables.",
  });
}

/** A counter that throws beyond its limit. */
export function countUpTo(most: number): (solutions?: number) => void {
  let counted = 0;
  return (solutions = 1) => {
    counted += solutions;
    if (counted > most) throw tooManySolutions(most);
  };
}
