import { iriParts, plainText } from "../../../rdf/display-text.ts";
import { namedScore } from "./run-search.ts";
import type { HitKind, Match, SearchHit } from "../answers.ts";
import type { RankedNode } from "./rank-terms.ts";
import type { SchemaNode } from "../tables/schema-graph.ts";

/** A class or property that was found in schemas or by the index. */
export interface FoundTerm extends Pick<SchemaNode, "kind" | "iri" | "count"> {
  readonly score: number;
  readonly why: readonly Match[];
}

const keyOf = ({ kind, iri }: { readonly kind: string; readonly iri?: string | undefined }): string =>
  `${kind} ${iri ?? ""}`;

const mostOfList = 100;

/** Terms of an endpoint, and what the endpoint weighs. */
interface WeightedTerms {
  readonly weight: number;
  readonly terms: readonly RankedNode[];
}

/** The terms of several endpoints as one list: each with its best score. */
export function bestTerms(lists: readonly WeightedTerms[]): readonly FoundTerm[] {
  const found = new Map<string, FoundTerm>();
  for (const { weight, terms } of lists) {
    for (const ranked of terms.slice(0, mostOfList)) {
      const { node } = ranked;
      const score = weight * ranked.score;
      const key = keyOf(node);
      if (score > (found.get(key)?.score ?? 0)) {
        found.set(key, { kind: node.kind, iri: node.iri, score, why: termReasons(ranked), count: node.count });
      }
    }
  }
  return [...found.values()].toSorted((left, right) => right.score - left.score || right.count - left.count);
}

function termReasons({ node, words, meaning, isMentioned, near }: RankedNode): readonly Match[] {
  if (words.length > 0) return words.map((word) => reason("name", word, node));
  if (isMentioned) return [reason("value", "", node)];
  const meant = meaning !== undefined && meaning > 0.5 ? [reason("meaning", "", node)] : [];
  return near === undefined ? meant : [...meant, reason(near.kind, "", near)];
}

interface Merging {
  readonly inSchemas: readonly FoundTerm[];
  readonly named: readonly SearchHit[];
  readonly isRestricted: boolean;
}

/** Reciprocal rank fusion; its usual constant is for lists of thousands. */
const fusion = 10;

/**
 * Terms matching the whole query come first. Within chosen endpoints their schemas decide, and the index adds what they lack;
 * over the whole catalogue, schemas of likely endpoints and the index have one voice each.
 */
export function mergedTerms({ inSchemas, named, isRestricted }: Merging): readonly FoundTerm[] {
  const found = new Map<string, FoundTerm>();
  const add = (term: FoundTerm, score: number): void => {
    const before = found.get(keyOf(term));
    found.set(keyOf(term), { ...(before ?? term), score: (before?.score ?? 0) + score });
  };
  for (const [at, term] of inSchemas.entries()) add(term, 1 / (fusion + at));
  const voice = isRestricted && inSchemas.length > 0 ? 0.001 : 1;
  for (const [at, hit] of named.filter(isTerm).entries()) {
    const isNamed = hit.score >= namedScore;
    const term = { kind: hit.kind, iri: hit.iri, score: 0, why: hit.why, count: countOf(hit) };
    add(term, isNamed ? 1 + 1 / (fusion + at) : voice / (fusion + at));
  }
  return [...found.values()].toSorted((left, right) => right.score - left.score || right.count - left.count);
}

const isTerm = (hit: SearchHit): hit is SearchHit & { kind: Exclude<HitKind, "endpoint">; iri: string } =>
  hit.kind !== "endpoint" && hit.iri !== undefined;

const countOf = ({ endpoints }: SearchHit): number =>
  endpoints.reduce((sum, { count }) => sum + (count?.value ?? 0), 0);

/** Why a class or property was found: which word of the question met its name. */
export const reason = (field: string, term: string, { iri }: RankedNode["node"]): Match => ({
  field,
  term,
  matched: plainText(iriParts(iri).local || iri, 60),
});
