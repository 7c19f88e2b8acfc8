import { ParserBuilder } from "@traqula/core";
import { sparql12ParserBuilder } from "@traqula/parser-sparql-1-2";
import { AstFactory, completeParseContext, lex } from "@traqula/rules-sparql-1-2";
import { LRUCache } from "lru-cache";
import sparqljs from "sparqljs";
import { sizedByKey } from "../../cache-size.ts";
import type { Prologue } from "./prologue.ts";
import { functionsOf12 } from "./sparql-1-2.ts";
import { isKeyword, isWord, type Token } from "./tokens.ts";

/** A text to be parsed. */
export interface Source {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly prologue: Prologue;
}

/** The first token that does not fit the grammar, by its index; the number of tokens where the text ends too early. */
export class Misfit extends Error {
  readonly at: number;

  constructor(at: number) {
    super("Parse error");
    this.at = at;
  }
}

/** Traqula's syntax tree of a query, and the offset of each token in the text that the tree's locations are of. */
export interface GrammarTree {
  readonly query: ReturnType<typeof parse>;
  readonly starts: readonly number[];
}

/**
 * Reads tokens by Traqula's grammar of SPARQL 1.2. It is handed a text of one short sample for each token, so that one scanner says
 * what a token is, and names and strings of any size cost nothing; whoever reads the tree takes them from the tokens.
 * @throws Misfit; RangeError for a query that is nested too deeply
 */
export function readGrammar(source: Source): GrammarTree {
  const { text, starts } = samplesOf(source);
  try {
    return { query: parse(text), starts };
  } catch (error) {
    if (error instanceof Misfit) throw new Misfit(error.at < text.length ? indexAt(starts, error.at) : starts.length);
    throw error;
  }
}

/** Index of the last token that begins at an offset or before it. */
export function indexAt(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return low;
}

let parser: ReturnType<typeof createParser> | undefined;

/**
 * The trees of the latest texts of samples, which are read only: queries that differ in their constants have the same one.
 * A tree takes some 110 bytes for each character of its samples.
 */
const trees = new LRUCache<string, ReturnType<typeof parseSamples>>(sizedByKey(8, { perCharacter: 112 }));

function parse(samples: string) {
  const tree = trees.get(samples) ?? parseSamples(samples);
  trees.set(samples, tree);
  return tree;
}

function parseSamples(samples: string) {
  parser ??= createParser();
  return parser.queryUnit(samples, completeParseContext(context));
}

const context = {
  astFactory: new AstFactory({ tracksSourceLocation: true }),
  // Rules that are no grammar are those of check-query.ts.
  skipValidation: true,
  parseMode: new Set(["canParseVars", "canCreateBlankNodes", "canParseAggregate"]),
};

/** Takes 200 ms. */
function createParser() {
  const grammar = ParserBuilder.create(sparql12ParserBuilder);
  const aggregates = (["Count", "Sum", "Min", "Max", "Avg", "Sample", "Group_concat"] as const).map((name) =>
    grammar.getRule(`builtIn${name}`),
  );
  return grammar
    .patchRule({
      name: "aggregate",
      // Traqula's own refuses a subquery with an aggregate inside one.
      impl:
        ({ OR, SUBRULE }) =>
        () =>
          OR(aggregates.map((rule) => ({ ALT: () => SUBRULE(rule) }))),
    })
    .build({
      tokenVocabulary: lex.sparql12LexerBuilder.tokenVocabulary,
      // Locations need the ends of tokens.
      lexerConfig: { positionTracking: "full" },
      errorHandler([error]) {
        throw new Misfit(error?.token.startOffset ?? Number.NaN);
      },
    });
}

/** Stands for a token that no query has. */
const misfit = "CLEAR";

function samplesOf({ text, tokens, prologue }: Source) {
  const starts: number[] = [];
  let samples = "";
  for (const [at, token] of tokens.entries()) {
    starts.push(samples.length);
    const [before, next] = [tokens[at - 1], tokens[at + 1]];
    const isNone = token.text === "(" && before?.text === "!" && next?.text === ")";
    samples += isMisplaced(token, before, next) ? misfit : samplesByKind[token.kind](token.text, at < prologue.length);
    samples += isNone ? noProperty : gapBehind(text, token, next);
  }
  return { text: samples, starts };
}

/** A word that the grammar has in pairs only, and `!!`, which endpoints of SPARQL 1.1 refuse. */
const isMisplaced = ({ text }: Token, before: Token | undefined, next: Token | undefined): boolean =>
  (text === "NOT" && !isWord(next, "IN", "EXISTS")) || (text === "!" && before?.text === "!");

/** `!()` is legal (rule 95), and Traqula wants a property in it. */
const noProperty = " <> ";

/** A number keeps its sign, and a comment in brackets keeps them from being NIL or ANON (rules 146 ff., 161, 163). */
function gapBehind(text: string, { text: sign, end }: Token, next: Token | undefined): string {
  if (next?.kind === "number" && (sign === "+" || sign === "-")) return next.start === end ? "" : " ";
  const pair = sign + (next?.text ?? "");
  if (next === undefined || (pair !== "()" && pair !== "[]")) return " ";
  return /^[ \t\r\n]*$/.test(text.slice(end, next.start)) ? " " : "#\n";
}

