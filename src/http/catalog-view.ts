import { setImmediate } from "node:timers/promises";
import { FedwayError } from "../errors/fedway-error.ts";
import type { CatalogDocument, CatalogEntry, Federation } from "../registry/catalog/catalog.ts";
import { describeInOneSentence } from "../registry/schema/one-sentence.ts";
import type { EndpointStatus } from "../registry/search/search-index.ts";
import type { HttpDeps } from "./http-deps.ts";

type Named = CatalogEntry | Federation;

/** What an endpoint is about, and whether it was Fedway that said so. */
export interface EntryDescription {
  readonly text: string;
  readonly generated: boolean;
}

/** Entries and federations as the JSON API shows them. */
export interface CatalogView {
  entry(entry: CatalogEntry, status?: EndpointStatus): Promise<object>;
  /** The operator's own description, else one made from what is known of the data. */
  description(entry: CatalogEntry): Promise<EntryDescription | undefined>;
  /** With `whole`, also who its members are. */
  federation(federation: Federation, whole: boolean): Promise<object>;
}

/** A view that remembers what costs time to find out, by the entry or description it was found out from. */
export function createCatalogView(deps: Pick<HttpDeps, "catalog" | "descriptions" | "search">): CatalogView {
  const { catalog, search } = deps;
  const originOf = createOrigins(catalog);
  const sentenceOf = createSentences(deps);
  return {
    async entry(entry, status) {
      const { description = await sentenceOf(entry) } = entry;
      return {
        ...entry,
        ...(description !== undefined && { description }),
        ...(entry.description === undefined && description !== undefined && { descriptionGenerated: true }),
        query: `/endpoints/${entry.id}/sparql`,
        status:
          status ?? search.filterEntries({ entries: [entry] }, { limit: 1, offset: 0 }).hits[0]?.status ?? "unknown",
        ...(await originOf("endpoint", entry)),
      };
    },
    async description(entry) {
      if (entry.description !== undefined) return { text: entry.description, generated: false };
      const text = await sentenceOf(entry);
      return text === undefined ? undefined : { text, generated: true };
    },
    async federation(federation, whole) {
      const endpoints = catalog.membersOf(federation);
      const missing = federation.members.filter((id) => catalog.byId(id) === undefined);
      return {
        ...federation,
        query: `/federations/${federation.id}/sparql`,
        endpointsTotal: endpoints.length,
        ...(whole && { endpoints: endpoints.map(({ id, title }) => ({ id, title })) }),
        missing,
        ...(await originOf("federation", federation)),
      };
    },
  };
}

type Origins = (
  kind: CatalogDocument["kind"],
  named: Named,
) => Promise<Partial<Pick<CatalogDocument, "origin" | "changedAt">>>;

/** The catalogue parses a document to tell, so this is asked once an entry; entries are replaced, never changed. */
function createOrigins(catalog: HttpDeps["catalog"]): Origins {
  const known = new WeakMap<Named, Awaited<ReturnType<Origins>>>();
  return async (kind, named) => {
    const found = known.get(named);
    if (found !== undefined) return found;
    // Many in a row would keep others waiting.
    await setImmediate();
    const document = catalog.document(kind, named.id);
    if (document === undefined) return {};
    const { origin, changedAt } = document;
    const shown = { origin, ...(changedAt !== undefined && { changedAt }) };
    const isCurrent = (kind === "endpoint" ? catalog.byId(named.id) : catalog.federation(named.id)) === named;
    if (isCurrent) known.set(named, shown);
    return shown;
  };
}

const maxSentences = 10_000;

/** Sentences for endpoints whose operator gave none, from what is known of their data. */
function createSentences({
  descriptions,
  search,
}: Pick<HttpDeps, "descriptions" | "search">): (entry: CatalogEntry) => Promise<string | undefined> {
  const known = new Map<string, { readonly entry: CatalogEntry; readonly version: string; readonly text?: string }>();
  return async (entry) => {
    const version = search.descriptionVersion(entry.id);
    if (version === undefined) return undefined;
    const before = known.get(entry.id);
    if (before?.version === version && before.entry === entry) return before.text;
    const description = await descriptions.get(entry.id).catch(withoutDescription);
    if (description === undefined) return undefined;
    const text = describeInOneSentence(description, entry)?.text;
    if (known.size >= maxSentences) known.clear();
    known.set(entry.id, { entry, version, ...(text !== undefined && { text }) });
    return text;
  };
}

/** The list is worth more than its generated sentences. */
function withoutDescription(error: unknown): undefined {
  if (!(error instanceof FedwayError)) throw error;
}
