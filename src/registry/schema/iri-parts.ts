/** An IRI cut into the namespace and the name in it. */
export interface IriParts {
  readonly namespace: string;
  /** Empty when the IRI ends in its separator. */
  readonly local: string;
}

/** Cuts after the last `#`, else after the last `/`, else after the last `:`; percent escapes stay as they are. */
export function iriParts(iri: string): IriParts {
  const hash = iri.lastIndexOf("#");
  const at = hash === -1 ? Math.max(iri.lastIndexOf("/"), iri.lastIndexOf(":")) : hash;
  return { namespace: iri.slice(0, at + 1), local: iri.slice(at + 1) };
}

const longestLabel = 120;
const wordPattern = /\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{N}+|\p{L}+/gu;

/**
 * The words of a name, as written: split at case changes, digits and everything that is neither letter nor digit
 * (`HTTPServer_url2` gives HTTP, Server, url, 2). At most the first 120 characters are looked at.
 */
export function nameWords(name: string): readonly string[] {
  return name.slice(0, longestLabel).match(wordPattern) ?? [];
}
