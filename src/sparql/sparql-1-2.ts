import { type Token, tokenize } from "./tokens.ts";

/** Constructs of SPARQL 1.2 only: triple terms, reifiers, annotations, directional strings, VERSION and its functions. */
const onlyIn12 =
  /<<|\{\||~|--(?:ltr|rtl)\b|\bVERSION\b|\b(?:TRIPLE|SUBJECT|PREDICATE|OBJECT|isTRIPLE|LANGDIR|STRLANGDIR|hasLANG|hasLANGDIR)\s*\(/i;

/**
 * True if a text uses constructs of SPARQL 1.2 that 1.1 lacks (https://www.w3.org/TR/sparql12-query/); it may still be illegal.
 */
export const usesSparql12 = (text: string): boolean => onlyIn12.test(text) && onlyIn12.test(bare(text));

/** The text without strings, names and comments, where a word of SPARQL 1.2 means nothing. */
function bare(text: string): string {
  let end = 0;
  let rest = "";
  for (const token of tokenize(text)) {
    const isMeant = !meaningless.has(token.kind);
    if (token.start > end || !isMeant) rest += " ";
    if (isMeant) rest += text.slice(token.start, token.end);
    end = token.end;
  }
  return rest;
}

const meaningless: ReadonlySet<Token["kind"]> = new Set(["iri", "pname", "blank", "var", "string"]);
