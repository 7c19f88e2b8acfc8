import { shortEscapes } from "./term-text.ts";

/**
 * Characters that end lines, are invisible, or change the direction of text (Unicode Cc, Cf, Cs, Zl, Zp): nothing that
 * was read from an endpoint may reshape a line of ours.
 */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const unsafeInIri = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Zs}<>"{}|^`\\]/gu;

/** Foreign text on one line: unsafe characters become spaces, runs of spaces one, at most `most` characters. */
export function plainText(text: string, most: number): string {
  const line = text
    .slice(0, most * 4)
    .replace(unsafe, " ")
    .replace(/\s+/g, " ")
    .trim();
  return shortened(line, most);
}

/** The beginning of a value, at most `most` characters; "…" stands for the rest. */
export function shortened(value: string, most: number): string {
  if (value.length <= most) return value;
  // A surrogate pair is never cut in two.
  return `${value.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/u, "")}…`;
}

/** Text on one line as SPARQL's strings have it: what ends lines, is invisible or turns text is escaped. */
export const escapedText = (text: string): string =>
  text.replace(unsafe, (character) => shortEscapes.get(character) ?? escaped(character));

/** A value of the data, `escapedText` and `shortened`. */
export const valueText = (value: string, most: number): string =>
  shortened(escapedText(value.slice(0, most + 1)), most);

/** `<iri>`; what no IRI may hold, and what cannot be seen, as `\uXXXX` (SPARQL 1.1, section 19.2). */
export function bracketedIri(iri: string): string {
  return `<${iri.replace(unsafeInIri, escaped)}>`;
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff
    ? `\\U${code.toString(16).toUpperCase().padStart(8, "0")}`
    : `\\u${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** An IRI cut into the namespace and the name in it. */
interface IriParts {
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

/** A local name with its percent escapes undone, where they can be. */
export function decodedName(local: string): string {
  try {
    return decodeURIComponent(local);
  } catch {
    return local;
  }
}
