import sparqljs, { type SparqlQuery } from "sparqljs";

/** What a generated parser does in a state: takes a token and goes to a state, reduces by a rule, or accepts. */
type Action = readonly [kind: 1 | 2 | 3, target: number];
type Reduction = [text: string, length: number, line: number, shared: object, rule: number, values: unknown[]];

/** sparqljs' parser as jison generated it: rules, states and symbols by their number. */
interface Generated {
  readonly symbols_: Readonly<Record<string, number>>;
  readonly terminals_: Readonly<Record<number, string>>;
  readonly productions_: readonly (readonly [symbol: number, length: number])[];
  readonly table: readonly Readonly<Record<number, Action | number>>[];
  readonly defaultActions: Readonly<Record<number, Action>>;
  readonly lexer: Lexer;
  performAction: (this: unknown, ...reduction: Reduction) => unknown;
  parse: (this: Generated, text: string) => unknown;
}

interface Place {
  readonly last_line: number;
  readonly last_column: number;
}

/** Reads a token by trying rules and keeping the longest match. */
interface Lexer {
  readonly rules: readonly RegExp[];
  readonly yytext: string;
  readonly yylloc: Place;
  readonly _input: string;
  setInput(text: string, shared: object): void;
  lex(): number;
  /** Numbers of the rules that are tried. */
  _currentRules(): readonly number[];
}

/** What it throws for a text that the grammar has no place for. */
export interface ParserFailure {
  readonly message: string;
  readonly hash?: { readonly loc?: Place; readonly expected?: readonly string[] };
}

const isGenerated = (parser: object): parser is Generated =>
  ["symbols_", "terminals_", "productions_", "table", "defaultActions", "lexer", "performAction"].every(
    (name) => name in parser,
  );

/** The syntax tree of a query. @throws what sparqljs throws */
export function runSparqlParser(text: string): SparqlQuery {
  // Its check of ungrouped variables refuses `(COUNT(*) AS ?c) (?c + 1 AS ?d)`; check-query.ts does it right.
  const parser = new sparqljs.Parser({ skipUngroupedVariableCheck: true });
  const generated: unknown = Object.getPrototypeOf(parser);
  if (typeof generated !== "object" || generated === null || !isGenerated(generated) || !isGenerated(parser))
    throw new Error("sparqljs' parser has no tables");
  generated.parse = runTables;
  acceptBareNodes(parser);
  parser._resetBlanks();
  return parser.parse(text);
}

/** `CONSTRUCT { [ :p ?o ] . }`: in a template sparqljs fails where no property follows a node in brackets. */
function acceptBareNodes(parser: Generated): void {
  const { symbols_: symbols, productions_: productions, performAction } = parser;
  parser.performAction = function withList(...reduction) {
    const [, , , , rule, values] = reduction;
    if (productions[rule]?.[0] === symbols["TriplesSameSubject"]) values[values.length - 1] ??= [];
    return performAction.apply(this, reduction);
  };
}

/** jison's own loop copies its stacks at each reduction, which takes time with the square of a query's length. */
function runTables(this: Generated, text: string): unknown {
  const { table, defaultActions } = this;
  const lexer = byFirstCharacter(this.lexer);
  lexer.setInput(text, {});
  const stacks: Stacks = { states: [0], values: [null] };
  let place = lexer.yylloc;
  let symbol: number | undefined;
  for (;;) {
    const state = topOf(stacks);
    if (defaultActions[state] === undefined) symbol ??= lexer.lex();
    const action = defaultActions[state] ?? table[state]?.[symbol ?? 0];
    if (typeof action !== "object") return refuse(this, state, place);
    const [kind, target] = action;
    if (kind === 1) {
      stacks.values.push(lexer.yytext);
      stacks.states.push(target);
      place = lexer.yylloc;
      symbol = undefined;
      continue;
    }
    const whole = kind === 3 || reduce(this, stacks, target);
    if (whole !== undefined) return whole;
  }
}

interface Stacks {
  readonly states: number[];
  readonly values: unknown[];
}

const topOf = ({ states }: Stacks): number => states.at(-1) ?? 0;

/** Puts what a rule makes of the topmost values in their place; answers the whole tree when it is complete. */
function reduce(parser: Generated, stacks: Stacks, rule: number): unknown {
  const { states, values } = stacks;
  const [symbol = 0, length = 0] = parser.productions_[rule] ?? [];
  const value = { $: values[values.length - length] };
  // The grammar's actions read neither the text nor the place of the last token.
  const whole = parser.performAction.call(value, "", 0, 0, {}, rule, values);
  if (whole !== undefined) return whole;
  states.length -= length;
  values.length -= length;
  values.push(value.$);
  states.push(Number(parser.table[topOf(stacks)]?.[symbol]));
  return undefined;
}

/** @throws always, as the parser's own loop does */
function refuse({ table, terminals_: terminals }: Generated, state: number, loc: Place): never {
  const expected = Object.keys(table[state] ?? {}).flatMap((number) => {
    const name = terminals[Number(number)];
    return name === undefined ? [] : [`'${name}'`];
  });
  throw Object.assign(new Error("Parse error"), { hash: { loc, expected } });
}

/** By first character, in lower case; "" for all that begin no keyword and no sign. */
const rulesByCharacter = new Map<string, readonly number[]>();

/** Tries a keyword only where its first letter stands: the lexer tries all of its 126 rules for each token. */
function byFirstCharacter(lexer: Lexer): Lexer {
  const rulesFor = (character: string): readonly number[] =>
    lexer.rules.flatMap((rule, number) => (firstCharacters(rule)?.includes(character) === false ? [] : [number]));
  const _currentRules = function currentRules(this: Lexer): readonly number[] {
    const first = this._input.charAt(0).toLowerCase();
    const character = first < "\u0080" ? first : "";
    const rules = rulesByCharacter.get(character) ?? rulesFor(character);
    rulesByCharacter.set(character, rules);
    return rules;
  };
  return Object.assign<Lexer, Partial<Lexer>>(Object.create(lexer), { _currentRules });
}

/** What texts of a rule begin with; undefined for all rules but keywords and signs. */
function firstCharacters({ source }: RegExp): readonly string[] | undefined {
  const words = /^\^\(\?:\(?([\w|]+)\)?\)$/.exec(source)?.[1];
  if (words !== undefined) return words.split("|").map((word) => word.charAt(0).toLowerCase());
  const sign = /^\^\(\?:(\\[^\w\s]|[<>,;=!&-])(?:\\[^\w\s]|[<>,;=!&-])*\)$/.exec(source)?.[1];
  return sign === undefined ? undefined : [sign.slice(-1)];
}
