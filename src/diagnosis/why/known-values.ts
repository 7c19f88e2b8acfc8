import { termFromText } from "../../results/terms.ts";
import { likeness } from "./alike.ts";
import { endpointOf, type Inquiry } from "./inquiry.ts";
import { renderParts, type QueryPart } from "./query-parts.ts";
import { type Candidate, type Variation, variationsOf, withCandidate } from "./vary-triple.ts";

/** Values that are tried for one constant. */
const mostTried = 8;

/**
 * Harvested values that are worded like a literal of some patterns and with which the query has solutions: of a property with
 * very many values, those that an endpoint gives first need not have the one that was meant.
 * @throws BudgetSpent
 */
export async function knownValues(inquiry: Inquiry, suspects: readonly QueryPart[]): Promise<readonly Candidate[]> {
  const { values, prober, parts } = inquiry;
  if (values === undefined) return [];
  const candidates: Candidate[] = [];
  for (const part of suspects) {
    const variation = variationsOf(part, parts).find(({ place, written }) => place === "object" && isText(written));
    if (variation) candidates.push(...(await likeWritten(inquiry, variation)));
  }
  const has = await prober.anySolutions(candidates.map((one) => renderParts(withCandidate(parts, one))));
  return candidates
    .filter((_, at) => has[at] === true)
    .toSorted((left, right) => right.likeness.score - left.likeness.score);
}

const isText = (term: Variation["written"]): boolean => term?.termType === "Literal";

async function likeWritten(inquiry: Inquiry, variation: Variation): Promise<readonly Candidate[]> {
  const { values, members } = inquiry;
  const endpoint = endpointOf(inquiry, variation.part);
  const { written } = variation;
  const text = written?.value ?? "";
  const endpoints = endpoint === undefined ? members : [endpoint];
  const hits = (await values?.find({ texts: [text], endpoints, limit: mostTried })) ?? [];
  const predicate = variation.part.triple?.predicate.term;
  return hits
    .filter(({ property }) => predicate?.kind !== "iri" || predicate.iri === property)
    .map(({ literal, score }): Candidate => {
      const found = termFromText(literal);
      const alike = written && likeness(written, found);
      const kind = alike === undefined || alike.kind === "other" ? "words" : alike.kind;
      return { variation, found, likeness: { kind, score: Math.min(0.95, Math.max(0.5, score, alike?.score ?? 0)) } };
    });
}
