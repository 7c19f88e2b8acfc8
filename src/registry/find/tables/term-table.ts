import type { KnownTerm, TermKind } from "../../model/schema.ts";
import { decodedName, iriParts, plainText } from "../../../rdf/display-text.ts";
import { wellKnownPrefixes } from "../../../rdf/well-known-prefixes.ts";
import type { TermUse } from "../answers.ts";
import type { TextDocument } from "./text-index.ts";
import { foldedName, nameWords } from "../words/words.ts";

/** A class or property. */
export interface Term extends Omit<KnownTerm, "count"> {
  readonly key: string;
}

/** Key of a class or property. */
export const termKey = (kind: TermKind, iri: string): string => `${kind === "class" ? "c" : "p"}:${iri}`;

/** Which endpoints have a class or property, and how often. */
export interface TermUsers {
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
export const termWeights = { name: 4, label: 4, namespace: 0.5 } as const;

/** Searchable text of a class or property: the words of its local name (also joined), its label, its vocabulary. */
export function termDocument({ key, iri, label = "" }: Term): TextDocument {
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
