import type { Evidence, Statement } from "../../errors/fedway-error.ts";
import type { Prober, Question } from "./prober.ts";
import { type QueryPart, renderParts } from "./query-parts.ts";

/** A question, and the answer with which a claim holds. */
export interface Ground {
  readonly question: Question;
  /** False: it must have no solutions. */
  readonly has: boolean;
}

/** A claim, and all that must be so for it to be made. */
export interface Claim {
  readonly text: string;
  readonly grounds: readonly Ground[];
}

/** These parts have no solutions. */
export const none = (parts: readonly QueryPart[]): Ground => ({ question: { group: renderParts(parts) }, has: false });

/** These parts have some. */
export const some = (parts: readonly QueryPart[]): Ground => ({ question: { group: renderParts(parts) }, has: true });

/** A question has an answer. */
export const answered = (question: Question): Ground => ({ question, has: true });

/** Parts that a claim speaks of one by one. */
export const mostNamed = 5;

/**
 * The statements that can be made: those claims all of whose questions were answered as they need. Nothing else is said of the data.
 */
export const statementsOf = (prober: Pick<Prober, "evidence">, claims: readonly Claim[]): readonly Statement[] =>
  claims.flatMap(({ text, grounds }): readonly Statement[] => {
    const evidence = grounds.map((ground) => heldBy(prober, ground));
    const known = evidence.filter((each) => each !== undefined);
    return known.length === 0 || known.length < evidence.length ? [] : [{ claim: text, evidence: known }];
  });

function heldBy(prober: Pick<Prober, "evidence">, { question, has }: Ground): Evidence | undefined {
  const evidence = prober.evidence(question);
  return evidence && evidence.count > 0 === has ? evidence : undefined;
}
