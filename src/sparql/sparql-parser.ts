import sparqljs, { type SparqlQuery } from "sparqljs";

type ParserState = [text: string, length: number, line: number, shared: object, rule: number, values: unknown[]];

/** sparqljs' parser as it was generated: rules by their number, symbols by their name. */
interface Generated {
  readonly symbols_: Readonly<Record<string, number>>;
  readonly productions_: readonly (readonly [symbol: number, length: number])[];
  performAction: (this: unknown, ...state: ParserState) => unknown;
}

const isGenerated = (parser: object): parser is Generated =>
  ["symbols_", "productions_", "performAction"].every((name) => name in parser);

/** The syntax tree of a query. @throws what sparqljs throws */
export function runSparqlParser(text: string): SparqlQuery {
  // Its check of ungrouped variables refuses `(COUNT(*) AS ?c) (?c + 1 AS ?d)`; check-projection.ts does it right.
  const parser = new sparqljs.Parser({ skipUngroupedVariableCheck: true });
  if (!isGenerated(parser)) throw new Error("sparqljs' parser has no rules");
  acceptBareNodes(parser);
  parser._resetBlanks();
  return parser.parse(text);
}

/** `CONSTRUCT { [ :p ?o ] . }`: in a template sparqljs fails where no property follows a node in brackets. */
function acceptBareNodes(parser: Generated): void {
  const { symbols_: symbols, productions_: productions, performAction } = parser;
  parser.performAction = function withList(...state) {
    const [, , , , rule, values] = state;
    if (productions[rule]?.[0] === symbols["TriplesSameSubject"]) values[values.length - 1] ??= [];
    return performAction.apply(this, state);
  };
}
