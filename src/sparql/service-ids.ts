import { type Substitute, type SubstitutedText, substituted } from "./substituted-text.ts";
import { isWord, type Token, tokenize } from "./tokens.ts";

/** A relative IRI that may be a catalogue id. */
const bareId = /^<([A-Za-z0-9][A-Za-z0-9._-]{0,63})>$/u;
const mayHaveId = /<[A-Za-z0-9][A-Za-z0-9._-]{0,63}>/u;

/**
 * The query with catalogue ids in the place of endpoints replaced by their URLs: `SERVICE <people>`, and `VALUES ?e { <people> }`
 * in a query with `SERVICE ?e`. Only without BASE, where a relative IRI would mean nothing. Lines stay; texts without such an
 * id come back as they are.
 * @param urlOf the URL of the endpoint with this id; undefined leaves the IRI for the parser to refuse
 */
export function withServiceUrls(text: string, urlOf: (id: string) => string | undefined): SubstitutedText {
  if (!mayHaveId.test(text)) return substituted(text, []);
  const tokens = tokenize(text);
  if (tokens.some((token) => isWord(token, "BASE"))) return substituted(text, []);
  const hasVariable = tokens.some((token, at) => token.kind === "var" && isTarget(tokens, at));
  const isData = hasVariable ? dataOf(tokens) : new Set<Token>();
  const urls: Substitute[] = [];
  for (const [at, token] of tokens.entries()) {
    const id = isTarget(tokens, at) || isData.has(token) ? bareId.exec(token.text)?.[1] : undefined;
    const url = id === undefined ? undefined : urlOf(id);
    if (url !== undefined) urls.push({ start: token.start, end: token.end, text: `<${url}>` });
  }
  return substituted(text, urls);
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
