import { createRequire } from "node:module";
import type * as Traqula from "@traqula/parser-sparql-1-2";

type Sparql12 = typeof Traqula;

/** What only SPARQL 1.2 has: triple terms, reifiers, annotations, directional strings, VERSION and its functions. */
const onlyIn12 =
  /<<|\{\||~|--(?:ltr|rtl)\b|\bVERSION\b|\b(?:TRIPLE|SUBJECT|PREDICATE|OBJECT|isTRIPLE|LANGDIR|STRLANGDIR|hasLANG|hasLANGDIR)\s*\(/i;
/** A text that is larger is not parsed, UTF-16 code units. */
const longestText = 262_144;

let parser: InstanceType<Sparql12["Parser"]> | undefined;

/** The 1.2 grammar takes 0.13 s to load, and most services never see such a query. */
function sparql12Parser(): InstanceType<Sparql12["Parser"]> {
  if (parser === undefined) {
    const loaded: Sparql12 = createRequire(import.meta.url)("@traqula/parser-sparql-1-2");
    parser = new loaded.Parser();
  }
  return parser;
}

/**
 * Whether a text that is no SPARQL 1.1 is a query of SPARQL 1.2 (https://www.w3.org/TR/sparql12-query/). Updates are not, nor
 * are texts of more than 262,144 characters.
 */
export function readsAs12(text: string): boolean {
  if (text.length > longestText || !onlyIn12.test(text)) return false;
  try {
    return sparql12Parser().parse(text).type === "query";
  } catch {
    // A syntax error, or a text that is nested too deeply for the parser.
    return false;
  }
}
