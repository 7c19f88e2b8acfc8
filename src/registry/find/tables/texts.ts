import { setImmediate as nextTurn } from "node:timers/promises";
import type { EndpointModel, EndpointModels } from "../../model/endpoint-models.ts";
import type { TermKind } from "../../model/schema.ts";
import { type PublishedFacts, publishedKey } from "../../catalog/published/published-facts.ts";
import { decodedName, iriParts, plainText } from "../../../rdf/display-text.ts";
import type { TermUse, WantedTerm } from "../answers.ts";
import { type TextDocument, TextIndex } from "./text-index.ts";
import { wellKnownPrefixes } from "../../../rdf/well-known-prefixes.ts";
import { foldedName, nameWords } from "../words/words.ts";

/** Classes and properties, by name and by text. */
interface TermTexts {
  readonly table: TermTable;
  readonly termText: TextIndex;
}

/** Names and texts of endpoints and of their classes and properties, over what the models know. */
export interface SearchedTexts extends TermTexts {
  readonly models: EndpointModels;
  readonly endpointText: TextIndex;
  /** Published texts of endpoints without a description. */
  readonly published: PublishedTexts;
}

/** Weights of the fields of an endpoint's document. */
const endpointWeights = { id: 5, title: 4, keywords: 3, description: 2, notes: 1, terms: 0.5 } as const;

/** Fields that the operator wrote. */
export const ownFields: readonly string[] = ["id", "title", "keywords", "description", "notes"];

const termTexts = (users: TermUsers): TermTexts => ({
  table: new TermTable(users),
  termText: new TextIndex(termWeights),
});

/** Texts over these models; `updateTexts` keeps them so. */
export function createTexts(models: EndpointModels): SearchedTexts {
  return {
    models,
    endpointText: new TextIndex(endpointWeights),
    ...termTexts({
      ids: (kind, iri) => models.described(kind, iri),
      use(id, kind, iri) {
        const found = models.get(id)?.described?.term(kind, iri);
        return found && { id, ...(found.count && { count: found.count }) };
      },
    }),
    published: new PublishedTexts(models),
  };
}

/** Takes in that a model's entry, description or published facts have changed. */
export function updateTexts(
  texts: SearchedTexts,
  id: string,
  { after, before }: { readonly after: EndpointModel | undefined; readonly before: EndpointModel | undefined },
): void {
  const [gone, come] = [endpointDocument(before), endpointDocument(after)];
  if (gone) texts.endpointText.remove(gone);
  if (come) texts.endpointText.add(come);
  const [former, described] = [before, after].map((model) => model?.described);
  if (described !== former) updateTerms(texts, described?.terms(), former?.terms());
  texts.published.changed(id);
}

type Terms = Iterable<NamedTerm> | undefined;

function updateTerms({ table, termText }: TermTexts, after: Terms, before: Terms): void {
  for (const { kind, iri } of before ?? []) {
    const gone = table.drop(termKey(kind, iri));
    if (gone !== undefined) termText.remove(termDocument(gone));
  }
  for (const { kind, iri, label } of after ?? []) {
    const term = { key: termKey(kind, iri), kind, iri, label };
    if (table.add(term)) termText.add(termDocument(term));
  }
}

/** Published terms, indexed at the first search that wants them: that takes 300 ms, and most processes never do. */
class PublishedTexts implements TermTexts {
  readonly table: TermTable;
  readonly termText = new TextIndex(termWeights);
  readonly #models: EndpointModels;
  readonly #users: TermUsers;
  /** Of each endpoint, as they are indexed. */
  readonly #held = new Map<string, PublishedFacts["terms"]>();
  #read: Promise<void> | undefined;

  constructor(models: EndpointModels) {
    this.#models = models;
    this.#users = {
      ids: (kind, iri) => [...models.published(kind, iri)].filter((id) => models.get(id)?.described === undefined),
      use(id, kind, iri) {
        const { described, published } = models.get(id) ?? {};
        const found = described === undefined ? published?.terms.get(publishedKey(kind, iri)) : undefined;
        if (found === undefined || published === undefined) return undefined;
        const count = found.count === undefined ? {} : { count: { value: found.count, status: "claimed" as const } };
        return { id, published: published.provenance, ...count };
      },
    };
    this.table = new TermTable(this.#users);
  }

  /** Endpoints of which others have published a term, indexed or not. */
  usesOf({ kind, iri }: WantedTerm): readonly TermUse[] {
    return [...this.#users.ids(kind, iri)].flatMap((id) => this.#users.use(id, kind, iri) ?? []);
  }

  /** Resolves when all are indexed; one endpoint a turn. */
  read(): Promise<void> {
    this.#read ??= this.#readAll();
    return this.#read;
  }

  async #readAll(): Promise<void> {
    for (const { id } of this.#models.all()) {
      await nextTurn();
      this.#take(id);
    }
  }

  changed(id: string): void {
    if (this.#read !== undefined) this.#take(id);
  }

  #take(id: string): void {
    const { described, published } = this.#models.get(id) ?? {};
    const now = described === undefined ? published?.terms : undefined;
    const before = this.#held.get(id);
    if (now === before) return;
    if (now === undefined) this.#held.delete(id);
    else this.#held.set(id, now);
    updateTerms(this, now?.values(), before?.values());
  }
}

const longestText = 2_000;
const mostListed = 50;
/** Classes, and as many properties, whose names an endpoint is found by. */
const mostNames = 150;

const listText = (values: readonly string[]): string => values.slice(0, mostListed).join(" \n ").slice(0, longestText);

