import { setImmediate } from "node:timers/promises";
import { FedwayError } from "../errors/fedway-error.ts";
import type { CatalogDocument, CatalogEntry, Federation } from "../registry/catalog/catalog.ts";
import { splitOver } from "../registry/schema/split-classes.ts";
import { oneSentence } from "../registry/schema/one-sentence.ts";
import type { EndpointStatus } from "../registry/search/search-index.ts";
import type { HttpDeps } from "./http-deps.ts";

type Kind = CatalogDocument["kind"];
type Named = CatalogEntry | Federation;

/** What an endpoint is about, and whether it was Fedway that said so. */
export interface EntryDescription {
  readonly text: string;
  readonly generated: boolean;
}

/** Entries and federations as the JSON API shows them. */
export type CatalogView = ReturnType<typeof createCatalogView>;

/** A view that remembers what costs time to find out, by the entry or description it was found out from. */
export function createCatalogView(deps: Pick<HttpDeps, "catalog" | "descriptions" | "models" | "search">) {
  const { catalog, search } = deps;
  const originOf = createOrigins(catalog);
  const sentenceOf = createSentences(deps);

  const entry = async (shown: CatalogEntry, status?: EndpointStatus): Promise<object> => {
    const { description = await sentenceOf(shown) } = shown;
    const isGenerated = shown.description === undefined && description !== undefined;
    const statusNow = (): EndpointStatus | undefined =>
      search.filterEntries({ entries: [shown] }, { limit: 1, offset: 0 }).hits[0]?.status;
    return {
      ...shown,
      description,
      descriptionGenerated: isGenerated || undefined,
      query: `/endpoints/${shown.id}/sparql`,
      status: status ?? statusNow() ?? "unknown",
      ...(await originOf("endpoint", shown)),
    };
  };
  /** With `whole`, also who its members are. */
  const federation = async (shown: Federation, whole: boolean): Promise<object> => {
    const endpoints = catalog.membersOf(shown);
    return {
      ...shown,
      query: `/federations/${shown.id}/sparql`,
      endpointsTotal: endpoints.length,
      endpoints: whole ? endpoints.map(({ id, title }) => ({ id, title })) : undefined,
      split: whole ? splitOver(endpoints, deps) : undefined,
      missing: shown.members.filter((id) => catalog.byId(id) === undefined),
      ...(await originOf("federation", shown)),
    };
  };
  return {
    entry,
    federation,
    /** The whole of what has this id; undefined when nothing has. */
    async document(kind: Kind, id: string): Promise<object | undefined> {
      const found = named(catalog, kind, id);
      if (found === undefined) return undefined;
      return "members" in found ? federation(found, true) : entry(found);
    },
    /** The operator's own description, else one made from what is known of the data. */
    async description(of: CatalogEntry): Promise<EntryDescription | undefined> {
      if (of.description !== undefined) return { text: of.description, generated: false };
      const text = await sentenceOf(of);
      return text === undefined ? undefined : { text, generated: true };
    },
  };
}

const named = (catalog: HttpDeps["catalog"], kind: Kind, id: string): Named | undefined =>
  kind === "endpoint" ? catalog.byId(id) : catalog.federation(id);

/**
 * Who said something, and when. The catalogue parses a document to tell, so this is asked once an entry; entries are
 * replaced, never changed.
 */
function createOrigins(catalog: HttpDeps["catalog"]) {
  const known = new WeakMap<Named, object>();
  return async (kind: Kind, shown: Named): Promise<object> => {
    const found = known.get(shown);
    if (found !== undefined) return found;
    // Many in a row would keep others waiting.
    await setImmediate();
    const document = catalog.document(kind, shown.id);
    if (document === undefined) return {};
    const { origin, changedAt } = document;
    const told = { origin, changedAt };
    if (named(catalog, kind, shown.id) === shown) known.set(shown, told);
    return told;
  };
}

const maxSentences = 10_000;

/** Sentences for endpoints whose operator gave none, from what is known of their data. */
function createSentences({ descriptions, search }: Pick<HttpDeps, "descriptions" | "search">) {
  const known = new Map<
    string,
    { readonly entry: CatalogEntry; readonly version: string; readonly text: string | undefined }
  >();
  return async (entry: CatalogEntry): Promise<string | undefined> => {
    const version = search.descriptionVersion(entry.id);
    if (version === undefined) return undefined;
    const before = known.get(entry.id);
    if (before?.version === version && before.entry === entry) return before.text;
    const description = await descriptions.get(entry.id).catch(withoutDescription);
    if (description === undefined) return undefined;
    const text = oneSentence(description, entry);
    if (known.size >= maxSentences) known.clear();
    known.set(entry.id, { entry, version, text });
    return text;
  };
}

/** The list is worth more than its generated sentences. */
function withoutDescription(error: unknown): undefined {
  if (!(error instanceof FedwayError)) throw error;
}
