import { LRUCache } from "lru-cache";
import type { Asker, WholeAnswer } from "../../../outbound/whole-answer.ts";
import { literalText } from "../../../rdf/term-text.ts";
import { type TextSearch, textQuery } from "../../capabilities/text-search.ts";
import type { Catalog, CatalogEntry } from "../../catalog/catalog.ts";
import type { Harvest, HarvestRow } from "./harvest.ts";
import { createValueIndex, type ValueHit } from "../tables/value-index.ts";
import { sizedByKey } from "../../../cache-size.ts";

interface EngineSearchOptions {
  readonly asker: Pick<Asker, "ask">;
  readonly catalog: Pick<Catalog, "byId" | "entries">;
  /** The full-text search that an endpoint is proved to have. */
  readonly textSearchOf: (id: string) => TextSearch | undefined;
  /** True if labels of an endpoint may be read. */
  readonly mayAsk: (id: string) => boolean;
}

interface EngineRequest {
  readonly text: string;
  /** Only these; any when absent. */
  readonly endpoints: readonly string[] | undefined;
  /** The likeliest first; the first three that have a full-text search are asked, then others. */
  readonly likely: readonly string[];
  /** Asked only where not all names are known. */
  readonly isComplete: (id: string) => boolean;
  readonly limit: number;
}

/** Hits of the engines' own search, and the endpoints that could not be asked. */
export interface EngineHits {
  readonly hits: readonly ValueHit[];
  /** Ids of endpoints that did not answer in time, or were not asked because too many questions were open. */
  readonly unanswered: readonly string[];
}

const mostAsked = 3;
const mostOpen = 8;
const answerBounds = { timeoutMs: 5_000, maxRows: 100, maxBytes: 256 * 1024 };
const keptMs = 5 * 60_000;

/** Entities by name where nothing was harvested: the engines' own full-text indexes, where a probe proved one. */
export type EngineSearch = ReturnType<typeof createEngineSearch>;

/** Answers are kept for five minutes. */
export function createEngineSearch({ asker, catalog, textSearchOf, mayAsk }: EngineSearchOptions) {
  const kept = new LRUCache<string, Promise<Harvest>>({
    ...sizedByKey(50, { each: answerBounds.maxBytes }),
    ttl: keptMs,
  });
  let open = 0;

  async function ask(entry: CatalogEntry, query: string): Promise<Harvest> {
    open += 1;
    try {
      const { id, url, method } = entry;
      const signal = AbortSignal.timeout(2 * answerBounds.timeoutMs);
      const { rows } = await asker.ask({
        endpoint: { id, url, method },
        query,
        kind: "bindings",
        signal,
        ...answerBounds,
      });
      return asHarvest(url, rows);
    } finally {
      open -= 1;
    }
  }

  /** Undefined when too many questions are open. */
  function answerOf(entry: CatalogEntry, query: string): Promise<Harvest> | undefined {
    const key = `${entry.url} ${query}`;
    const known = kept.get(key);
    if (known !== undefined || open >= mostOpen) return known;
    const answer = ask(entry, query);
    kept.set(key, answer);
    answer.catch(() => kept.delete(key));
    return answer;
  }

  return {
    /** Entities whose label has all words of a text, best first. `unanswered` has the endpoints that failed. */
    async find({ text, endpoints, likely, isComplete, limit }: EngineRequest): Promise<EngineHits> {
      const ids = new Set(endpoints ?? [...likely, ...catalog.entries.map(({ id }) => id)]);
      const able = [...ids].flatMap((id) => {
        const [entry, search] = [catalog.byId(id), textSearchOf(id)];
        const query = search && textQuery(search, text, { limit: answerBounds.maxRows });
        return entry && query !== undefined && mayAsk(id) && !isComplete(id) ? [{ entry, query }] : [];
      });
      const index = createValueIndex();
      const asked = able.slice(0, mostAsked).map(async ({ entry, query }) => {
        try {
          const found = await answerOf(entry, query);
          index.set(entry.id, found);
          return found === undefined ? [entry.id] : [];
        } catch {
          return [entry.id];
        }
      });
      const unanswered = (await Promise.all(asked)).flat();
      // The engine finds by words; how like a label is to the text, our own index says.
      return { hits: await index.find({ texts: [text], limit }), unanswered };
    },
  };
}

/** An answer as if it had been harvested, so that one index finds in both. */
function asHarvest(endpoint: string, answer: WholeAnswer["rows"]): Harvest {
  const properties = new Set<string>();
  const rows = answer.flatMap((row): readonly HarvestRow[] => {
    const [subject, property, value] = [row.get("s"), row.get("p"), row.get("v")];
    if (subject?.termType !== "NamedNode" || property === undefined || value?.termType !== "Literal") return [];
    properties.add(property.value);
    return [[subject.value, literalText(value), -1, [...properties].indexOf(property.value), -1]];
  });
  const now = new Date().toISOString();
  const cost = { requests: 1, bytes: 0, ms: 0 };
  const lists = { classes: [], properties: [...properties], rows, whole: [] };
  return { endpoint, describedAt: now, harvestedAt: now, complete: false, ...lists, cost };
}
