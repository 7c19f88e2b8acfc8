import { itemAt } from "../../values.ts";
import { Query } from "./query.ts";
import { LRUCache } from "lru-cache";
import { sizedByKey } from "../../cache-size.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import { decodeEscapes, standForCharacters } from "./codepoint-escapes.ts";
import { dialectEdits } from "../dialect/dialect-rules.ts";
import { illegalUse } from "./check-query.ts";
import { Misfit, readGrammar, repeatedColumns, type Source } from "./grammar.ts";
import { treeOf } from "./parse-tree.ts";
import { misfitError, tooDeep, wrongText } from "./parser-errors.ts";
import { wellKnownNamespaces } from "../../rdf/well-known-prefixes.ts";
import { afterPrologue, type Prologue, readPrologue } from "./prologue.ts";
import { isWord, offsetAt, syntaxError, type Token, tokenize, vocabularyOf } from "./tokens.ts";

/** A text as the scanner read it. */
type Scanned = Pick<Query, "text" | "tokens" | "vocabulary">;

/** Words that begin an update operation (SPARQL 1.1 Update, section 3). */
export const updateWords: ReadonlySet<string> = new Set([
  "INSERT",
  "DELETE",
  "LOAD",
  "CLEAR",
  "DROP",
  "CREATE",
  "ADD",
  "MOVE",
  "COPY",
  "WITH",
  "MODIFY",
]);

function refuseOtherThanQuery({ text, tokens, vocabulary }: Scanned): void {
  if (tokens.length === 0) {
    throw new FedwayError("QUERY_MISSING", "The query is empty or holds nothing but comments.", {
      next: "Send a SELECT, ASK, CONSTRUCT or DESCRIBE query.",
    });
  }
  if (vocabulary.has("DEFINE")) refusePragmas(text, tokens);
  const first = tokens[afterPrologue(tokens)];
  if (first === undefined) {
    throw syntaxError(text, text.length, {
      message: "The query ends behind its prologue.",
      next: "Add SELECT, ASK, CONSTRUCT or DESCRIBE.",
    });
  }
  if (first.kind === "word" && updateWords.has(first.text)) throw updateRefused(first.text);
}

/** The error for anything that would change data or make an endpoint fetch some. */
export function updateRefused(what: string): FedwayError {
  return new FedwayError(
    "UPDATE_REFUSED",
    `${what} is not a query; only SELECT, ASK, CONSTRUCT and DESCRIBE are executed.`,
    {
      next: "Send a query, or talk to the endpoint itself for updates.",
    },
  );
}

/** Virtuoso pragmas that make the endpoint fetch or store remote data (`define get:soft`, `define input:grab-all`). */
export function refusePragmas(text: string, tokens: readonly Token[]): void {
  for (let at = 0; at < tokens.length && tokens[at]?.text !== "{"; at++) {
    const name = tokens[at + 1];
    if (tokens[at]?.kind !== "word" || tokens[at]?.text !== "DEFINE" || !name) continue;
    if (/^(?:get|input):/i.test(text.slice(name.start, name.end))) throw updateRefused(`define ${name.text}`);
  }
}

/** The parser does not see prefixes (names are resolved from tokens), so what is undeclared is found here, with its place. */
function checkPrefixes({ text, tokens }: Scanned, { prefixes }: Prologue): void {
  const unknown = tokens.filter((token) => token.kind === "pname" && !prefixes.has(prefixOf(token)));
  const [first] = unknown;
  if (first === undefined) return;
  const missing = [...new Set(unknown.map(prefixOf))].slice(0, mostPrefixes);
  const declarations = missing.map((prefix) => {
    const namespace = wellKnownNamespaces.get(prefix.slice(0, -1)) ?? "...";
    return `PREFIX ${prefix.slice(0, longestPrefix)} <${namespace}>`;
  });
  throw syntaxError(text, first.start, {
    message: `The prefix "${prefixOf(first).slice(0, longestPrefix)}" is not declared.`,
    next: `Put ${declarations.join(" ")} before the query, or write the IRI in full.`,
  });
}

const mostPrefixes = 10;
const longestPrefix = 60;
/** With its colon. */
export const prefixOf = ({ text }: Token): string => text.slice(0, text.indexOf(":") + 1);

