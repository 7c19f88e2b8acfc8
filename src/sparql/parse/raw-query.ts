import { answerKindOf, type QueryForm } from "./query.ts";
import { decodeEscapes } from "./codepoint-escapes.ts";
import { queryForms } from "./outline.ts";
import { refusePragmas, updateRefused, updateWords } from "./parse-query.ts";
import { textLimits, type Token, tokenize } from "./tokens.ts";

// WITH also begins a named subquery of Blazegraph; SPARUL is Virtuoso's own word.
const updates = new Set([...[...updateWords].filter((word) => word !== "WITH"), "SPARUL"]);

/**
 * The kind of answer and the LIMIT of a query that our parser refuses (SPARQL 1.2, Virtuoso `define`, Blazegraph hints), found without parsing: pragmas
 * and prologue, then a query form, and no update operation outside of braces. Undefined when that is not what the text is, or
 * when a SERVICE in it names anything but a `pseudoService` (full IRIs). An endpoint may replace codepoint escapes before it
 * parses (SPARQL 1.1 Query, section 19.2), or not: both must read the same.
 * @throws FedwayError `UPDATE_REFUSED` for updates and for pragmas that fetch
 */
export function scanRawQuery(text: string, pseudoServices: readonly string[]) {
  const form = endingEscape.test(text) ? undefined : scannedForm(text, pseudoServices);
  return form && { kind: answerKindOf(form), limit: form === "SELECT" ? rawLimit(text) : undefined };
}

function scannedForm(text: string, pseudoServices: readonly string[]): QueryForm | undefined {
  const replaced = formOf(decodeEscapes(text).text, pseudoServices);
  const asWritten = formOf(text.replaceAll(escapes, "_"), pseudoServices);
  return replaced === asWritten ? replaced : undefined;
}

/** Escapes of what ends strings and lines: behind one the endpoint might read other tokens than we do. */
const endingEscape = /\\(?:u|U0000)00(?:[01][\dA-Fa-f]|2[27]|5[Cc]|7[Ff]|[89][\dA-Fa-f])/;
const escapes = /\\u[\dA-Fa-f]{4}|\\U[\dA-Fa-f]{8}/g;

function formOf(text: string, pseudoServices: readonly string[]): QueryForm | undefined {
  const tokens = tokenize(text);
  refusePragmas(text, tokens);
  if (mayHideTokens(tokens)) return undefined;
  const start = behindPragmas(tokens);
  const form = tokens[start];
  if (form?.kind !== "word") return undefined;
  if (updates.has(form.text)) throw updateRefused(form.text);
  const known = queryForms.find((word) => word === form.text);
  if (!known) return undefined;
  refuseUpdateOperations(tokens.slice(start));
  return servicesAllowed(tokens, pseudoServices) ? known : undefined;
}

/** The LIMIT that ends a raw query, before or behind OFFSET; undefined when none does. */
function rawLimit(text: string): number | undefined {
  const last = tokenize(text).slice(-4);
  const at = last.findLastIndex((token) => token.kind === "word" && token.text === "LIMIT");
  const behind = last.slice(at + 2);
  const isEnd = behind.length === 0 || (behind.length === 2 && behind[0]?.text === "OFFSET");
  const count = last[at + 1]?.text ?? "";
  return at >= 0 && isEnd && /^\d{1,12}$/.test(count) ? Number(count) : undefined;
}

/** True when the endpoint might read the text in other tokens: an open literal, or more odd characters than we look behind. */
function mayHideTokens(tokens: readonly Token[]): boolean {
  const odd = tokens.filter((token) => token.kind === "invalid");
  return odd.length >= textLimits.invalid || odd.some(({ text: c }) => c === '"' || c === "'" || c === "\\");
}

/** Index behind `define name value...`, VERSION, BASE and PREFIX, in any order. */
function behindPragmas(tokens: readonly Token[]): number {
  let at = 0;
  for (;;) {
    const word = tokens[at]?.kind === "word" ? tokens[at]?.text : undefined;
    if (word === "BASE" || word === "VERSION") at += 2;
    else if (word === "PREFIX") at += 3;
    else if (word === "DEFINE") at = behindValues(tokens, at + 2);
    else return at;
  }
}

function behindValues(tokens: readonly Token[], from: number): number {
  let at = from + 1;
  while (tokens[at]?.text === ",") at += 2;
  return at;
}

function refuseUpdateOperations(tokens: readonly Token[]): void {
  let depth = 0;
  for (const token of tokens) {
    if (token.kind === "punct" && "{([".includes(token.text)) depth++;
    if (token.kind === "punct" && "})]".includes(token.text)) depth--;
    // A closing bracket too many must not hide what follows.
    if (depth <= 0 && token.kind === "word" && updates.has(token.text)) throw updateRefused(token.text);
  }
}

function servicesAllowed(tokens: readonly Token[], pseudoServices: readonly string[]): boolean {
  const prefixes = new Map<string, string>();
  for (const [at, token] of tokens.entries()) {
    const iri = tokens[at + 2];
    if (token.text === "PREFIX" && iri?.kind === "iri") prefixes.set(tokens[at + 1]?.text ?? "", iri.text.slice(1, -1));
  }
  return tokens.every((token, at) => {
    if (token.kind !== "word" || token.text !== "SERVICE") return true;
    const name = tokens[tokens[at + 1]?.text === "SILENT" ? at + 2 : at + 1];
    return name !== undefined && isPseudo(name, prefixes, pseudoServices);
  });
}

function isPseudo(name: Token, prefixes: ReadonlyMap<string, string>, pseudoServices: readonly string[]): boolean {
  if (name.kind === "iri") return pseudoServices.includes(name.text.slice(1, -1));
  if (name.kind !== "pname") return false;
  const [prefix, local] = [name.text.slice(0, name.text.indexOf(":") + 1), name.text.slice(name.text.indexOf(":") + 1)];
  const declared = prefixes.get(prefix);
  if (declared !== undefined) return pseudoServices.includes(declared + local);
  // Engines with such services predeclare the prefix, so it may be missing in the text.
  return local !== "" && pseudoServices.some((iri) => /[#/]/.test(iri) && iri.split(/[#/]/).at(-1) === local);
}
