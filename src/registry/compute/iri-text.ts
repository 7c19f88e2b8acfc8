/** An absolute IRI of characters that an IRIREF may hold (SPARQL 1.1 Query, rule 139), and no other control characters. */
const iriref = /^[A-Za-z][A-Za-z0-9+.-]{0,30}:[^\s\p{Cc}<>"{}|^`\\]*$/u;
const longestIri = 2048;

/**
 * Whether an IRI that an endpoint gave may be written into a query: absolute, an IRIREF, not longer than 2,048 UTF-16
 * code units, and no blank node in disguise (Virtuoso's `nodeID://b1`).
 */
export function isWritable(iri: string): boolean {
  return iri.length <= longestIri && iri.isWellFormed() && iriref.test(iri) && !/^nodeid:/iu.test(iri);
}

/** An IRI as SPARQL writes it. @throws RangeError for one that is not writable: the last line of defence */
export function written(iri: string): string {
  if (!isWritable(iri)) throw new RangeError("Not an IRI that may be written into a query");
  return `<${iri}>`;
}

/** The namespace of an IRI: up to its last `#` or `/`; undefined when nothing stands behind the scheme's slashes. */
export function namespaceOf(iri: string): string | undefined {
  const cut = Math.max(iri.lastIndexOf("#"), iri.lastIndexOf("/")) + 1;
  const authority = iri.indexOf("://");
  if (cut === 0 || (authority >= 0 && cut <= authority + 3)) return undefined;
  return iri.slice(0, cut);
}