function checkTokens({ text, tokens }: Scanned): void {
  const unreadable = tokens.find((token) => token.kind === "string" && !standForCharacters(token.text));
  if (unreadable) {
    throw syntaxError(text, unreadable.start, {
      message: "A string has an escape of no character.",
      next: "Write \\uXXXX or \\UXXXXXXXX with the number of a character.",
    });
  }
  const bad = tokens.find((token) => token.kind === "invalid");
  if (!bad) return;
  const quote = bad.text === '"' || bad.text === "'";
  throw syntaxError(text, bad.start, {
    message: quote ? "A string literal is not closed." : `Unexpected character ${JSON.stringify(bad.text)}.`,
    next: quote ? "Close the literal; one that spans lines needs three quotes." : "Remove or escape the character.",
  });
}

/** An IRI without a scheme needs a BASE to be resolved against. */
function checkNames({ text, tokens }: Scanned, prologue: Prologue): void {
  // Names with prefixes are as absolute as the IRIs that those are declared with.
  if (!tokens.some((token) => token.kind === "iri" && !absolute.test(token.text.slice(1)))) return;
  const relative = tokens.find(
    (token, at) =>
      (token.kind === "iri" || (token.kind === "pname" && at >= prologue.length)) &&
      !absolute.test(prologue.iriOf(token)),
  );
  if (!relative) return;
  throw syntaxError(text, relative.start, {
    message: `Cannot resolve relative IRI ${prologue.iriOf(relative).slice(0, 200)} because no base IRI was set.`,
    next: "Declare BASE <...> or write the IRI in full.",
  });
}

const absolute = /^[a-z][a-z0-9.+-]*:/i;

/** A row of VALUES has as many values as there are variables (SPARQL 1.1 Query, note 11 of the grammar). */
function checkRows({ text, tokens }: Scanned): void {
  for (const [at, token] of tokens.entries()) {
    const isTable = isWord(token, "VALUES") && tokens[at + 1]?.text === "(";
    if (isTable && new Set(rowWidths(tokens, at + 1)).size > 1) throw unevenRow(text, token);
  }
}

/** Numbers of variables in brackets, and of values in each row in brackets, up to the brace that ends them. */
function rowWidths(tokens: readonly Token[], from: number): readonly number[] {
  const widths: number[] = [];
  let count = 0;
  for (let at = from; at < tokens.length; at++) {
    const { kind, text } = itemAt(tokens, at);
    if (text === "}") break;
    if (text === "(") count = 0;
    else if (text === ")") widths.push(count);
    // The datatype behind it is no value.
    else if (text === "^^") count--;
    else if (kind !== "lang" && kind !== "punct") count++;
  }
  return widths;
}

function unevenRow(text: string, { start }: Token): FedwayError {
  return syntaxError(text, start, {
    message: "Inconsistent VALUES length.",
    next: "Give each row as many values as there are variables; UNDEF stands for none.",
  });
}

/** Large texts that were parsed last, by text: planning, checking and explaining one query each begin with its tree. */
const parsedLast = new LRUCache<string, Query>({ max: 4, ...sizedByKey(64, { perCharacter: 50 }) });
const largeText = 2_000;

/**
 * Parses one SPARQL 1.1 query.
 * @throws FedwayError `QUERY_SYNTAX` (with line and column), `UPDATE_REFUSED`, `QUERY_MISSING`, `QUERY_TOO_LARGE`
 */
export function parseQuery(text: string): Query {
  const known = parsedLast.get(text);
  if (known !== undefined) return known;
  const parsed = parseText(text);
  if (text.length < largeText) return parsed;
  parsedLast.set(text, parsed);
  return parsed;
}

/** Undefined for a text that is no legal query. */
export function parsedIfLegal(text: string): Query | undefined {
  try {
    return parseQuery(text);
  } catch (error) {
    if (error instanceof FedwayError && error.code !== "INTERNAL") return undefined;
    throw error;
  }
}

function parseText(text: string): Query {
  const decoded = /\\u/i.test(text) ? decodeEscapes(text) : undefined;
  const read = decoded?.text ?? text;
  try {
    return parseDecoded(read);
  } catch (error) {
    const isIllegal = error instanceof FedwayError && error.code === "QUERY_SYNTAX";
    const told = isIllegal ? (wrongText(read) ?? withHint(read, error)) : error;
    throw decoded ? decoded.relocated(told) : told;
  }
}

