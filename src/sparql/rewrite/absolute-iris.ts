import type { Query, TextEdit } from "../parse/query.ts";
import { parseQuery, prefixOf } from "../parse/parse-query.ts";
import { isWord, type Token } from "../parse/tokens.ts";

/**
 * The same text with absolute IRIs in the place of what not every parser reads as it should: prefixed names with escapes,
 * such as `:city\#name` (SPARQL 1.1 Query, section 19.8, PN_LOCAL_ESC), and references relative to BASE, whose dot segments
 * stay with some (section 4.1.1.2), in prefixes too.
 * @throws FedwayError as `parseQuery`
 */
export function withAbsoluteIris(text: string): string {
  if (!mayNeedIt.test(text)) return text;
  const query = parseQuery(text);
  return query.cut(editsOf(query));
}

/** Without them a text has neither escapes nor references. */
const mayNeedIt = /\\|base/iu;
const absolute = /^<[A-Za-z][A-Za-z0-9+.-]*:/;

function editsOf({ tokens, prologue }: Query): readonly TextEdit[] {
  const relative = relativePrefixes(tokens.slice(0, prologue.length));
  const edits: TextEdit[] = [];
  for (const [at, token] of tokens.entries()) {
    if (at < prologue.length || (token.kind !== "iri" && token.kind !== "pname")) continue;
    const range = { from: at, to: at + 1 };
    if (token.kind === "iri") {
      if (!absolute.test(token.text)) edits.push({ range, replacement: `<${prologue.iriOf(token)}>` });
    } else if (token.text.includes("\\") || relative.has(prefixOf(token))) {
      // The blanks keep `<` before a name from becoming a token with it.
      edits.push({ range, replacement: ` <${prologue.iriOf(token)}> ` });
    }
  }
  return edits;
}

/** Prefixes, each with its colon, that are declared with a reference. */
function relativePrefixes(prologue: readonly Token[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [at, token] of prologue.entries()) {
    const [name, iri] = [prologue[at + 1], prologue[at + 2]];
    if (!isWord(token, "PREFIX") || name === undefined || iri === undefined) continue;
    if (absolute.test(iri.text)) found.delete(name.text);
    else found.add(name.text);
  }
  return found;
}
