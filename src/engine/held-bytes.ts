import type * as RDF from "@rdfjs/types";
import { FedwayError } from "../errors/fedway-error.ts";

/** Bytes that one evaluation may hold at once when nothing else is said. */
export const defaultHeldBytes = 128 * 1024 * 1024;

/** Counts what one evaluation holds at once, over all of its operators. */
export interface HeldBytes {
  /** The account of one operator. */
  open(): Holding;
}

/** What one operator holds. */
export interface Holding {
  /** Takes note of more; throws when the evaluation holds too much. Negative for what is let go. */
  add(bytes: number): void;
  /** Lets go of everything. */
  release(): void;
}

/** Creates the count of one evaluation. */
export function createHeldBytes(most: number): HeldBytes {
  let held = 0;
  return {
    open() {
      let own = 0;
      return {
        add(bytes) {
          own += bytes;
          held += bytes;
          if (held > most) throw tooMuchHeld(most);
        },
        release() {
          held -= own;
          own = 0;
        },
      };
    },
  };
}

function tooMuchHeld(most: number): FedwayError {
  const message = `The query needs to hold more than ${Math.round(most / 1024 / 1024)} MiB of intermediate solutions.`;
  return new FedwayError("ANSWER_TOO_LARGE", message, {
    fault: "too-large",
    next: "Narrow what ORDER BY, GROUP BY, DISTINCT and joins see with VALUES, FILTER or LIMIT, or bind less and shorter values.",
  });
}

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

/** Estimate of the bytes of a text that is kept as a key. */
export const keyBytes = (key: string): number => TERM_BYTES + 2 * key.length;