/** The error with the SPARQL form of a construct from another language. */
function withHint(text: string, { message, details }: FedwayError): FedwayError {
  const { line = 1, column = 1 } = details.where ?? {};
  // A prefix that is missing says nothing of the grammar.
  if (message.endsWith("is not declared.")) return new FedwayError("QUERY_SYNTAX", message, details);
  const [habit] = dialectEdits(text, offsetAt(text, line, column - 1), message);
  const next = [habit?.why, details.next].filter((sentence) => sentence !== undefined).join(" ");
  return new FedwayError("QUERY_SYNTAX", message, { ...details, next: next === "" ? undefined : next });
}

/** True if a text that `parseQuery` refuses is SPARQL 1.1 by its grammar: it only breaks the rules of `illegalUse`. */
export function followsGrammar(text: string): boolean {
  try {
    grammatical(decodeEscapes(text).text);
    return true;
  } catch (error) {
    if (error instanceof FedwayError) return false;
    throw error;
  }
}

function parseDecoded(text: string): Query {
  const parsed = grammatical(text);
  const illegal = ruled.some((word) => parsed.vocabulary.has(word)) ? illegalUse(parsed) : undefined;
  if (illegal) throw illegal;
  return parsed;
}

/** Labels, BIND and AS, GROUP BY and aggregates: what the rules of `illegalUse` are about. */
const ruled = ["blank", "AS", "GROUP", "COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"];

function grammatical(text: string): Query {
  const tokens = tokenize(text);
  const plain = oddBlank.test(text) ? withPlainBlanks(text, tokens) : text;
  if (plain !== text) return grammatical(plain);
  const scanned = { text, tokens, vocabulary: vocabularyOf(tokens) };
  refuseOtherThanQuery(scanned);
  const prologue = readPrologue(tokens);
  checkScanned(scanned, prologue);
  const { ast, places, outline, repeatsColumns } = parseTokens({ text, tokens, prologue });
  const once = repeatsColumns ? columnsOnce(text, tokens) : text;
  if (once !== text) return grammatical(once);
  checkNames(scanned, prologue);
  if (tokens.length * levelsOfToken > treeDepthAtMost && treeDepth(ast) > treeDepthAtMost) throw tooDeep(text);
  return new Query({ ...scanned, ast, places, outline, prologue });
}

/** White space to the scanner and not to SPARQL (rule 162), such as the no-break spaces of web pages and byte order marks. */
const oddBlank = /[^\S \t\r\n]/;

/** The text with a blank for each such character between tokens, so that all keep their places and endpoints can read it. */
function withPlainBlanks(text: string, tokens: readonly Token[]): string {
  let plain = "";
  let from = 0;
  for (const { start, end } of tokens) {
    plain += text.slice(from, start).replaceAll(oddBlanks, " ") + text.slice(start, end);
    from = end;
  }
  return plain + text.slice(from).replaceAll(oddBlanks, " ");
}

const oddBlanks = new RegExp(oddBlank, "g");

/** The checks beside the grammar. */
function checkScanned(scanned: Scanned, prologue: Prologue): void {
  const { vocabulary } = scanned;
  if (vocabulary.has("invalid") || vocabulary.has("string")) checkTokens(scanned);
  if (vocabulary.has("pname")) checkPrefixes(scanned, prologue);
  if (vocabulary.has("VALUES")) checkRows(scanned);
}

/** A variable that a SELECT names again is one column; blanks in its place keep all other places. */
function columnsOnce(written: string, tokens: readonly Token[]): string {
  let text = written;
  for (const { start, end } of repeatedColumns(tokens))
    text = text.slice(0, start) + " ".repeat(end - start) + text.slice(end);
  return text;
}

function parseTokens(source: Source) {
  try {
    return treeOf(source, readGrammar(source));
  } catch (thrown) {
    if (thrown instanceof RangeError) throw tooDeep(source.text);
    if (thrown instanceof Misfit) throw misfitError(source, thrown.at);
    throw thrown;
  }
}

/** Long chains of operators nest as deep as they are long, whatever their brackets; later walks are recursive. */
const treeDepthAtMost = 2_000;
/** A token adds no more to the depth of a tree: EXISTS has an operation, its arguments, a group and its patterns. */
const levelsOfToken = 4;

function treeDepth(root: object): number {
  let depth = 0;
  for (let level: object[] = [root]; level.length > 0 && depth <= treeDepthAtMost; depth++) {
    level = level.flatMap((node) => Object.values(node)).filter((value) => typeof value === "object" && value !== null);
  }
  return depth;
}
