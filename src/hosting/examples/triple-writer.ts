const xsdNamespace = "http://www.w3.org/2001/XMLSchema#";

/** A term in N-Triples syntax. */
export type TermText = `<${string}>` | `_:${string}` | `"${string}`;

const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r" };
const quoted = (value: string): `"${string}"` => `"${value.replaceAll(/[\\"\n\r]/g, (char) => escapes[char] ?? char)}"`;

export const iri = (value: string): TermText => `<${value}>`;
export const blank = (label: string): TermText => `_:${label}`;
export const plain = (value: string): TermText => quoted(value);
export const tagged = (value: string, language: string): TermText => `${quoted(value)}@${language}`;
export const typed = (value: string, type: string): TermText => `${quoted(value)}^^<${xsdNamespace}${type}>`;

/** A property and its value; several values give several triples. */
export type Statement = readonly [predicate: string, ...objects: readonly TermText[]];

/** Collects triples as N-Triples text. */
export interface TripleWriter {
  add(subject: TermText, ...statements: readonly Statement[]): void;
  text(): string;
}

/** Writes predicates given as IRIs of the vocabularies of `vocabulary.ts`. */
export function createTripleWriter(): TripleWriter {
  const lines: string[] = [];
  return {
    add(subject, ...statements) {
      for (const [predicate, ...objects] of statements) {
        for (const object of objects) lines.push(`${subject} <${predicate}> ${object} .`);
      }
    },
    text: () => `${lines.join("\n")}\n`,
  };
}
