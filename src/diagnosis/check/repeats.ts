import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { readTokens } from "./update-to-select.ts";
import { sizedByKey } from "../../cache-size.ts";

/** An earlier run of the same query. */
export interface EarlierRun {
  /** Runs of it so far. */
  readonly times: number;
  /** When the last of them began, ISO 8601. */
  readonly at: string;
  /** Id of its run record, where known. */
  readonly run?: string | undefined;
}

/** Owner of the query. */
export interface Asker {
  readonly owner: string;
  readonly session?: string | undefined;
  readonly query: string;
  readonly endpoint?: string | undefined;
  readonly federation?: string | undefined;
}

/**
 * Remembers which queries were run in a session: without one, clients of the same address cannot be distinguished. By a hash of their tokens: white space, comments and case of keywords do not count.
 */
export function createRepeats({ now }: { readonly now: () => number }) {
  const known = new LRUCache<string, EarlierRun>({ ...sizedByKey(4), ttl: 24 * 60 * 60 * 1000 });
  return {
    find: (asker: Asker): EarlierRun | undefined => (asker.session === undefined ? undefined : known.get(keyOf(asker))),
    remember(asker: Asker, run?: string): void {
      if (asker.session === undefined) return;
      const key = keyOf(asker);
      const times = (known.get(key)?.times ?? 0) + 1;
      known.set(key, { times, at: new Date(now()).toISOString(), run });
    },
  };
}

function keyOf({ owner, session = "", query, endpoint = "", federation = "" }: Asker): string {
  const hash = createHash("sha256");
  for (const part of [owner, session, endpoint, federation, normalised(query)]) hash.update(`${part.length}:${part}`);
  return hash.digest("base64url");
}

const normalised = (query: string): string =>
  readTokens(query)
    ?.map(({ text }) => text)
    .join(" ") ?? query;
