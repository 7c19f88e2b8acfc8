import { FedwayError } from "../../../errors/fedway-error.ts";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import type { TermKind } from "../../model/schema.ts";
import { publishedKey } from "../../catalog/published/published-facts.ts";
import { plainText } from "../../../rdf/display-text.ts";
import { irisNamed, irisWritten, rankedEndpoints } from "./run-search.ts";
import type { SearchedTexts } from "../tables/texts.ts";
import type { EndpointStatus, EntryFilter, EntryHit, EntryPage, Match } from "../answers.ts";
import { fold } from "../words/words.ts";

/** Facts of an entry that filters compare. */
interface Listing {
  readonly state: SearchedTexts;
  readonly filter: EntryFilter;
  readonly statusOf: (id: string) => EndpointStatus;
  readonly wanted: readonly WantedTerm[];
}

/** A class or property that an entry must have; without an IRI where nothing known has such a name. */
interface WantedTerm {
  readonly kind: TermKind;
  readonly name: string;
  readonly iri?: string | undefined;
}

const mostListed = 1_000;

/**
 * Lists catalogue entries; with 20,000 of them each step takes some milliseconds.
 * @throws FedwayError `REQUEST_INVALID` for an ambiguous name
 */
export function* filterSteps(
  state: SearchedTexts,
  entries: readonly CatalogEntry[],
  { filter, statusOf }: { filter: EntryFilter; statusOf: (id: string) => EndpointStatus },
): Generator<void, EntryPage> {
  const wanted = [wantedTerm(state, "class", filter.class), wantedTerm(state, "property", filter.property)].flat();
  if (isAll(filter, wanted)) return allEntries(entries, filter, statusOf);
  const listing: Listing = { state, filter, statusOf, wanted };
  const described: EntryHit[] = [];
  const published: EntryHit[] = [];
  let undecided = 0;
  for (const { entry, why } of yield* orderedEntries(listing, entries)) {
    yield;
    const status = statusOf(entry.id);
    const plain = plainReasons(entry, status, filter);
    if (plain === undefined) continue;
    const has = wanted.map((term) => knownTerm(state, entry.id, term));
    const reasons = has.filter((each) => typeof each === "object");
    if (reasons.length === wanted.length) {
      const isDescribed = reasons.every(({ field }) => !field.startsWith("published"));
      const hit = {
        entry,
        status,
        /** Worked out for hits that are shown, not for the whole list. */
        get why() {
          return [...why(), ...plain, ...reasons];
        },
      };
      (isDescribed ? described : published).push(hit);
    } else if (!has.includes("no")) undecided++;
  }
  const hits = [...described, ...published];
  return {
    total: hits.length,
    hits: pageOf(hits, filter),
    undecided,
    ...Object.fromEntries(wanted.flatMap(({ kind, iri }) => (iri === undefined ? [] : [[kind, iri]]))),
  };
}

const isAll = ({ q = "", keyword, status, interface: face }: EntryFilter, wanted: readonly WantedTerm[]): boolean =>
  q.trim() === "" && wanted.length === 0 && keyword === undefined && status === undefined && face === undefined;

/** Looks only at the entries of the page: there may be 20,000. */
function allEntries(entries: readonly CatalogEntry[], filter: EntryFilter, statusOf: Listing["statusOf"]): EntryPage {
  const hits = pageOf(entries, filter).map((entry) => ({ entry, status: statusOf(entry.id), why: [] }));
  return { total: entries.length, hits, undecided: 0 };
}

function pageOf<Item>(items: readonly Item[], filter: EntryFilter): readonly Item[] {
  const limit = Math.min(mostListed, Math.max(1, Math.floor(filter.limit) || 1));
  const offset = Math.max(0, Math.floor(filter.offset) || 0);
  return items.slice(offset, offset + limit);
}

function wantedTerm(state: SearchedTexts, kind: TermKind, name: string | undefined): readonly WantedTerm[] {
  if (name === undefined || name.trim() === "") return [];
  const iris = irisNamed(state, kind, name);
  const [iri, second] = iris;
  if (second !== undefined) {
    throw new FedwayError(
      "REQUEST_INVALID",
      `The ${kind} name ${plainText(name, 100)} stands for ${iris.length} IRIs.`,
      {
        next: `Give one of them in full: ${iris
          .slice(0, 5)
          .map((each) => plainText(each, 200))
          .join(", ")}`,
      },
    );
  }
  return [{ kind, name, iri: iri ?? publishedIri(state, kind, name) }];
}

/** The IRI that a name is, where others have published it of an endpoint. */
const publishedIri = ({ models }: SearchedTexts, kind: TermKind, name: string): string | undefined =>
  irisWritten(name).find((iri) => models.published(kind, iri).next().done === false);

/** How it is known that an endpoint has a term: by its description, else by what others published. */
function knownTerm(state: SearchedTexts, id: string, term: WantedTerm): Match | "no" | "unknown" {
  const has = hasTerm(state, id, term);
  if (has === "yes") return reason(term);
  const published = state.models.get(id)?.published;
  if (has === "no" || term.iri === undefined || !published?.terms.has(publishedKey(term.kind, term.iri))) return has;
  return { field: `published ${term.kind}`, term: term.name, matched: `${term.iri} (${published.provenance})` };
}

const noReasons = (): readonly Match[] => [];

function* orderedEntries({ state, filter }: Listing, entries: readonly CatalogEntry[]) {
  if (filter.q === undefined || filter.q.trim() === "")
    return entries.values().map((entry) => ({ entry, why: noReasons }));
  const ranked = yield* rankedEndpoints(state, filter.q);
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  yield;
  return ranked.entries().flatMap(([id, why]) => {
    const entry = byId.get(id);
    return entry === undefined ? [] : [{ entry, why }];
  });
}

/** Reasons by what the entry itself says; undefined when it is not wanted. */
function plainReasons(entry: CatalogEntry, status: EndpointStatus, filter: EntryFilter): readonly Match[] | undefined {
  const why: Match[] = [];
  if (filter.keyword !== undefined) {
    const wanted = fold(filter.keyword.trim());
    const keyword = entry.keywords.find((each) => fold(each.trim()) === wanted);
    if (keyword === undefined) return undefined;
    why.push({ field: "keyword", term: filter.keyword, matched: keyword });
  }
  if (filter.status !== undefined) {
    if (status !== filter.status) return undefined;
    why.push({ field: "status", term: filter.status, matched: status });
  }
  if (filter.interface !== undefined) {
    if (entry.interface !== filter.interface) return undefined;
    why.push({ field: "interface", term: filter.interface, matched: entry.interface });
  }
  return why;
}

/** "unknown": there is no description, or one that does not prove its list complete. */
export function hasTerm(
  { models }: SearchedTexts,
  id: string,
  { kind, iri }: { readonly kind: TermKind; readonly iri?: string | undefined },
): "yes" | "no" | "unknown" {
  const described = models.get(id)?.described;
  if (iri !== undefined && described?.term(kind, iri) !== undefined) return "yes";
  const complete = kind === "class" ? described?.classesComplete : described?.propertiesComplete;
  return complete === true ? "no" : "unknown";
}

const reason = ({ kind, name, iri = "" }: WantedTerm): Match => ({ field: kind, term: name, matched: iri });
