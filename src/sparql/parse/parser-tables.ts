import sparqljs, { type AggregateExpression, type PropertyPath, type SparqlQuery, type Term } from "sparqljs";
import { type Prologue, resolveIri } from "./resolve-iri.ts";
import type { TokenRange } from "./outline.ts";
import { functionsOf12 } from "./sparql-1-2.ts";
import { isWord, type Token, tokenAt } from "./tokens.ts";

/** Action of a generated parser in a state: takes a token and goes to a state, reduces by a rule, or accepts. */
type Action = readonly [kind: 1 | 2 | 3, target: number];
type Reduction = [text: string, length: number, line: number, shared: object, rule: number, values: unknown[]];

/** sparqljs' parser as jison generated it: rules, states and symbols by their number. */
interface Generated {
  readonly symbols_: Readonly<Record<string, number>>;
  readonly terminals_: Readonly<Record<number, string>>;
  readonly productions_: readonly (readonly [symbol: number, length: number])[];
  readonly table: readonly Readonly<Record<number, Action | number>>[];
  readonly defaultActions: Readonly<Record<number, Action>>;
  readonly lexer: { readonly rules: readonly RegExp[]; performAction(yy: object, yy_: object, rule: number): unknown };
  performAction: (this: unknown, ...reduction: Reduction) => unknown;
  parse: () => unknown;
}

const isGenerated = (parser: unknown): parser is Generated =>
  typeof parser === "object" &&
  parser !== null &&
  ["symbols_", "terminals_", "productions_", "table", "defaultActions", "lexer", "performAction"].every(
    (name) => name in parser,
  );

/** Error for a text outside the grammar. */
export interface ParserFailure {
  readonly message: string;
  /** Index of the first token that does not fit, and the terminals that would. */
  readonly misfit?: { readonly at: number; readonly expected: readonly string[] };
}

/** A text to be parsed. */
interface Source {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly prologue: Prologue;
}

/** A nonterminal that was recognised, what sparqljs makes of it, and what was built for those inside it, in text order. */
export interface ParsedNode<Part> extends TokenRange {
  readonly value: unknown;
  readonly parts: readonly Part[];
}

/** Builders of nonterminals, by their names in the grammar. */
export type Builders<Part> = Readonly<Record<string, (node: ParsedNode<Part>) => Part>>;

type Placed = Term | PropertyPath | AggregateExpression;

/** The tokens of each term, property path and aggregate of a tree; brackets around a path are its own. */
export type Places = ReadonlyMap<Placed, TokenRange>;

interface ParsedTree<Part> {
  readonly ast: SparqlQuery;
  readonly places: Places;
  /** Parts built for the outermost nonterminals. */
  readonly parts: readonly Part[];
}

/**
 * Runs sparqljs' grammar over tokens that were scanned already, so that one scanner says what a token is, and builds what the
 * caller wants of nonterminals beside sparqljs' tree. jison's own lexer tries 126 rules for each token, and its loop copies its
 * stacks at each reduction. Names are handed to it as absolute IRIs.
 * @throws what sparqljs throws; `ParserFailure`
 */
export function runSparqlParser<Part>(source: Source, builders: Builders<Part>): ParsedTree<Part> {
  // Its check of ungrouped variables refuses `(COUNT(*) AS ?c) (?c + 1 AS ?d)`; check-query.ts does it right.
  const parser = new sparqljs.Parser({ skipUngroupedVariableCheck: true });
  const generated: unknown = Object.getPrototypeOf(parser);
  if (!isGenerated(generated)) throw new Error("sparqljs' parser has no tables");
  const run = new TableRun(generated, source, builders);
  const { parse } = generated;
  // All parsers share the generated code: other callers of sparqljs get its own loop back.
  generated.parse = () => run.parse();
  try {
    parser._resetBlanks();
    const ast = parser.parse(source.text);
    return { ast, places: run.places, parts: run.parts };
  } finally {
    generated.parse = parse;
  }
}

/** A symbol on the stack: the state that it led to, its first token, and what was built inside it. */
interface Frame<Part> {
  state: number;
  readonly start: number;
  parts: Part[] | undefined;
}

