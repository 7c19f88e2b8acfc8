import { setImmediate as nextTurn } from "node:timers/promises";
import { itemAt } from "../../../values.ts";
import type { EndpointModels } from "../../model/endpoint-models.ts";
import type { EndpointTables } from "../tables/endpoint-tables.ts";
import { coveringSet, type Reach, reachOf } from "./covering.ts";
import type { QuestionRanking } from "./question-ranking.ts";

/** An endpoint, or a federation whose members are needed together. */
export interface GroupedHit {
  /** Key of the federation, or id of the endpoint. */
  readonly key: string;
  readonly score: number;
  /** Members that have something of the question. */
  readonly members?: readonly string[] | undefined;
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
export function groupHits(
  hits: QuestionRanking["endpoints"],
  ranked: QuestionRanking,
  { models, catalog }: EndpointTables,
): readonly GroupedHit[] {
  const { federations } = ranked;
  const scores = new Map(hits.map(({ id, score }) => [id, score]));
  const membersOf = Map.groupBy(
    hits.flatMap(({ id }) => federations.keysOf(id).map((key) => ({ key, id }))),
    ({ key }) => key,
  );
  const isWanted = (key: string): boolean => (membersOf.get(key)?.length ?? 0) > 1 && isSplit(key, ranked, models);
  const taken = new Set<string>();
  const grouped: GroupedHit[] = [];
  for (const { id, score } of hits) {
    if (federations.idOf(id) !== undefined || taken.has(id)) continue;
    const isUsed = (key: string): boolean => membersOf.get(key)?.some((each) => taken.has(each.id)) ?? false;
    const fitting = federations.keysOf(id).filter((key) => scores.has(key) && !isUsed(key) && isWanted(key));
    const best = Math.max(...fitting.map((key) => scores.get(key) ?? 0));
    const [key] = fitting
      .filter((each) => (scores.get(each) ?? 0) >= smallerShare * best)
      .toSorted((one, other) => sizeOf(one, federations) - sizeOf(other, federations));
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

/**
 * True if the terms that the question names lie at more than one member; false where one has all that it surely names, and something
 * alike for its other words.
 */
function isSplit(key: string, ranked: QuestionRanking, models: EndpointModels): boolean {
  const members = new Set(ranked.federations.model(key)?.members);
  const named = ranked.termsOf(key).filter(({ words, isMentioned }) => words.length > 0 || isMentioned);
  const holders = (terms: typeof named): ReadonlySet<string> =>
    new Set(
      terms
        .slice(0, mostTerms)
        .flatMap(({ node: { kind, iri } }) => models.described(kind, iri).filter((id) => members.has(id))),
    );
  if (holders(named).size <= 1) return false;
  // The class of a named value is meant by its property alone.
  const isSure = ({ node, sure, isMentioned }: (typeof named)[number]): boolean =>
    sure.length > 0 || (isMentioned && node.kind === "property");
  const [only, ...others] = holders(named.filter(isSure));
  if (only === undefined || others.length > 0) return true;
  return !reachOf(key, ranked, models).near.isSubsetOf(reachOf(only, ranked, models).near);
}

/** Hits that are looked at for what they have together. */
const mostCompared = 10;

/**
 * The hits, first what covers the words that the question surely shares with any of the best: where no endpoint does alone, the
 * smallest federation, else the fewest endpoints.
 * @returns how many of the first are needed together; 1 where each is of use alone
 */
export async function coveringFirst(
  hits: readonly GroupedHit[],
  ranked: QuestionRanking,
  { models }: EndpointTables,
): Promise<{ readonly hits: readonly GroupedHit[]; readonly together: number }> {
  const unchanged = { hits, together: 1 };
  const { federations } = ranked;
  const compared = hits.slice(0, mostCompared);
  const reaches: Reach[] = [];
  for (const { key } of compared) {
    reaches.push(reachOf(key, ranked, models));
    await nextTurn();
  }
  const chosen = coveringSet(reaches, (at) => sizeOf(itemAt(compared, at).key, federations));
  const [only] = chosen;
  const guessed = only === undefined || chosen.length > 1 ? [] : besides(only, compared, reaches, ranked, models);
  const needed = (guessed.length > 0 ? guessed : chosen).map((at) => itemAt(compared, at));
  const keys = new Set(needed.map(({ key }) => key));
  const rest = hits.filter(({ key }) => !keys.has(key));
  const together = { hits: [...needed, ...rest], together: needed.length };
  if (needed.length < 2) return needed.some(({ key }) => federations.idOf(key) !== undefined) ? together : unchanged;
  const over = smallestOver(keys, federations);
  if (over === undefined) return guessed.length > 0 ? unchanged : together;
  const score = Math.max(...needed.map((hit) => hit.score));
  return { hits: [{ key: over, score, members: [...keys] }, ...rest], together: 1 };
}

/**
 * Where one alone was chosen and only its entry is known, nothing says that it has all: the hits that have something for a word that
 * it has nothing alike for, and it. None where there are no others.
 */
function besides(
  at: number,
  compared: readonly GroupedHit[],
  reaches: readonly Reach[],
  { federations }: QuestionRanking,
  models: EndpointModels,
): readonly number[] {
  const { key } = itemAt(compared, at);
  const { described, published } = models.get(key) ?? {};
  if (described !== undefined || published !== undefined || federations.idOf(key) !== undefined) return [];
  const { near } = itemAt(reaches, at);
  const wide = reaches.some((other) => !other.near.isSubsetOf(near));
  const sure = [...reaches.keys()].filter((other) => itemAt(reaches, other).sure.size > 0);
  return wide && sure.length > 1 ? sure : [];
}

/** The smallest federation of which all these are members. */
function smallestOver(keys: ReadonlySet<string>, federations: QuestionRanking["federations"]): string | undefined {
  const [over] = [...keys]
    .map((key) => new Set(federations.keysOf(key)))
    .reduce((all, each) => all.intersection(each))
    .values()
    .toArray()
    .toSorted((one, other) => sizeOf(one, federations) - sizeOf(other, federations));
  return over;
}

const sizeOf = (key: string, federations: QuestionRanking["federations"]): number =>
  federations.entry(key)?.members.length ?? 1;
