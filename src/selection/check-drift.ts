import { type Clock, every } from "../clock.ts";
import type { Catalog, CatalogEntry } from "../registry/catalog.ts";
import type { FactTable } from "./fact-table.ts";
import type { FollowedParts } from "./follow-facts.ts";
import type { SourceVerifier } from "./source-verifier.ts";

/** Options of the check. */
export interface DriftOptions extends Pick<FollowedParts, "onFault"> {
  readonly verifier: Pick<SourceVerifier, "checkTriples">;
  readonly catalog: Pick<Catalog, "entries">;
  /** True for URLs of this process or of the operator's own network; others are asked once a day. */
  readonly isOwn: (url: string) => boolean;
  /** Milliseconds between the end of one look and the next, 0: none. */
  readonly settings: { readonly factsCheckMs: number };
  readonly table: Pick<FactTable, "get" | "isOfBuild">;
  /** Endpoints whose facts were found to be wrong, and which have not been described since. */
  readonly wrong: ReadonlySet<string>;
  /** Ends the facts of an endpoint, and has it described anew. */
  readonly end: (id: string) => void;
  readonly clock: Clock;
}

const dayMs = 86_400_000;

/**
 * Asks endpoints with facts, one after the other and again and again, how many triples they have, unless a query had them asked.
 * An endpoint that does not answer keeps its facts until they are too old; one that could not be described anew at once, as its
 * data change all the time, is asked for again. Of shards that this service hosts the build is compared: another one is hosted
 * before the catalogue says so.
 */
export function createDriftCheck(options: DriftOptions) {
  const { table, end, wrong, catalog, verifier, isOwn, settings, clock, onFault } = options;
  const ending = new AbortController();
  /** When endpoints of others were looked at, by id. */
  const lookedMs = new Map<string, number>();
  let checking: ReturnType<typeof every> | undefined;

  async function check(): Promise<void> {
    for (const entry of catalog.entries) {
      const { id, url } = entry;
      if (ending.signal.aborted) return;
      if (wrong.has(id)) end(id);
      else if (isOwn(url) || isNewDay(id)) await checkOne(entry);
    }
  }

  function isNewDay(id: string): boolean {
    const now = clock.now();
    if (now - (lookedMs.get(id) ?? 0) < dayMs) return false;
    lookedMs.set(id, now);
    return true;
  }

  async function checkOne({ id, url, method }: CatalogEntry): Promise<void> {
    const facts = table.get(id, url);
    if (facts?.triples === undefined) return;
    const isOfBuild = table.isOfBuild(facts);
    if (isOfBuild === false) end(id);
    else if (isOfBuild === undefined) await verifier.checkTriples({ id, url, method }, ending.signal);
  }

  return {
    check,
    start(): void {
      const { factsCheckMs } = settings;
      if (factsCheckMs > 0) checking ??= every(factsCheckMs, check, { clock, onFault, firstAfterMs: factsCheckMs });
    },
    async close(): Promise<void> {
      ending.abort();
      await checking?.stop();
    },
  };
}
