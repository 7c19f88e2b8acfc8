import { type Substitute, type SubstitutedText, substituted } from "../parse/substituted-text.ts";
import { isWord, type Token, tokenize } from "../parse/tokens.ts";

/** A relative IRI that may be a catalogue id; ids have no upper-case letters. */
const bareId = /^<([A-Za-z0-9][A-Za-z0-9._-]{0,63})>$/u;
/** A URL with white space around it, which the parser does not take for an IRI. */
const spacedUrl = /<\s*(https?:\/\/[^\s<>"{}|^`\\]+)\s*>/iy;
const mayChange = /<[A-Za-z0-9][A-Za-z0-9._-]{0,63}>|<\s+https?:|<https?:[^\s<>]*\s+>/iu;

/**
 * The query with what people write in the place of endpoints made readable: catalogue ids are replaced by their URLs
 * (`SERVICE <people>`, `FROM <people>`, and `VALUES ?e { <people> }` in a query with `SERVICE ?e`), white space within `<...>` by `%20`, so
 * that who looks the endpoint up can tell what was written. Ids only without BASE, where a relative IRI would mean
 * nothing. Lines stay; texts without any of it come back as they are.
 * @param urlOf the URL of the endpoint with this id; undefined leaves the IRI for the parser to refuse
 * @param isFromPlace false where an endpoint is chosen and FROM can name none
 */
export function withServiceUrls(
  text: string,
  urlOf: (id: string) => string | undefined,
  isFromPlace = true,
): SubstitutedText {
  if (!mayChange.test(text)) return substituted(text, []);
  const tokens = tokenize(text);
  const hasBase = tokens.some((token) => isWord(token, "BASE"));
  const hasVariable = tokens.some((token, at) => token.kind === "var" && isTarget(tokens, at));
  const isData = hasVariable ? dataOf(tokens) : new Set<Token>();
  const urls = tokens.flatMap((token, at): readonly Substitute[] => {
    const isService = isTarget(tokens, at) || isData.has(token);
    if (!isService && !(isFromPlace && isFrom(tokens, at))) return [];
    const id = hasBase ? undefined : bareId.exec(token.text)?.[1]?.toLowerCase();
    const url = id === undefined ? undefined : urlOf(id);
    if (url !== undefined) return [{ start: token.start, end: token.end, text: `<${url}>` }];
    return isService && token.text === "<" ? withoutSpace(text, token.start) : [];
  });
  return substituted(text, urls);
}

/**
 * The query with ids in the place of the URLs that SERVICE and FROM name, but of those that `sent` writes so; where `sent` has URLs alone,
 * other endpoints are named by theirs, too. Unchanged with BASE, where an id would be another IRI.
 * @param catalog finds the endpoint with a URL
 */
export function withServiceIds(text: string, sent: string, catalog: ByUrl): string {
  const isByUrl = /\bSERVICE\s+(?:SILENT\s+)?<https?:/i.test(sent);
  const tokens = tokenize(text);
  const hasBase = tokens.some((token) => isWord(token, "BASE"));
  const ids = (hasBase ? [] : tokens).flatMap((token, at): Substitute[] => {
    const isIri = token.kind === "iri" && (isTarget(tokens, at) || isFrom(tokens, at));
    const { id } = (isIri ? catalog.byUrl(token.text.slice(1, -1)) : undefined) ?? {};
    if (id === undefined || sent.includes(token.text) || (isByUrl && !sent.includes(`<${id}>`))) return [];
    return [{ start: token.start, end: token.end, text: `<${id}>` }];
  });
  return substituted(text, ids).text;
}

interface ByUrl {
  byUrl(url: string): { readonly id: string } | undefined;
}

/** A `%20` behind the URL stands for all of the white space, which would make it a relative IRI in front. */
function withoutSpace(text: string, start: number): readonly Substitute[] {
  spacedUrl.lastIndex = start;
  const [whole, url] = spacedUrl.exec(text) ?? [];
  return whole === undefined ? [] : [{ start, end: start + whole.length, text: `<${url}%20>` }];
}

/** The tokens within the braces of VALUES blocks, which nest no others. */
function dataOf(tokens: readonly Token[]): ReadonlySet<Token> {
  const data = new Set<Token>();
  let part: "head" | "data" | undefined;
  for (const token of tokens) {
    if (isWord(token, "VALUES")) part = "head";
    else if (token.text === "{" && part === "head") part = "data";
    else if (token.text === "}") part = undefined;
    else if (part === "data") data.add(token);
  }
  return data;
}

/** Stands where SERVICE has its endpoint. */
function isTarget(tokens: readonly Token[], at: number): boolean {
  const before = isWord(tokens[at - 1], "SILENT") ? tokens[at - 2] : tokens[at - 1];
  return isWord(before, "SERVICE");
}

/** Stands where FROM has its graph. */
const isFrom = (tokens: readonly Token[], at: number): boolean => isWord(tokens[at - 1], "FROM");
