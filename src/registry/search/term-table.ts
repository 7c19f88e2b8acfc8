import { iriParts, nameWords, plainText } from "../schema/text.ts";
import { wellKnownPrefixes } from "../../rdf/well-known-prefixes.ts";
import type { FactStatus } from "../void/void-description.ts";
import type { TermUse } from "./search-index.ts";
import type { TextDocument } from "./text-index.ts";
import { fold } from "./words.ts";

/** A class or property. */
export interface Term {
  readonly key: string;
  readonly kind: "class" | "property";
  readonly iri: string;
  readonly label?: string | undefined;
}

/** A count without its provenance. */
export type UseCount = { readonly value: number; readonly status: FactStatus } | undefined;

/** Key of a class or property. */
export const termKey = (kind: Term["kind"], iri: string): string => `${kind === "class" ? "c" : "p"}:${iri}`;

interface Entry {
  readonly term: Term;
  readonly name: string;
  readonly users: Map<string, UseCount>;
  top?: readonly TermUse[] | undefined;
}

const mostTopUses = 20;

/** Local name without case, accents and separators. */
const foldedName = (local: string): string => fold(local).replace(/[^\p{L}\p{N}]+/gu, "");

/** Classes and properties, and the endpoints that have them. */
export class TermTable {
  readonly #entries = new Map<string, Entry>();
  readonly #byName = new Map<string, Set<string>>();
  #uses = 0;

  get terms(): number {
    return this.#entries.size;
  }

  /** Pairs of a term and an endpoint that has it. */
  get uses(): number {
    return this.#uses;
  }

  get(key: string): Term | undefined {
    return this.#entries.get(key)?.term;
  }

  all(): Iterable<Term> {
    return this.#entries.values().map(({ term }) => term);
  }

  /** Adds a term with its first endpoint, or one more endpoint. @returns true when the term is new */
  addUse(term: Term, endpoint: string, count: UseCount): boolean {
    const known = this.#entries.get(term.key);
    const entry = known ?? this.#insert(term);
    if (!entry.users.has(endpoint)) this.#uses++;
    entry.users.set(endpoint, count);
    entry.top = undefined;
    return known === undefined;
  }

  #insert(term: Term): Entry {
    const entry: Entry = { term, name: foldedName(iriParts(term.iri).local), users: new Map() };
    this.#entries.set(term.key, entry);
    const namesakes = this.#byName.get(entry.name);
    if (namesakes === undefined) this.#byName.set(entry.name, new Set([term.key]));
    else namesakes.add(term.key);
    return entry;
  }

  /** @returns the term when this was its last endpoint, which removes it */
  dropUse(key: string, endpoint: string): Term | undefined {
    const entry = this.#entries.get(key);
    if (!entry?.users.delete(endpoint)) return undefined;
    this.#uses--;
    entry.top = undefined;
    if (entry.users.size > 0) return undefined;
    this.#entries.delete(key);
    const namesakes = this.#byName.get(entry.name);
    namesakes?.delete(key);
    if (namesakes?.size === 0) this.#byName.delete(entry.name);
    return entry.term;
  }

  usedBy(key: string, endpoint: string): boolean {
    return this.endpointsOf(key).has(endpoint);
  }

  endpointsOf(key: string): ReadonlyMap<string, UseCount> {
    return this.#entries.get(key)?.users ?? nobody;
  }

  /** The endpoints with the largest counts, unknown last, ties by id; and their number. */
  topUses(key: string): { readonly top: readonly TermUse[]; readonly total: number } {
    const entry = this.#entries.get(key);
    if (entry === undefined) return { top: [], total: 0 };
    entry.top ??= largest(entry.users);
    return { top: entry.top, total: entry.users.size };
  }

  /** Keys of the terms with this local name, whatever its case, accents and separators. */
  named(name: string): readonly string[] {
    const folded = foldedName(name);
    return folded === "" ? [] : [...(this.#byName.get(folded) ?? [])].toSorted();
  }
}

const nobody: ReadonlyMap<string, UseCount> = new Map();

function largest(users: ReadonlyMap<string, UseCount>): readonly TermUse[] {
  return [...users]
    .toSorted(([left, few], [right, many]) => (many?.value ?? -1) - (few?.value ?? -1) || (left < right ? -1 : 1))
    .slice(0, mostTopUses)
    .map(([id, count]) => (count === undefined ? { id } : { id, count }));
}

/** Parts of IRIs that every other namespace has. */
const commonParts = new Set("http https www com org net purl w3 w3id ns ontology vocab rdf owl schema".split(" "));

/** Weights of the fields of `termDocument`. */
export const termWeights = { name: 4, label: 4, namespace: 0.5 } as const;

/** What a class or property is found by: the words of its local name (also joined), its label, its vocabulary. */
export function termDocument({ key, iri, label = "" }: Term): TextDocument {
  const { namespace, local } = iriParts(iri);
  const name = decoded(local).slice(0, 200);
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

function decoded(local: string): string {
  try {
    return decodeURIComponent(local);
  } catch {
    return local;
  }
}

/** Label, else local name, else IRI; one line of at most 120 characters. */
export function termTitle({ iri, label }: Term): string {
  return plainText(label ?? (iriParts(iri).local || iri), 120);
}
