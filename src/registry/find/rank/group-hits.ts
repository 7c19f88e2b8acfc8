import type { Catalog } from "../../catalog/catalog.ts";
import type { EndpointModels } from "../../model/endpoint-models.ts";
import type { QuestionRanking } from "./question-ranking.ts";

/** An endpoint, or a federation whose members are needed together. */
export interface GroupedHit {
  /** Key of the federation, or id of the endpoint. */
  readonly key: string;
  readonly score: number;
  /** Members that have something of the question. */
  readonly members?: readonly string[] | undefined;
}

interface Known {
  readonly ranked: QuestionRanking;
  readonly models: Pick<EndpointModels, "described">;
  readonly catalog: Pick<Catalog, "published">;
}

/** A smaller federation with this share of a larger one's score is as good: in more endpoints are more words by chance. */
const smallerShare = 0.75;
/** Terms of the question that must all be at one member, else the federation is needed. */
const mostTerms = 8;

/**
 * Endpoints and federations as one list: a federation in the place of its members where what the question asks for lies at
 * several of them, its smallest fitting one where several hold them; members alone where one holds it all. Of endpoints with the
 * same data the best.
 */
export function groupHits(hits: QuestionRanking["endpoints"], known: Known): readonly GroupedHit[] {
  const { ranked, catalog } = known;
  const { federations } = ranked;
  const scores = new Map(hits.map(({ id, score }) => [id, score]));
  const membersOf = Map.groupBy(
    hits.flatMap(({ id }) => federations.keysOf(id).map((key) => ({ key, id }))),
    ({ key }) => key,
  );
  const isWanted = (key: string): boolean => (membersOf.get(key)?.length ?? 0) > 1 && isSplit(key, known);
  const sizeOf = (key: string): number => federations.model(key)?.members.length ?? 0;
  const taken = new Set<string>();
  const grouped: GroupedHit[] = [];
  for (const { id, score } of hits) {
    if (federations.idOf(id) !== undefined || taken.has(id)) continue;
    const isUsed = (key: string): boolean => membersOf.get(key)?.some((each) => taken.has(each.id)) ?? false;
    const fitting = federations.keysOf(id).filter((key) => scores.has(key) && !isUsed(key) && isWanted(key));
    const best = Math.max(...fitting.map((key) => scores.get(key) ?? 0));
    const [key] = fitting
      .filter((each) => (scores.get(each) ?? 0) >= smallerShare * best)
      .toSorted((one, other) => sizeOf(one) - sizeOf(other));
    if (key === undefined) {
      const original = catalog.published.originalOf(id);
      if (!taken.has(original)) grouped.push({ key: id, score });
      taken.add(id).add(original);
      continue;
    }
    const members = (membersOf.get(key) ?? []).map((each) => each.id);
    for (const member of members) taken.add(member);
    grouped.push({ key, score: scores.get(key) ?? score, members });
  }
  return grouped.toSorted((one, other) => other.score - one.score);
}

/** True if the terms that the question names lie at more than one member. */
function isSplit(key: string, { ranked, models }: Known): boolean {
  const members = new Set(ranked.federations.model(key)?.members);
  const named = ranked.termsOf(key).filter(({ words, isMentioned }) => words.length > 0 || isMentioned);
  const holders = named
    .slice(0, mostTerms)
    .flatMap(({ node: { kind, iri } }) => models.described(kind, iri).filter((id) => members.has(id)));
  return new Set(holders).size > 1;
}