/** One run of the tables. */
class TableRun<Part> {
  readonly places = new Map<Placed, TokenRange>();
  readonly #generated: Generated;
  readonly #source: Source;
  readonly #builders: ReadonlyMap<number, Builders<Part>[string]>;
  readonly #frames: Frame<Part>[] = [{ state: 0, start: 0, parts: undefined }];
  /** Of the frames; sparqljs' actions read them from the end. */
  readonly #values: unknown[] = [null];
  /** Index of the first token that was not taken. */
  #at = 0;

  constructor(generated: Generated, source: Source, builders: Builders<Part>) {
    this.#generated = generated;
    this.#source = source;
    this.#builders = new Map(Object.entries(builders).map(([name, build]) => [generated.symbols_[name] ?? 0, build]));
  }

  get parts(): readonly Part[] {
    return this.#frames.flatMap(({ parts }) => parts ?? []);
  }

  parse(): unknown {
    const { table, defaultActions } = this.#generated;
    let next = terminalAt(this.#source, 0, this.#generated);
    for (;;) {
      const { state } = this.#top();
      const action = defaultActions[state] ?? table[state]?.[next.symbol];
      if (typeof action !== "object") throw this.#misfit(state);
      const [kind, target] = action;
      if (kind === 1) {
        this.#values.push(next.text);
        this.#frames.push({ state: target, start: this.#at, parts: undefined });
        this.#at += next.width;
        next = terminalAt(this.#source, this.#at, this.#generated);
        continue;
      }
      const whole = kind === 3 || this.#reduce(target);
      if (whole !== undefined) return whole;
    }
  }

  #top(): Frame<Part> {
    return this.#frames[this.#frames.length - 1] ?? { state: 0, start: 0, parts: undefined };
  }

  /** Puts what a rule makes of the topmost values in their place; answers the whole tree when it is complete. */
  #reduce(rule: number): unknown {
    const { productions_: productions, symbols_: symbols, performAction, table } = this.#generated;
    const [symbol = 0, length = 0] = productions[rule] ?? [];
    const values = this.#values;
    // `CONSTRUCT { [ :p ?o ] . }`: in a template sparqljs fails where no property follows a node in brackets.
    if (symbol === symbols["TriplesSameSubject"]) values[values.length - 1] ??= [];
    const reduced = { $: values[values.length - length] };
    // The grammar's actions read neither the text nor the place of the last token.
    const whole = performAction.call(reduced, "", 0, 0, {}, rule, values);
    if (whole !== undefined) return whole;
    const value = reduced.$;
    const frame = this.#take(length);
    const range = { from: frame.start, to: this.#at };
    this.#place(value, range);
    const build = this.#builders.get(symbol);
    if (build) frame.parts = [build({ ...range, value, parts: frame.parts ?? [] })];
    frame.state = Number(table[this.#top().state]?.[symbol]);
    values.push(value);
    this.#frames.push(frame);
    return undefined;
  }

  #place(value: unknown, range: TokenRange): void {
    if (isPlaced(value) && ("pathType" in value || !this.places.has(value))) this.places.set(value, range);
  }

  /** Takes symbols from the stacks: the frame of the first, with all parts in one list, so that lists of elements grow one by one. */
  #take(length: number): Frame<Part> {
    const first = this.#frames.length - length;
    const taken = this.#frames[first] ?? { state: 0, start: this.#at, parts: undefined };
    for (let index = first + 1; index < this.#frames.length; index++) {
      const parts = this.#frames[index]?.parts;
      if (taken.parts && parts) for (const part of parts) taken.parts.push(part);
      taken.parts ??= parts;
    }
    this.#frames.length = first;
    this.#values.length = first;
    return taken;
  }

  #misfit(state: number): Error {
    const { table, terminals_: terminals } = this.#generated;
    const expected = Object.keys(table[state] ?? {}).flatMap((number) => terminals[Number(number)] ?? []);
    return Object.assign(new Error("Parse error"), { misfit: { at: this.#at, expected } });
  }
}

const isPlaced = (value: unknown): value is Placed =>
  typeof value === "object" && value !== null && ("termType" in value || "pathType" in value || "aggregation" in value);

interface Terminal {
  readonly symbol: number;
  readonly text: string;
  /** In tokens. */
  readonly width: number;
}

/** The terminal that begins at a token; VERSION is read over, as the grammar of SPARQL 1.1 lacks it. */
function terminalAt(source: Source, at: number, generated: Generated): Terminal {
  const { text, tokens, prologue } = source;
  const token = tokens[at];
  if (token === undefined) return { symbol: generated.symbols_["EOF"] ?? 0, text: "", width: 0 };
  if (at < prologue.length && isWord(token, "VERSION")) {
    const behind = terminalAt(source, at + 2, generated);
    return { ...behind, width: behind.width + 2 };
  }
  const joint = token.kind === "punct" ? jointAt(source, at) : undefined;
  if (joint) return { symbol: symbolOf(joint.text, joint.kind, generated), text: joint.text, width: 2 };
  const written = text.slice(token.start, token.end);
  const symbol = symbolOf(written, token.kind, generated);
  const isName = symbol !== 0 && at >= prologue.length && (token.kind === "iri" || token.kind === "pname");
  if (!isName) return { symbol, text: written, width: 1 };
  return { symbol: generated.symbols_["IRIREF"] ?? 0, text: `<${resolveIri(prologue, token)}>`, width: 1 };
}

/** Two tokens that are one terminal: NIL and ANON, and a number with its sign (rules 146 ff., 161, 163). */
function jointAt({ text, tokens }: Source, at: number): Pick<Token, "kind" | "text"> | undefined {
  const [token, next] = [tokenAt(tokens, at), tokens[at + 1]];
  const joined = token.text + (next?.text ?? "");
  if (next?.kind === "number" && (token.text === "+" || token.text === "-"))
    return next.start === token.end ? { kind: "number", text: joined } : undefined;
  const isEmpty = joined === "()" || joined === "[]";
  return next && isEmpty && /^[ \t\r\n]*$/.test(text.slice(token.end, next.start))
    ? { kind: "punct", text: joined }
    : undefined;
}

/** Which of the lexer's rules may read a token; those of keywords and signs are looked for once. */
const terminalsOfKind: Readonly<Partial<Record<Token["kind"], RegExp>>> = {
  iri: /^IRIREF$/,
  pname: /^PNAME_/,
  blank: /^BLANK_NODE_LABEL$/,
  var: /^VAR$/,
  lang: /^LANGTAG$/,
  number: /^(?:INTEGER|DECIMAL|DOUBLE)/,
  string: /^STRING_LITERAL/,
};

interface LexerRule {
  readonly symbol: number;
  readonly pattern: RegExp;
}

const rulesOfKind = new Map<Token["kind"], readonly LexerRule[]>();
const knownWords = new Map<string, number>();

/** The terminal that a token is by one of the lexer's rules; 0, which is none, where no rule reads all of it. */
function symbolOf(written: string, kind: Token["kind"], generated: Generated): number {
  const isOpen = terminalsOfKind[kind] !== undefined;
  const known = isOpen ? undefined : knownWords.get(written);
  if (known !== undefined) return known;
  const rules = rulesOfKind.get(kind) ?? rulesFor(kind, generated);
  rulesOfKind.set(kind, rules);
  const symbol =
    newerSymbol(written, kind, generated) ??
    rules.find(({ pattern }) => pattern.exec(written)?.[0].length === written.length)?.symbol ??
    0;
  // There are some hundred words and signs, but any number of words that are none.
  if (!isOpen && symbol !== 0) knownWords.set(written, symbol);
  return symbol;
}

/** Functions and base directions of SPARQL 1.2 stand where the grammar has other functions and language tags. */
function newerSymbol(written: string, kind: Token["kind"], { symbols_: symbols }: Generated): number | undefined {
  if (kind === "lang" && written.includes("--")) return symbols["LANGTAG"];
  const count = kind === "word" ? functionsOf12.get(written.toUpperCase()) : undefined;
  return count && symbols[`FUNC_ARITY${count}`];
}

function rulesFor(kind: Token["kind"], { lexer, terminals_: terminals }: Generated): readonly LexerRule[] {
  const isWanted = terminalsOfKind[kind] ?? /./;
  // The first rule is for blanks, and the last one writes to the console.
  return lexer.rules.slice(0, -1).flatMap((pattern, rule) => {
    const symbol = rule === 0 ? undefined : lexer.performAction({}, {}, rule);
    const isRead = typeof symbol === "number" && isWanted.test(terminals[symbol] ?? "");
    return isRead ? [{ symbol, pattern }] : [];
  });
}
