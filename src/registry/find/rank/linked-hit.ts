import type { DescribedSchema } from "../../model/described-schema.ts";
import type { EndpointModel, EndpointModels } from "../../model/endpoint-models.ts";
import { oneSentence } from "../../schema/one-sentence.ts";
import { builtParts, partSentence } from "../../schema/part-lines.ts";
import { iriParts, plainText } from "../../../rdf/display-text.ts";
import type { EndpointStatus, Match } from "../answers.ts";
import type { ValueHit } from "../tables/value-index.ts";
import type { GroupedHit } from "./group-hits.ts";
import { reason } from "./merge-terms.ts";
import type { QuestionRanking } from "./question-ranking.ts";
import type { SchemaNode } from "../tables/schema-graph.ts";

/** A class or property of a hit, with its neighbours in the schema. */
interface HitTerm extends Pick<SchemaNode, "kind" | "iri" | "count"> {
  /** Of a property: classes that have it, the likeliest first, and classes of its values. */
  readonly domains: readonly string[];
  readonly ranges: readonly string[];
  /** The one that all values have. */
  readonly datatype?: string | undefined;
}

/** An endpoint, or a federation of several, that can perhaps answer a question. */
export interface LinkedEndpoint {
  /** Of the federation, where it is one. */
  readonly id: string;
  /** Of a federation: all its endpoints, and those that have something of the question. */
  readonly federation?: { readonly members: number; readonly matching: readonly string[] } | undefined;
  readonly title: string;
  /**
   * One sentence about the data: the entry's own, else one made of the description; for a shard, its whole. Foreign text.
   */
  readonly sentence?: string | undefined;
  readonly status: EndpointStatus;
  /** Larger is better; comparable within one answer only. */
  readonly score: number;
  /** Classes, properties and words of the entry that the question has; the nearest ones in meaning where it has none. */
  readonly why: readonly Match[];
  /** Classes and properties that the question may mean, best first. */
  readonly terms: readonly HitTerm[];
  /** Values and names in the data that the question names. */
  readonly mentions: readonly ValueHit[];
  /** Where its classes and properties are known from, when it has not been described: "published, as of ...". */
  readonly provenance?: string | undefined;
}

/** Inputs of ranking hits. */
interface Known {
  readonly models: Pick<EndpointModels, "get">;
  readonly statusOf: (id: string) => EndpointStatus;
}

/** A hit with what a reader chooses by, and with the terms that the question may mean there. */
export function linkedHit(
  { key, score, members = [] }: GroupedHit,
  ranked: QuestionRanking,
  known: Known,
): LinkedEndpoint {
  const shared = {
    score,
    why: endpointReasons(key, ranked),
    mentions: ranked.mentionsOf(key).slice(0, mostMentions),
  };
  const merged = ranked.federations.model(key);
  if (merged !== undefined) {
    const { id, federation, described } = merged;
    return {
      ...shared,
      id,
      federation: { members: merged.members.length, matching: members },
      title: plainText(federation.title, 120),
      sentence: federation.description ?? oneSentence({ described }),
      status: worstOf(merged.members.map(known.statusOf)),
      terms: hitTerms(key, ranked, described),
    };
  }
  const model = known.models.get(key);
  const { entry, described, published } = model ?? {};
  return {
    ...shared,
    id: key,
    title: plainText(entry?.title ?? key, 120),
    sentence: model && sentenceOf(model),
    status: known.statusOf(key),
    terms: hitTerms(key, ranked, described),
    provenance: described === undefined ? published?.provenance : undefined,
  };
}

function worstOf(states: readonly EndpointStatus[]): EndpointStatus {
  return (["down", "flapping", "degraded", "up"] as const).find((state) => states.includes(state)) ?? "unknown";
}

const mostHitTerms = 40;

function hitTerms(key: string, ranked: QuestionRanking, described: DescribedSchema | undefined): readonly HitTerm[] {
  const { nodes = [] } = ranked.graph(key) ?? {};
  const scored = ranked.termsOf(key);
  const scores = new Map(scored.map(({ node, score }) => [node, score]));
  const irisAt = (places: readonly number[]): readonly string[] =>
    places
      .flatMap((place) => nodes[place] ?? [])
      .toSorted((one, other) => (scores.get(other) ?? 0) - (scores.get(one) ?? 0))
      .map(({ iri }) => iri);
  return scored.slice(0, mostHitTerms).map(({ node: { kind, iri, count, domains, ranges } }) => ({
    kind,
    iri,
    count,
    domains: irisAt(domains),
    ranges: irisAt(ranges),
    datatype: kind === "property" ? described?.countsOf(iri)?.datatype : undefined,
  }));
}

const longestSentence = 240;

function sentenceOf({ entry, described }: EndpointModel): string | undefined {
  const told = entry?.description && plainText(entry.description, longestSentence);
  const sentence = told ?? oneSentence({ described, entry });
  const part = described && partSentence(builtParts(described));
  return part === undefined ? sentence : `${sentence ?? ""} ${part}`.trim();
}

const mostReasons = 6;
const mostTermReasons = 4;
const mostMentions = 2;

function endpointReasons(id: string, ranked: QuestionRanking): readonly Match[] {
  const terms = ranked.termsOf(id);
  const ofTerms = terms
    .flatMap(({ node, words }) => words.slice(0, 1).map((word) => reason(node.kind, word, node)))
    .slice(0, mostTermReasons);
  const seen = new Set(ofTerms.map(({ term }) => term));
  const others = ranked.wordsOf(id).filter((word) => !seen.has(word));
  const named = ranked.mentionsOf(id).slice(0, mostMentions);
  const all = [
    ...ofTerms,
    ...named.map(({ label, property }) => ({ field: "value", term: label, matched: iriParts(property).local })),
    ...others.map((word) => ({ field: "text", term: word, matched: word })),
  ];
  const [nearest] = terms;
  if (all.length > 0 || nearest?.meaning === undefined) return all.slice(0, mostReasons);
  return [reason("meaning", "", nearest.node)];
}
