import { editText, type TextEdit } from "./edit-text.ts";
import { type ParsedQuery, parseQuery } from "./parse-query.ts";
import { resolveIri } from "./resolve-iri.ts";

/**
 * The same query with absolute IRIs in the place of names and references that not every parser reads as it should:
 * prefixed names with escapes, such as `:city\#name` (SPARQL 1.1 Query, section 19.8, PN_LOCAL_ESC), and, where there is
 * a BASE, all others, since dot segments stay with some (section 4.1.1.2). The prologue goes with BASE.
 */
export function absoluteIris(query: ParsedQuery): ParsedQuery {
  const edits = editsOf(query);
  return edits.length === 0 ? query : parseQuery(editText(query, edits));
}

function editsOf({ tokens, prologue }: ParsedQuery): readonly TextEdit[] {
  const hasBase = prologue.base !== undefined;
  const edits: TextEdit[] = hasBase ? [{ range: { from: 0, to: prologue.length }, replacement: "" }] : [];
  for (const [at, token] of tokens.entries()) {
    if (at < prologue.length || (token.kind !== "iri" && token.kind !== "pname")) continue;
    if (!hasBase && !(token.kind === "pname" && token.text.includes("\\"))) continue;
    // The blanks keep `<` before a name from becoming a token with it.
    edits.push({ range: { from: at, to: at + 1 }, replacement: ` <${resolveIri(prologue, token)}> ` });
  }
  return edits;
}

/** Words of a text that `absoluteIris` may have to look at. */
const mayNeedIt = /\\|base/iu;

/** The same with a text. @throws FedwayError as `parseQuery` */
export const withAbsoluteIris = (text: string): string =>
  mayNeedIt.test(text) ? absoluteIris(parseQuery(text)).text : text;
