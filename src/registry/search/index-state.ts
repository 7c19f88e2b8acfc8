import type { CatalogEntry } from "../catalog/catalog.ts";
import { iriParts } from "../schema/text.ts";
import { labelsOf } from "../void/term-texts.ts";
import type { Count, PropertyPartition, VoidDescription } from "../void/void-description.ts";
import type { DescriptionNotes, SearchLimits } from "./search-index.ts";
import { type Term, TermTable, termDocument, termKey, termWeights, type UseCount } from "./term-table.ts";
import { type TextDocument, TextIndex } from "./text-index.ts";

/** What is indexed of a description. */
export interface IndexedDescription {
  readonly version: string;
  /** Terms, classes first, most frequent first. */
  readonly keys: readonly string[];
  readonly classesComplete: boolean;
  readonly propertiesComplete: boolean;
  /** Terms that limits kept out. */
  readonly leftOut: number;
}

/** An endpoint of the index; either part may come first. */
interface IndexedEndpoint {
  readonly entry?: CatalogEntry | undefined;
  readonly described?: IndexedDescription | undefined;
}

/** The index's data. */
export interface IndexState {
  readonly endpoints: Map<string, IndexedEndpoint>;
  readonly table: TermTable;
  readonly endpointText: TextIndex;
  readonly termText: TextIndex;
  readonly limits: SearchLimits;
}

/** Weights of the fields of an endpoint's document. */
const endpointWeights = { id: 5, title: 4, keywords: 3, description: 2, notes: 1, terms: 0.5 } as const;

/** Fields that the operator wrote. */
export const ownFields: readonly string[] = ["id", "title", "keywords", "description", "notes"];

/** A state without documents. */
export function createState(limits: SearchLimits): IndexState {
  return {
    endpoints: new Map(),
    table: new TermTable(),
    endpointText: new TextIndex(endpointWeights),
    termText: new TextIndex(termWeights),
    limits,
  };
}

const longestText = 2_000;
const mostListed = 50;
/** Classes, and as many properties, whose names an endpoint is found by. */
const mostNames = 150;

const listText = (values: readonly string[]): string => values.slice(0, mostListed).join(" \n ").slice(0, longestText);

/** What an endpoint is found by. */
function endpointDocument(state: IndexState, entry: CatalogEntry): TextDocument {
  const keys = state.endpoints.get(entry.id)?.described?.keys ?? [];
  const ofKind = (kind: Term["kind"]) => keys.filter((key) => key.startsWith(termKey(kind, ""))).slice(0, mostNames);
  const names = [...ofKind("class"), ...ofKind("property")].map((key) => iriParts(key).local.slice(0, 100));
  return {
    key: entry.id,
    fields: {
      id: entry.id,
      title: entry.title.slice(0, longestText),
      keywords: listText(entry.keywords),
      description: (entry.description ?? "").slice(0, longestText),
      notes: listText(entry.notes),
      terms: names.join(" "),
    },
  };
}

/** Changes what is known of an endpoint, with its document taken out before and put back after. */
function changeEndpoint(state: IndexState, id: string, change: () => IndexedEndpoint): void {
  const before = state.endpoints.get(id);
  if (before?.entry !== undefined) state.endpointText.remove(endpointDocument(state, before.entry));
  const after = change();
  if (after.entry === undefined && after.described === undefined) state.endpoints.delete(id);
  else state.endpoints.set(id, after);
  if (after.entry !== undefined) state.endpointText.add(endpointDocument(state, after.entry));
}

/** Sets or, with undefined, removes an entry. */
export function putEntry(state: IndexState, id: string, entry: CatalogEntry | undefined): void {
  const before = state.endpoints.get(id);
  if (before?.entry === entry) return;
  const described = before?.described;
  changeEndpoint(state, id, () => ({ entry, described }));
}

