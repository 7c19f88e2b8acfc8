import type { Query } from "sparqljs";
import type { Token } from "./tokens.ts";

/** The absolute IRI that an `iri` or `pname` token of a valid query stands for (SPARQL 1.1 Query, section 4.1.1). */
export function resolveIri(query: { readonly ast: Query }, token: Token): string {
  if (token.kind === "pname") {
    const colon = token.text.indexOf(":");
    const prefix = token.text.slice(0, colon);
    const { prefixes } = query.ast;
    const expansion = Object.hasOwn(prefixes, prefix) ? prefixes[prefix] : "";
    return `${expansion}${token.text.slice(colon + 1).replaceAll(/\\(.)/g, "$1")}`;
  }
  const iri = token.text.slice(1, -1);
  if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(iri) || query.ast.base === undefined) return iri;
  return URL.parse(iri, query.ast.base)?.href ?? iri;
}
