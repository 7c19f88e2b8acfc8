import { FedwayError, type Repair } from "../../errors/fedway-error.ts";
import { isWord, type Token, tokenize } from "../../sparql/query.ts";

/**
 * The query that somebody may have meant who sent an update: its WHERE as a SELECT of the variables in its template, or all of
 * them; for data without variables an ASK whether they are there. Undefined where none can be made that parses.
 */
export function selectOfUpdate(text: string, parses: (query: string) => boolean): Repair | undefined {
  const tokens = tokenize(text);
  const verb = updateVerb(text);
  if (verb === undefined) return undefined;
  const prologue = text.slice(0, verb.start);
  const where = groupBehind(text, tokens, (token, at) => isWord(token, "WHERE") && tokens[at + 1]?.text === "{");
  const data = groupBehind(text, tokens, (token) => isWord(token, "DATA"));
  const template = groupBehind(text, tokens, (token) => isWord(token, "INSERT", "DELETE"));
  const names = [...new Set(template?.match(/[?$]\w+/g) ?? [])];
  const after =
    where !== undefined
      ? `${prologue}SELECT ${names.length > 0 && template !== where ? names.join(" ") : "*"} WHERE ${where}`
      : data === undefined
        ? undefined
        : `${prologue}ASK ${data}`;
  if (after === undefined || !parses(after)) return undefined;
  return { kind: "update", before: text.slice(verb.start, verb.start + 120), after, applied: false };
}

/**
 * The word that begins an update from an offset of a text on, as a token and with what has to follow it: "with", "insert" and
 * "delete" are words of comments, strings, IRIs and sentences too.
 */
export function updateVerb(text: string, from = 0): Token | undefined {
  const tokens = readTokens(text) ?? [];
  return tokens.find((token, at) => {
    const { kind, text: next = "" } = tokens[at + 1] ?? {};
    const isName = kind === "iri" || kind === "pname";
    if (token.start < from) return false;
    // A pragma that makes the endpoint fetch something.
    if (isWord(token, "WITH", "DEFINE")) return isName;
    if (isWord(token, "INSERT", "DELETE")) return ["{", "DATA", "WHERE"].includes(next);
    return (
      isWord(token, "CLEAR", "DROP", "CREATE", "LOAD", "ADD", "MOVE", "COPY", "MODIFY") && (isName || places.has(next))
    );
  });
}

/** Undefined for a text beyond the bounds of what is read. */
export function readTokens(text: string): readonly Token[] | undefined {
  try {
    return tokenize(text);
  } catch (error) {
    if (error instanceof FedwayError && error.code !== "INTERNAL") return undefined;
    throw error;
  }
}

const places: ReadonlySet<string> = new Set(["ALL", "DEFAULT", "NAMED", "GRAPH", "INTO", "SILENT"]);

/** The braces behind the first token that fits, with what is in them. */
function groupBehind(
  text: string,
  tokens: readonly Token[],
  fits: (token: Token, at: number) => boolean,
): string | undefined {
  const from = tokens.findIndex(fits);
  const open = tokens.findIndex(({ text: sign }, at) => from >= 0 && at > from && sign === "{");
  if (open < 0) return undefined;
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    const token = tokens[at];
    if (token?.text === "{") depth++;
    else if (token?.text === "}" && --depth === 0) return text.slice(tokens[open]?.start, token.end);
  }
  return undefined;
}
