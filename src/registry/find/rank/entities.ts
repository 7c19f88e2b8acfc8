import type { EngineHits, EngineSearch } from "../read/engine-search.ts";
import { nameIn } from "./mentions.ts";
import { bestFirst, type ValueHit, type ValueIndex } from "../tables/value-index.ts";
import type { TermRequest } from "../linker.ts";

interface EntitySources {
  /** Names and values that were harvested. */
  readonly values?: Pick<ValueIndex, "find" | "isComplete"> | undefined;
  /** Asks engines for names that were not. */
  readonly engineSearch?: EngineSearch | undefined;
}

const most = 100;

/**
 * Entities and values for a name or a question, best first: of harvests, and, where they have no label that is just so, of the
 * engines of endpoints that were not read whole.
 * @param likely ids of endpoints, the likeliest first
 */
export async function entitiesFor(
  request: TermRequest,
  likely: readonly string[],
  { values, engineSearch }: EntitySources,
): Promise<EngineHits> {
  const { query, endpoints, limit } = request;
  const known = (await values?.find({ texts: [query], endpoints, limit: 2 * limit })) ?? [];
  const text = known.some(isNamed) ? undefined : nameToAsk(request);
  const isComplete = (id: string): boolean => values?.isComplete(id) === true;
  const asked = text === undefined ? undefined : { text, endpoints, likely, isComplete, limit };
  const { hits = [], unanswered = [] } = (asked && (await engineSearch?.find(asked))) ?? {};
  return { hits: onceEach([...known, ...hits].toSorted(bestFirst)).slice(0, Math.min(most, limit)), unanswered };
}

const isNamed = ({ why }: ValueHit): boolean => why === "exact" || why === "folded";

/** A word in small letters is more often a class or property, and no endpoint is asked for it unless entities are wanted. */
function nameToAsk({ query, kinds, endpoints }: TermRequest): string | undefined {
  const name = nameIn(query);
  const isEntity = kinds !== undefined || endpoints !== undefined;
  return isEntity || /\p{Lu}/u.test(name ?? "") ? name : undefined;
}

/** The same text of the same property once for each entity, in whatever languages and of whatever classes it is there. */
function onceEach(hits: readonly ValueHit[]): readonly ValueHit[] {
  const best = new Map<string, ValueHit>();
  for (const hit of hits) if (!best.has(keyOf(hit))) best.set(keyOf(hit), hit);
  return [...best.values()];
}

const keyOf = ({ endpoint, kind, term, property, label }: ValueHit): string =>
  [endpoint, kind, term, property, label].join(" ");
