import type { LiteralTerm as Literal, Term, Triple } from "sparqljs";
import { FedwayError } from "../../errors/fedway-error.ts";
import { keepsSpelling } from "../../rdf/spellings.ts";
import { iriText, stringText } from "../../rdf/term-text.ts";
import type { Query, TextEdit } from "../parse/query.ts";
import type { Placed } from "../parse/term-reader.ts";
import { parseQuery } from "../parse/parse-query.ts";
import { isTriple, isPath } from "../patterns/query-patterns.ts";

/**
 * A store of values that has the literals it would spell in another way, such as `"01"^^xsd:integer`, under datatypes of its
 * own: `"01"^^<mark...integer>`.
 */
interface SpelledStore {
  /** Stands before the IRI of the datatype that such a literal has. */
  readonly mark: string;
  /** Predicates of triples with such literals; undefined: any. */
  readonly predicates: ReadonlySet<string> | undefined;
}

/**
 * The query as such a store answers it by the terms and the values that the data have: literals in patterns are the terms of
 * the store, and operators get the values of variables that may have such literals. Other queries stay as they are.
 * @throws FedwayError `QUERY_TOO_LARGE` for one that cannot be parsed here
 */
export function spelledQuery(text: string, store: SpelledStore): string {
  let query: Query;
  try {
    query = parseQuery(text);
  } catch (error) {
    if (error instanceof FedwayError && error.code === "QUERY_TOO_LARGE") throw error;
    // The store's parser says what is wrong, or takes it.
    return text;
  }
  const edits = new SpelledEdits(query, store).edits();
  return edits.length === 0 ? text : query.cut(edits);
}

/** An expression is asked for its term, as by BIND, or for its value, as by FILTER. */
type Use = "term" | "value";
type Node = Readonly<Record<string, unknown>>;

const isNode = (part: unknown): part is Node => typeof part === "object" && part !== null;
const isTerm = (part: Node): part is Node & Term => "termType" in part;

const ofTerms = new Set(
  "bound sameterm str lang langmatches isiri isuri isblank isliteral count group_concat exists notexists".split(" "),
);
/** These return an argument. */
const returning = new Set(["if", "coalesce", "sample"]);

/** The use of an argument of a function, an operator or an aggregate. */
function useOfArgument(name: string, at: number, use: Use): Use {
  if (returning.has(name)) return name === "if" && at === 0 ? "value" : use;
  return ofTerms.has(name) ? "term" : "value";
}

class SpelledEdits {
  readonly #query: Query;
  readonly #mark: string;
  /** Variables that may have a marked literal. */
  readonly #marked: ReadonlySet<string>;
  /** By the token where they begin. */
  readonly #edits = new Map<number, TextEdit>();

  constructor(query: Query, { mark, predicates }: SpelledStore) {
    this.#query = query;
    this.#mark = mark;
    this.#marked = markedVariables(query, predicates);
  }

  edits(): readonly TextEdit[] {
    this.#visit(this.#query.ast, "term");
    return [...this.#edits.values()];
  }

  #visit(part: unknown, use: Use): void {
    if (Array.isArray(part)) for (const each of part) this.#visit(each, use);
    else if (!isNode(part)) return;
    else if (isTerm(part)) this.#visitTerm(part, use);
    else if (part["type"] === "operation" || part["type"] === "functionCall") this.#visitCall(part, use);
    else if (part["type"] === "aggregate") this.#visitAggregate(part, use);
    else for (const [key, inner] of Object.entries(part)) this.#visit(inner, useIn(part, key, use));
  }

  #visitCall({ operator, args }: Node, use: Use): void {
    if (!Array.isArray(args)) return;
    const name = typeof operator === "string" ? operator.toLowerCase() : "";
    if (name === "datatype" && this.#visitDatatype(args[0])) return;
    for (const [at, argument] of args.entries()) this.#visit(argument, useOfArgument(name, at, use));
  }

  #visitAggregate(part: Node, use: Use): void {
    const name = String(part["aggregation"]).toUpperCase();
    const variable = use === "term" ? this.#markedName(part["expression"]) : undefined;
    const place = this.#placeOf(part);
    if ((name === "MIN" || name === "MAX") && variable !== undefined && place !== undefined) {
      this.#edit(place, extremeTerm(name, `?${variable}`, this.#mark));
    } else this.#visit(part["expression"], useOfArgument(name.toLowerCase(), 0, use));
  }

  #placeOf(part: object): TextEdit["range"] | undefined {
    return this.#query.places.get(part as Placed);
  }

  /** The name of a variable that may have a marked literal. */
  #markedName(part: unknown): string | undefined {
    if (!isNode(part) || !isTerm(part) || part.termType !== "Variable") return undefined;
    return this.#marked.has(part.value) ? part.value : undefined;
  }

  /** DATATYPE of a variable gives the datatype that its literal has in the data. */
  #visitDatatype(argument: unknown): boolean {
    const name = this.#markedName(argument);
    const place = name === undefined ? undefined : this.#placeOf(argument as object);
    if (place === undefined) return false;
    const { tokens } = this.#query;
    const range = { from: place.from - 2, to: place.to + 1 };
    // With brackets around the variable its value is asked.
    if (tokens[range.from]?.text.toUpperCase() !== "DATATYPE" || tokens[place.to]?.text !== ")") return false;
    this.#edit(range, `IRI(REPLACE(STR(DATATYPE(?${name})), "^${this.#mark}", ""))`);
    return true;
  }

  #visitTerm(term: Term, use: Use): void {
    const place = this.#query.places.get(term);
    if (place === undefined) return;
    if (use === "value" && this.#markedName(term) !== undefined) {
      this.#edit(place, valueOf(`?${term.value}`, this.#mark));
    } else if (term.termType === "Literal" && use === "term") {
      if (isSpelled(this.#query, term))
        this.#edit(place, `${stringText(lexicalOf(this.#query, term))}^^${iriText(this.#mark + term.datatype.value)}`);
    }
  }

  #edit(range: TextEdit["range"], replacement: string): void {
    this.#edits.set(range.from, { range, replacement });
  }
}

