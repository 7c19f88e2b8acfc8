import { FedwayError } from "../errors/fedway-error.ts";

/** The error of a query that would take in, or make, more solutions than one query may. */
export function tooManySolutions(most: number): FedwayError {
  return new FedwayError("ANSWER_TOO_LARGE", `The query needs more than ${most} intermediate solutions.`, {
    fault: "too-large",
    next: "Narrow the SERVICE clauses with VALUES, FILTER or LIMIT, and make sure that they share variables.",
  });
}

/** A counter that throws beyond its limit. */
export function countUpTo(most: number): () => void {
  let counted = 0;
  return () => {
    counted++;
    if (counted > most) throw tooManySolutions(most);
  };
}
