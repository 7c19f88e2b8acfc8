import type { Quad, Term } from "@rdfjs/types";
import { Type } from "typebox";
import { fedway, vocabularyPrefixes, xsd } from "../../rdf/vocabularies.ts";

/** Why a description is refused; `about` is the text in the file that the reason is about. */
export class EntryProblem extends Error {
  override readonly name = "EntryProblem";
  readonly about: string | undefined;

  constructor(reason: string, about?: string) {
    super(reason);
    this.about = about;
  }
}

/** Statements of a document about one subject: objects by predicate. */
export type Statements = ReadonlyMap<string, readonly Term[]>;

/** A misspelt Fedway term would otherwise be a setting that silently does nothing. */
export function refuseUnknownTerms(statements: Statements, terms: ReadonlySet<string>): void {
  for (const predicate of statements.keys()) {
    if (!predicate.startsWith(fedway.namespace) || terms.has(predicate)) continue;
    const name = predicate.slice(fedway.namespace.length);
    throw new EntryProblem(`fedway:${name} is not a term of the Fedway vocabulary that belongs here.`, name);
  }
}

/** An IRI with its usual prefix, e.g. `dcterms:title`, or as it is. */
export function shortName(iri: string): string {
  const end = Math.max(iri.lastIndexOf("#"), iri.lastIndexOf("/")) + 1;
  const prefix = vocabularyPrefixes.get(iri.slice(0, end));
  return prefix === undefined ? iri : `${prefix}:${iri.slice(end)}`;
}

const maxTextLength = 2_000;

/** The statements about one subject. */
export function statementsAbout(subject: Term, quads: readonly Quad[]): Statements {
  const statements = new Map<string, Term[]>();
  for (const quad of quads) {
    if (quad.subject.value !== subject.value || quad.subject.termType !== subject.termType) continue;
    const known = statements.get(quad.predicate.value);
    if (known === undefined) statements.set(quad.predicate.value, [quad.object]);
    else known.push(quad.object);
  }
  return statements;
}

/** All objects of a property. */
export function values(statements: Statements, iri: string): readonly Term[] {
  return statements.get(iri) ?? [];
}

/** The one object of a property, if there is one. @throws EntryProblem for several */
export function single(statements: Statements, iri: string): Term | undefined {
  const [term, second] = values(statements, iri);
  if (second !== undefined) throw new EntryProblem(`${shortName(iri)} is given more than once.`, second.value);
  return term;
}

/** The text of a property; of several languages English, else the first. */
export function text(statements: Statements, iri: string): string | undefined {
  const terms = values(statements, iri);
  const languages = terms.map((term) => (term.termType === "Literal" ? term.language.toLowerCase() : undefined));
  if (languages.includes(undefined)) throw new EntryProblem(`${shortName(iri)} is not a literal.`);
  if (new Set(languages).size < languages.length) throw new EntryProblem(`${shortName(iri)} is given more than once.`);
  const english = languages.findIndex((language) => language === "" || language === "en");
  const chosen = terms[Math.max(english, 0)];
  return chosen && shortText(chosen, iri);
}

/** The texts of a property that may be repeated, in the document's order. */
export function texts(statements: Statements, iri: string): readonly string[] {
  return Object.freeze(values(statements, iri).map((term) => shortText(term, iri)));
}

function shortText(term: Term, iri: string): string {
  if (term.termType !== "Literal") throw new EntryProblem(`${shortName(iri)} is not a literal.`, term.value);
  const chosen = term.value.trim();
  if (chosen === "") throw new EntryProblem(`${shortName(iri)} is empty.`);
  if (chosen.length <= maxTextLength) return chosen;
  throw new EntryProblem(`${shortName(iri)} is longer than ${maxTextLength} characters.`);
}

/** A link that pages may show: nothing but http and https gets there. */
export function link(statements: Statements, iri: string): string | undefined {
  const [term] = values(statements, iri);
  if (term === undefined || (term.termType === "NamedNode" && /^https?:\/\//i.test(term.value))) return term?.value;
  throw new EntryProblem(`${shortName(iri)} is not an http or https IRI.`, term.value);
}

/** The IRIs of a property. */
export function iris(statements: Statements, iri: string): readonly string[] {
  return Object.freeze(
    values(statements, iri).map((term) => {
      if (term.termType === "NamedNode") return term.value;
      throw new EntryProblem(`${shortName(iri)} is not an IRI.`, term.value);
    }),
  );
}

/** True or false; false when it is not said. */
export function flag(statements: Statements, iri: string): boolean {
  const [term, second] = values(statements, iri);
  if (term === undefined) return false;
  const isBoolean = term.termType === "Literal" && term.datatype.value === xsd.boolean;
  if (second !== undefined || !isBoolean || !/^(true|false|0|1)$/.test(term.value)) {
    throw new EntryProblem(`${shortName(iri)} is not one of true and false.`, localName(iri));
  }
  return term.value === "true" || term.value === "1";
}

/** A whole number above zero. */
export function count(statements: Statements, iri: string): number | undefined {
  const [term, second] = values(statements, iri);
  if (term === undefined) return undefined;
  const isInteger = term.termType === "Literal" && term.datatype.value === xsd.integer;
  if (second === undefined && isInteger && /^\+?0*[1-9][0-9]{0,14}$/.test(term.value)) return Number(term.value);
  throw new EntryProblem(`${shortName(iri)} is not one whole number above zero.`, localName(iri));
}

/** One of a closed set of words. */
export function choice<Word extends string>(
  statements: Statements,
  iri: string,
  words: readonly Word[],
): Word | undefined {
  const terms = values(statements, iri);
  if (terms.length === 0) return undefined;
  const word = terms[0]?.termType === "Literal" ? words.find((each) => each === terms[0]?.value) : undefined;
  if (word !== undefined && terms.length === 1) return word;
  throw new EntryProblem(`${shortName(iri)} is not one of ${words.map(quote).join(", ")}.`, localName(iri));
}

const idPattern = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** True if a text can be the id of an entry or federation. */
export const isCatalogId = (id: string): boolean => idPattern.test(id);

/** The same as a schema. */
export const catalogId = Type.String({ pattern: idPattern });

/** `dcterms:identifier`. */
export function identifier(statements: Statements, iri: string): string {
  const id = single(statements, iri);
  if (id === undefined) throw new EntryProblem(`${shortName(iri)} is missing.`);
  if (id.termType !== "Literal") throw new EntryProblem(`${shortName(iri)} is not a literal.`);
  if (isCatalogId(id.value)) return id.value;
  throw new EntryProblem(
    `${shortName(iri)} ${quote(id.value)} is not a lower-case name of at most 64 letters, digits, ".", "_" and "-" that starts with a letter or digit.`,
    id.value,
  );
}

/** The text of a property that has to be there. */
export function requiredText(statements: Statements, iri: string): string {
  const found = text(statements, iri);
  if (found === undefined) throw new EntryProblem(`${shortName(iri)} is missing.`);
  return found;
}

/** A value as messages show it. */
export const quote = (value: string): string => JSON.stringify(value.slice(0, 100));

/** The last part of an IRI. */
export const localName = (iri: string): string => iri.slice(Math.max(iri.lastIndexOf("#"), iri.lastIndexOf("/")) + 1);
