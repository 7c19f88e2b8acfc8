import { setImmediate as nextTurn } from "node:timers/promises";
import type { EndpointStatus } from "../answers.ts";
import type { EndpointTables } from "../tables/endpoint-tables.ts";
import { type GroupedHit, groupHits } from "./group-hits.ts";
import { linkedHit } from "./linked-hit.ts";
import { type QuestionRanking, rankQuestion } from "./question-ranking.ts";

/** A search for endpoints. */
export interface EndpointRequest {
  readonly question: string;
  /** 1 to 100. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/** Most hits of one answer. */
export const mostHits = 100;
/** Factors of the score: for endpoints with published terms only, and for those without even a known state. */
const knownShares = { published: 0.7, unknown: 0.5 } as const;

/** Endpoints for a question, best first; those that are down stand where they belong. @throws the signal's reason */
export async function endpointsFor(
  tables: EndpointTables,
  { question, limit, signal }: EndpointRequest,
  statusOf: (id: string) => EndpointStatus,
) {
  const { models, catalog } = tables;
  const ranked = await rankQuestion(tables, question, signal);
  const { ranking, complete, federations } = ranked;
  await nextTurn();
  const there = knownFirst(tables, ranked, statusOf).filter(
    ({ id }) => (catalog.byId(id) ?? federations.model(id)) !== undefined,
  );
  const hits = namedFirst(question, groupHits(there, { ranked, models, catalog }), ranked);
  const shown = hits.slice(0, clamped(limit)).map((hit) => linkedHit(hit, ranked, { models, statusOf }));
  return { endpoints: shown, total: hits.length, ranking, complete };
}

/** Published knowledge counts less than the endpoint's own description. */
function knownFirst(
  { models }: EndpointTables,
  { endpoints, federations }: QuestionRanking,
  statusOf: (id: string) => EndpointStatus,
): QuestionRanking["endpoints"] {
  const knownShare = (id: string): number => {
    const { described, published } = federations.model(id) ?? models.get(id) ?? {};
    if (described !== undefined) return 1;
    return published === undefined && statusOf(id) === "unknown" ? knownShares.unknown : knownShares.published;
  };
  return endpoints
    .map(({ id, score }) => ({ id, score: knownShare(id) * score }))
    .toSorted((left, right) => right.score - left.score);
}

/** Puts an endpoint or federation first that the question names by its id. */
const namedFirst = (
  question: string,
  hits: readonly GroupedHit[],
  { endpoints, federations }: QuestionRanking,
): readonly GroupedHit[] => {
  const id = question.trim().toLowerCase();
  const isEndpoint = endpoints.some((endpoint) => endpoint.id === id);
  const key = isEndpoint ? id : federations.model(federations.keyOf(id)) && federations.keyOf(id);
  return key === undefined ? hits : [{ key, score: 1 }, ...hits.filter((hit) => hit.key !== key)];
};

/** A limit of hits within bounds. */
export const clamped = (limit: number): number => Math.min(mostHits, Math.max(1, Math.floor(limit) || 1));