/** The use of what stands under a key of a query or a pattern. */
function useIn(part: Node, key: string, use: Use): Use {
  if (key === "having" || key === "order" || part["type"] === "filter") return "value";
  return "type" in part ? "term" : use;
}

/** The value of a variable as an expression: that of a marked literal, or what it has. */
const valueOf = (variable: string, mark: string): string =>
  `COALESCE(IF(STRSTARTS(STR(DATATYPE(${variable})), "${mark}"), ` +
  `STRDT(STR(${variable}), IRI(STRAFTER(STR(DATATYPE(${variable})), "${mark}"))), ${variable}), ${variable})`;

/**
 * MIN or MAX of a variable as one of its terms: the values of marked literals stand beside their texts in one string, in which
 * the text of the least or greatest value is found.
 */
function extremeTerm(name: "MIN" | "MAX", variable: string, mark: string): string {
  const keyOf = (value: string): string => `CONCAT("\\n", STR(${value}), "\\t", STR(DATATYPE(${value})), "\\t")`;
  const value = valueOf(variable, mark);
  const datatype = `STR(DATATYPE(${variable}))`;
  const entry = `CONCAT(${keyOf(value)}, STR(${variable}), "\\t", ${datatype}, "\\n")`;
  const entries = `GROUP_CONCAT(DISTINCT COALESCE(IF(STRSTARTS(${datatype}, "${mark}"), ${entry}, ""), ""); SEPARATOR="")`;
  const extreme = `${name}(${value})`;
  const found = `STRAFTER(${entries}, ${keyOf(extreme)})`;
  const term = `STRDT(STRBEFORE(${found}, "\\t"), IRI(STRBEFORE(STRAFTER(${found}, "\\t"), "\\n")))`;
  return `COALESCE(IF(CONTAINS(${entries}, ${keyOf(extreme)}), ${term}, ${extreme}), ${extreme})`;
}

/** The text of a literal; the parser leaves out the sign of `+1`. */
function lexicalOf(query: Query, literal: Literal): string {
  const place = query.places.get(literal);
  const text = place === undefined ? "" : query.textOf(place);
  return /^[+\-.\d]/u.test(text) ? text.replaceAll(/\s/gu, "") : literal.value;
}

/** True for literals that the store would spell in another way. */
const isSpelled = (query: Query, part: unknown): boolean =>
  isNode(part) &&
  isTerm(part) &&
  part.termType === "Literal" &&
  part.language === "" &&
  !keepsSpelling(lexicalOf(query, part), part.datatype.value);

/** Names of variables that may have a marked literal, or a value that is computed from one. */
function markedVariables(query: Query, predicates: ReadonlySet<string> | undefined): ReadonlySet<string> {
  const marked = new Set<string>();
  /** Each computed variable, and its expression. */
  const computed: (readonly [name: string, expression: unknown])[] = [];
  for (const part of partsOf(query.ast)) {
    const ends = isTriple(part) ? mayBeMarked(part, predicates) : [];
    for (const term of ends) if (term.termType === "Variable") marked.add(term.value);
    const { variable, expression } = part;
    if (isNode(variable) && isTerm(variable)) computed.push([variable.value, expression]);
    for (const name of spelledInRow(query, part)) marked.add(name);
  }
  const isMarked = (part: Node): boolean =>
    isTerm(part) && part.termType === "Variable" ? marked.has(part.value) : isSpelled(query, part);
  for (let before = -1; before < marked.size; ) {
    before = marked.size;
    for (const [name, expression] of computed) if (partsOf(expression).some(isMarked)) marked.add(name);
  }
  return marked;
}

/** Names of variables that a row of VALUES gives such a literal; none for other parts. */
const spelledInRow = (query: Query, row: Node): readonly string[] =>
  Object.keys(row).flatMap((name) => (name.startsWith("?") && isSpelled(query, row[name]) ? [name.slice(1)] : []));

/** Ends of a triple that may be such literals. */
function mayBeMarked(
  { subject, predicate, object }: Triple,
  predicates: ReadonlySet<string> | undefined,
): readonly Term[] {
  if (predicates?.size === 0) return [];
  if (isPath(predicate)) return [subject, object];
  return predicates === undefined || predicate.termType === "Variable" || predicates.has(predicate.value)
    ? [object]
    : [];
}

/** An object of the tree and those inside it. */
function* partsOf(root: unknown): Generator<Node> {
  const pending = [root];
  while (pending.length > 0) {
    const part = pending.pop();
    if (!isNode(part)) continue;
    yield part;
    if (!isTerm(part)) pending.push(...Object.values(part));
  }
}