/** Samples of tokens by their kind; `isDeclared` of those in the prologue. */
const samplesByKind: Readonly<Record<Token["kind"], (text: string, isDeclared: boolean) => string>> = {
  iri: () => "<>",
  pname: (text, isDeclared) => (prefixedName.test(text) ? nameSample(text, isDeclared) : misfit),
  var: (text) => (variable.test(text) ? `?${text.slice(1)}` : misfit),
  blank: (text) => (label.test(text) ? "_:b" : misfit),
  string: (text) => (hasWrongEscape(text) ? misfit : '"'.repeat(2 * quotesOf(text))),
  lang: () => "@a",
  number: numberSample,
  word: (text) => samplesOfWords.get(text) ?? (isKeyword(text) ? text : misfit),
  punct: (text) => (punctuationOf12.has(text) ? misfit : text),
  invalid: () => misfit,
};

/** Traqula counts the arguments of some functions, which unknown-functions.ts says in words. */
const samplesOfWords: ReadonlyMap<string, string> = new Map([
  ["A", "a"],
  ["TRUE", "true"],
  ["FALSE", "false"],
  ["REGEX", "CONCAT"],
  ["REPLACE", "CONCAT"],
  ["SUBSTR", "CONCAT"],
]);

function nameSample(text: string, isDeclared: boolean): string {
  if (!isDeclared) return "<>";
  return text.indexOf(":") === text.length - 1 ? "p:" : "p:l";
}

/** Quotation marks at each end of a string literal. */
export const quotesOf = (literal: string): 1 | 3 => (/^(?:"""|''')/.test(literal) ? 3 : 1);

function numberSample(text: string): string {
  if (/e/i.test(text)) return "1e1";
  return text.includes(".") ? "1.1" : "1";
}

/** Begin and end triple terms, which no tree here has; a query with them is sent as it is (raw-query.ts). */
const punctuationOf12: ReadonlySet<string> = new Set(["<<", ">>", "~", "&"]);

const base =
  "A-Za-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C\\u200D\\u2070-\\u218F" +
  "\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\u{10000}-\\u{EFFFF}";
const inner = `${base}_0-9\\u00B7\\u0300-\\u036F\\u203F\\u2040`;
const escape = "%[0-9A-Fa-f]{2}|\\\\[_~.\\-!$&'()*+,;=\\/?#@%]";
/** Names as rules 140 to 144 have them; the scanner lets more characters pass. */
const variable = new RegExp(`^[?$][${base}_0-9][${inner}]*$`, "u");
const label = new RegExp(`^_:[${base}_0-9](?:[${inner}.\\-]*[${inner}\\-])?$`, "u");
const prefixedName = new RegExp(
  `^(?:[${base}](?:[${inner}.\\-]*[${inner}\\-])?)?:(?:(?:[${base}_0-9:]|${escape})(?:[${inner}.:\\-]|${escape})*)?$`,
  "u",
);

const hasWrongEscape = (literal: string): boolean =>
  literal.includes("\\") && literal.matchAll(escapesInString).some(([, wrong]) => wrong !== undefined);
const escapesInString = /\\(?:[tbnrf\\"']|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|([^]))/g;

/**
 * The terminals that fit where a token does not, in jison's words. Traqula's errors name only those of the rule that it is in, those of
 * sparqljs all.
 */
export function expectedAt(source: Source, at: number): readonly string[] {
  // Checks of columns are not its job.
  const again = repeatedColumns(source.tokens);
  const tokens = source.tokens
    .slice(0, at + 1)
    .filter((token) => !again.has(token))
    .map((token) => in11(token));
  try {
    const options = { baseIRI: "urn:base", skipUngroupedVariableCheck: true };
    new sparqljs.Parser(options).parse(samplesOf({ ...source, tokens }).text.replace(/CLEAR $/, ">>"));
    return [];
  } catch (error) {
    return expectedIn(error);
  }
}

/** A function of SPARQL 1.2 as one of 1.1 with as many arguments. */
function in11(token: Token): Token {
  const count = token.kind === "word" ? functionsOf12.get(token.text) : undefined;
  return count === undefined ? token : { ...token, text: count === 1 ? "STR" : "IF" };
}

function expectedIn(error: unknown): readonly string[] {
  const hash: unknown = error instanceof Error && "hash" in error ? error.hash : undefined;
  if (typeof hash !== "object" || hash === null || !("expected" in hash) || !Array.isArray(hash.expected)) return [];
  return hash.expected.map((terminal) => String(terminal).slice(1, -1));
}

/** Variables that a SELECT names again. */
export const repeatedColumns = (tokens: readonly Token[]): ReadonlySet<Token> =>
  new Set(tokens.flatMap((token, at) => (isWord(token, "SELECT") ? repeated(tokens, at) : [])));

/** Columns that a SELECT has already. */
function repeated(tokens: readonly Token[], select: number): readonly Token[] {
  const seen = new Set<string>();
  const again: Token[] = [];
  let depth = 0;
  for (const token of tokens.slice(select + 1)) {
    if (token.text === "{" || isWord(token, "WHERE", "FROM")) break;
    if (token.text === "(") depth += 1;
    if (token.text === ")") depth -= 1;
    if (token.kind !== "var" || depth > 0) continue;
    const name = token.text.slice(1);
    if (seen.has(name)) again.push(token);
    seen.add(name);
  }
  return again;
}
