import { type Token, tokenize, whereAt } from "./tokens.ts";

/** Arguments of the functions that SPARQL 1.2 adds, which are evaluated as those of 1.1 are; by their names in upper case. */
export const functionsOf12: ReadonlyMap<string, 1 | 3> = new Map([
  ["LANGDIR", 1],
  ["HASLANG", 1],
  ["HASLANGDIR", 1],
  ["ISTRIPLE", 1],
  ["SUBJECT", 1],
  ["PREDICATE", 1],
  ["OBJECT", 1],
  ["STRLANGDIR", 3],
  ["TRIPLE", 3],
]);

/** Constructs that only SPARQL 1.2 has (https://www.w3.org/TR/sparql12-query/); functions for texts that call them wrong. */
const constructs: readonly (readonly [pattern: string, name: string])[] = [
  [String.raw`<<\s*\(`, "a triple term (<<( ... )>>)"],
  ["<<", "a reified triple (<< ... >>)"],
  [String.raw`\{\|`, "an annotation ({| ... |})"],
  ["~", "a reifier (~)"],
  [String.raw`--(?:ltr|rtl)\b`, "a base direction (@ar--rtl)"],
  [String.raw`\bVERSION\b`, "VERSION"],
  [String.raw`\b(?:${[...functionsOf12.keys()].join("|")})\s*\(`, "a function of SPARQL 1.2"],
];
const onlyIn12 = new RegExp(constructs.map(([pattern]) => `(${pattern})`).join("|"), "i");

/** A construct of SPARQL 1.2. */
export interface NewerConstruct {
  /** With an article, and how it is written. */
  readonly name: string;
  /** Line and column. */
  readonly where: ReturnType<typeof whereAt>;
}

/** The first construct of a text that SPARQL 1.1 lacks; the text may still be illegal. */
export function newerConstruct(text: string): NewerConstruct | undefined {
  const found = onlyIn12.test(text) ? onlyIn12.exec(bare(text)) : null;
  if (!found) return undefined;
  const [, name = ""] = constructs[found.slice(1).findIndex((part) => part !== undefined)] ?? [];
  return { name, where: whereAt(text, found.index) };
}

/** The text with blanks in the place of strings, names and comments, where a sign of SPARQL 1.2 means nothing. */
function bare(text: string): string {
  let end = 0;
  let rest = "";
  for (const token of tokenize(text)) {
    const isMeant = !meaningless.has(token.kind);
    rest +=
      " ".repeat(token.start - end) +
      (isMeant ? text.slice(token.start, token.end) : " ".repeat(token.end - token.start));
    end = token.end;
  }
  return rest;
}

const meaningless: ReadonlySet<Token["kind"]> = new Set(["iri", "pname", "blank", "var", "string"]);