/** Searchable text of an endpoint. */
function endpointDocument(model: EndpointModel | undefined): TextDocument | undefined {
  if (model?.entry === undefined) return undefined;
  const { id, entry, described } = model;
  const namesOf = (kind: TermKind): readonly string[] =>
    [...(described?.terms(kind) ?? [])].slice(0, mostNames).map(({ iri }) => iriParts(iri).local.slice(0, 100));
  return {
    key: id,
    fields: {
      id,
      title: entry.title.slice(0, longestText),
      keywords: listText(entry.keywords),
      description: (entry.description ?? "").slice(0, longestText),
      notes: listText(entry.notes),
      terms: [...namesOf("class"), ...namesOf("property")].join(" "),
    },
  };
}

/** A class or property. */
interface NamedTerm {
  readonly kind: TermKind;
  readonly iri: string;
  readonly label?: string | undefined;
}

/** The same in an index. */
export interface Term extends NamedTerm {
  readonly key: string;
}

/** Key of a class or property. */
export const termKey = (kind: TermKind, iri: string): string => `${kind === "class" ? "c" : "p"}:${iri}`;

/** Which endpoints have a class or property, and how often. */
interface TermUsers {
  ids(kind: TermKind, iri: string): readonly string[];
  use(id: string, kind: TermKind, iri: string): TermUse | undefined;
}

interface Entry {
  readonly term: Term;
  readonly name: string;
  top?: readonly TermUse[] | undefined;
}

/** Endpoints that are named of a term. */
export const mostTopUses = 20;

/** Classes and properties by their names. */
export class TermTable {
  readonly #users: TermUsers;
  readonly #entries = new Map<string, Entry>();
  readonly #byName = new Map<string, Set<string>>();

  constructor(users: TermUsers) {
    this.#users = users;
  }

  get(key: string): Term | undefined {
    return this.#entries.get(key)?.term;
  }

  /** Notes a term that an endpoint is described with now. @returns true when the term is new */
  add(term: Term): boolean {
    const known = this.#entries.get(term.key);
    if (known !== undefined) known.top = undefined;
    else this.#insert(term);
    return known === undefined;
  }

  #insert(term: Term): void {
    const entry: Entry = { term, name: foldedName(iriParts(term.iri).local) };
    this.#entries.set(term.key, entry);
    const namesakes = this.#byName.get(entry.name);
    if (namesakes === undefined) this.#byName.set(entry.name, new Set([term.key]));
    else namesakes.add(term.key);
  }

  /** Notes that an endpoint is not described with a term any more. @returns the term when no endpoint is, which removes it */
  drop(key: string): Term | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.top = undefined;
    if (this.endpointsOf(key).length > 0) return undefined;
    this.#entries.delete(key);
    const namesakes = this.#byName.get(entry.name);
    namesakes?.delete(key);
    if (namesakes?.size === 0) this.#byName.delete(entry.name);
    return entry.term;
  }

  usedBy(key: string, endpoint: string): boolean {
    const { term } = this.#entries.get(key) ?? {};
    return term !== undefined && this.#users.use(endpoint, term.kind, term.iri) !== undefined;
  }

  endpointsOf(key: string): readonly string[] {
    const { term } = this.#entries.get(key) ?? {};
    return term === undefined ? [] : this.#users.ids(term.kind, term.iri);
  }

  /** The endpoints with the largest counts, unknown last, ties by id; and their number. */
  topUses(key: string): { readonly top: readonly TermUse[]; readonly total: number } {
    const entry = this.#entries.get(key);
    if (entry === undefined) return { top: [], total: 0 };
    const { kind, iri } = entry.term;
    const ids = this.endpointsOf(key);
    entry.top ??= largest(ids.flatMap((id) => this.#users.use(id, kind, iri) ?? []));
    return { top: entry.top, total: ids.length };
  }

  /** Keys of the terms with this local name, whatever its case, accents and separators. */
  named(name: string): readonly string[] {
    const folded = foldedName(name);
    return folded === "" ? [] : [...(this.#byName.get(folded) ?? [])].toSorted();
  }
}

const largest = (uses: readonly TermUse[]): readonly TermUse[] =>
  uses
    .toSorted((one, other) => (other.count?.value ?? -1) - (one.count?.value ?? -1) || (one.id < other.id ? -1 : 1))
    .slice(0, mostTopUses);

/** Parts of IRIs that every other namespace has. */
const commonParts = new Set("http https www com org net purl w3 w3id ns ontology vocab rdf owl schema".split(" "));

/** Weights of the fields of `termDocument`. */
const termWeights = { name: 4, label: 4, namespace: 0.5 } as const;

/** Searchable text of a class or property: the words of its local name (also joined), its label, its vocabulary. */
function termDocument({ key, iri, label = "" }: Term): TextDocument {
  const { namespace, local } = iriParts(iri);
  const name = decodedName(local).slice(0, 200);
  const joined = nameWords(name).length > 1 ? name.replace(/[^\p{L}\p{N}]+/gu, "") : "";
  const vocabulary = namespace
    .slice(0, 200)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part.length > 1 && !/^\d+$/.test(part) && !commonParts.has(part.toLowerCase()));
  const prefix = wellKnownPrefixes.get(namespace) ?? "";
  return {
    key,
    fields: {
      name: joined === name ? name : `${name} ${joined}`,
      label: label.slice(0, 200),
      namespace: `${prefix} ${vocabulary.join(" ")}`,
    },
  };
}

/** Label, else local name, else IRI; one line of at most 120 characters. */
export function termTitle({ iri, label }: Term): string {
  return plainText(label ?? (iriParts(iri).local || iri), 120);
}
