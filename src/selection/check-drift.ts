import type { Asker } from "../outbound/whole-answer.ts";
import { type Clock, every } from "../clock.ts";
import type { Catalog, CatalogEntry } from "../registry/catalog.ts";
import type { FactTable } from "./fact-table.ts";
import type { FollowedParts } from "./follow-facts.ts";

/** Options of the check. */
export interface DriftOptions extends Pick<FollowedParts, "onFault"> {
  readonly asker: Pick<Asker, "ask">;
  readonly catalog: Pick<Catalog, "entries" | "byId">;
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

const timeoutMs = 10_000;
const dayMs = 86_400_000;
const maxBytes = 10_000;
const countQuery = "SELECT (COUNT(*) AS ?count) WHERE { ?s ?p ?o }";

/**
 * Asks endpoints with facts, one after the other and again and again, how many triples they have. Another number than described
 * means that the data have changed: the facts go, and the endpoint is described anew. An endpoint that does not answer keeps
 * them until they are too old. One that could not be described anew at once, as its data change all the time, is asked for again. Of shards that this service
 * hosts the build is compared: another one is hosted before the catalogue says so.
 */
export function createDriftCheck(options: DriftOptions) {
  const { table, end, wrong, catalog, asker, isOwn, settings, clock, onFault } = options;
  const ending = new AbortController();
  /** When endpoints of others were looked at, by id. */
  const lookedMs = new Map<string, number>();
  let checking: ReturnType<typeof every> | undefined;

  async function check(): Promise<void> {
    for (const { id, url } of catalog.entries) {
      if (ending.signal.aborted) return;
      if (wrong.has(id)) end(id);
      else if (isOwn(url) || isNewDay(id)) await checkOne(id, url);
    }
  }

  function isNewDay(id: string): boolean {
    const now = clock.now();
    if (now - (lookedMs.get(id) ?? 0) < dayMs) return false;
    lookedMs.set(id, now);
    return true;
  }

  async function checkOne(id: string, url: string): Promise<void> {
    const facts = table.get(id, url);
    const endpoint = catalog.byId(id);
    if (facts?.triples === undefined || endpoint === undefined) return;
    const isOfBuild = table.isOfBuild(facts);
    const isSame = isOfBuild ?? ((await counted(endpoint)) ?? facts.triples) === facts.triples;
    // It may have been described meanwhile.
    if (!isSame && table.get(id, url) === facts) end(id);
  }

  async function counted(endpoint: Pick<CatalogEntry, "id" | "url" | "method">): Promise<number | undefined> {
    const { signal } = ending;
    const answer = await asker
      .ask({ endpoint, query: countQuery, signal, timeoutMs, maxBytes, maxRows: 1 })
      .catch(() => undefined);
    const count = answer?.rows[0]?.get("count")?.value;
    return count === undefined || answer?.partial !== undefined ? undefined : Number(count);
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