/** Removes a description and the terms that no other endpoint has. */
export function dropDescription(state: IndexState, id: string): void {
  const before = state.endpoints.get(id);
  if (before?.described === undefined) return;
  const { keys } = before.described;
  changeEndpoint(state, id, () => (before.entry === undefined ? {} : { entry: before.entry }));
  for (const key of keys) dropUse(state, key, id);
}

/** Indexes a description in place of the one before; terms that stay are not touched but for their counts. */
export function putDescription(
  state: IndexState,
  description: VoidDescription,
  how: { id: string } & DescriptionNotes,
): void {
  const { id } = how;
  const before = state.endpoints.get(id);
  const wanted = termsOf(description);
  const kept = new Set(wanted.map(({ term }) => term.key));
  for (const key of before?.described?.keys ?? []) if (!kept.has(key)) dropUse(state, key, id);
  const taken = wanted
    .slice(0, state.limits.termsPerEndpoint)
    .filter(({ term, count }) => takeTerm(state, term, { id, count }));
  // Terms beyond the limits were perhaps within them before.
  const takenKeys = new Set(taken.map(({ term }) => term.key));
  for (const key of kept) if (!takenKeys.has(key)) dropUse(state, key, id);
  const leftOut = wanted.length - taken.length + longNames(description);
  const described: IndexedDescription = {
    version: how.version ?? description.finishedAt,
    keys: [...takenKeys],
    classesComplete: description.classesComplete && leftOut === 0,
    propertiesComplete: description.propertiesComplete && leftOut === 0,
    leftOut,
  };
  changeEndpoint(state, id, () => ({ ...(before?.entry && { entry: before.entry }), described }));
}

/** Adds a term of an endpoint. @returns false when a limit keeps it out */
export function takeTerm(
  { table, termText, limits }: IndexState,
  term: Term,
  use: { id: string; count: UseCount },
): boolean {
  const isKnown = table.get(term.key) !== undefined;
  if (!isKnown && table.terms >= limits.terms) return false;
  if (!table.usedBy(term.key, use.id) && table.uses >= limits.uses) return false;
  if (table.addUse(term, use.id, use.count)) termText.add(termDocument(term));
  return true;
}

function dropUse({ table, termText }: IndexState, key: string, id: string): void {
  const gone = table.dropUse(key, id);
  if (gone !== undefined) termText.remove(termDocument(gone));
}

const longestIri = 2_048;
const longestLabel = 200;

interface CountedTerm {
  readonly term: Term;
  readonly count: UseCount;
}

/** Classes, then properties, of a description, each once; IRIs beyond 2,048 characters are left out. */
function termsOf(description: VoidDescription): readonly CountedTerm[] {
  const labels = labelsOf(description);
  const found = new Map<string, CountedTerm>();
  const take = (kind: Term["kind"], iri: string, count: Count | undefined): void => {
    const key = termKey(kind, iri);
    if (iri.length > longestIri || found.has(key)) return;
    const label = labels.get(iri)?.slice(0, longestLabel);
    const term: Term = { key, kind, iri, label };
    found.set(key, { term, count: count && { value: count.value, status: count.status } });
  };
  for (const { class: iri, entities } of description.classPartitions) take("class", iri, entities);
  for (const { property, triples } of description.propertyPartitions) take("property", property, triples);
  // Counts within one class are no counts of the whole dataset.
  for (const { property } of propertiesOfClasses(description)) take("property", property, undefined);
  return [...found.values()];
}

const propertiesOfClasses = ({ classPartitions }: VoidDescription): readonly PropertyPartition[] =>
  classPartitions.flatMap(({ properties }) => properties);

function longNames(description: VoidDescription): number {
  const iris = [
    ...description.classPartitions.map((partition) => partition.class),
    ...description.propertyPartitions.map((partition) => partition.property),
    ...propertiesOfClasses(description).map((partition) => partition.property),
  ];
  return new Set(iris.filter((iri) => iri.length > longestIri)).size;
}
