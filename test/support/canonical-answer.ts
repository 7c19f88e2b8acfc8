import type { Quad, Store, Term } from "oxigraph";
import type * as RDF from "@rdfjs/types";
import type { QueryResult } from "../../src/results/model.ts";
import { termToText } from "../../src/results/terms.ts";

/**
 * An answer in a form that two engines can be compared in. Rows are sorted unless the query orders them totally.
 * Terms: numbers by value (nine significant digits, because AVG and doubles are rounded differently), `xsd:string` as a
 * plain literal, language tags in lower case, every blank node as `_:` (its shape; labels mean nothing outside one answer).
 */
export type CanonicalAnswer =
  | { readonly kind: "bindings"; readonly rows: readonly string[] }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "quads"; readonly triples: readonly string[] };

const XSD = "http://www.w3.org/2001/XMLSchema#";
const numericTypes = new Set(["integer", "decimal", "double", "float"].map((name) => XSD + name));

/** A literal without syntax. */
export interface LiteralParts {
  readonly value: string;
  readonly language: string;
  readonly datatype: string;
}

export function canonicalLiteral({ value, language, datatype }: LiteralParts): string {
  if (language !== "") return `${JSON.stringify(value)}@${language.toLowerCase()}`;
  if (numericTypes.has(datatype)) return `${canonicalNumber(value)}^^${datatype.slice(XSD.length)}`;
  if (datatype === "" || datatype === `${XSD}string`) return JSON.stringify(value);
  return `${JSON.stringify(value)}^^<${datatype}>`;
}

function canonicalNumber(lexical: string): string {
  const number = Number(lexical);
  return Number.isNaN(number) ? lexical : String(Number(number.toPrecision(9)));
}

/** Canonical text of an RDF/JS term of Oxigraph. */
export function canonicalTerm(term: Term): string {
  switch (term.termType) {
    case "NamedNode":
      return `<${term.value}>`;
    case "BlankNode":
      return "_:";
    case "Literal":
      return canonicalLiteral({ value: term.value, language: term.language, datatype: term.datatype.value });
    default:
      throw new Error(`A term of type ${term.termType} in an answer`);
  }
}

const literalSyntax = /^"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^<([^>]*)>)?$/su;

/** Canonical text of a term in N-Triples or TSV syntax. */
export function canonicalText(text: string): string {
  if (text.startsWith("<")) return text;
  if (text.startsWith("_:")) return "_:";
  const literal = literalSyntax.exec(text);
  if (literal) {
    return canonicalLiteral({
      value: unescapeLiteral(literal[1] ?? ""),
      language: literal[2] ?? "",
      datatype: literal[3] ?? "",
    });
  }
  if (text === "true" || text === "false") return `"${text}"^^<${XSD}boolean>`;
  const type = /[eE]/u.test(text) ? "double" : text.includes(".") ? "decimal" : "integer";
  if (!Number.isNaN(Number(text))) return canonicalLiteral({ value: text, language: "", datatype: XSD + type });
  throw new Error(`Not a term: ${text}`);
}

const escapes: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", b: "\b", f: "\f" };

function unescapeLiteral(text: string): string {
  return text.replaceAll(/\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)/gsu, (escape) => {
    const code = Number.parseInt(escape.slice(2), 16);
    return escape.length > 2 ? String.fromCodePoint(code) : (escapes[escape.slice(1)] ?? escape.slice(1));
  });
}

/** One solution as text: bound variables in name order. */
export function canonicalRow(solution: Iterable<readonly [variable: string, term: string]>): string {
  const cells = [...solution].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return cells.map(([variable, term]) => `?${variable}=${term}`).join(" ");
}

/** A bindings answer; `inOrder` keeps the order of the rows. */
export function bindingsAnswer(rows: readonly string[], inOrder: boolean): CanonicalAnswer {
  return { kind: "bindings", rows: inOrder ? rows : rows.toSorted() };
}

/** A graph: a set, because repeated triples mean nothing. */
export function graphAnswer(triples: readonly string[]): CanonicalAnswer {
  return { kind: "quads", triples: [...new Set(triples)].toSorted() };
}

/** A result of Fedway's in comparable form. */
export async function toAnswer(
  result: QueryResult,
  inOrder = false,
  textOf = (term: RDF.Term): string => canonicalText(termToText(term)),
): Promise<CanonicalAnswer> {
  if (result.kind === "boolean") return { kind: "boolean", value: result.value };
  const lines: string[] = [];
  if (result.kind === "quads") {
    for await (const { subject, predicate, object } of result.quads)
      lines.push([subject, predicate, object].map(textOf).join(" "));
    return graphAnswer(lines);
  }
  for await (const row of result.rows) lines.push(canonicalRow([...row].map(([name, term]) => [name, textOf(term)])));
  return bindingsAnswer(lines, inOrder);
}

/** What an Oxigraph store answers. @throws Error when Oxigraph refuses the query */
export function storeAnswer(store: Store, query: string, inOrder = false): CanonicalAnswer {
  const result = store.query(query);
  if (typeof result === "boolean") return { kind: "boolean", value: result };
  if (!Array.isArray(result)) throw new Error("Oxigraph answered with text");
  const lines = (result as (Quad | Map<string, Term>)[]).map((one) =>
    one instanceof Map
      ? canonicalRow([...one].map(([name, term]) => [name, canonicalTerm(term)]))
      : [one.subject, one.predicate, one.object].map(canonicalTerm).join(" "),
  );
  return isConstruct(query) ? graphAnswer(lines) : bindingsAnswer(lines, inOrder);
}

/** Generated and hand-written test queries start with their form, after prefixes at most. */
const isConstruct = (query: string): boolean =>
  /^\s*(?:PREFIX\s+\S*\s*<[^>]*>\s*)*(?:CONSTRUCT|DESCRIBE)\b/iu.test(query);

/** The answer holds a solution, a triple or `true`. */
export function isNonEmpty(answer: CanonicalAnswer): boolean {
  switch (answer.kind) {
    case "bindings":
      return answer.rows.length > 0;
    case "boolean":
      return answer.value;
    case "quads":
      return answer.triples.length > 0;
    default:
      return false;
  }
}

/** What `actual` lacks and what it has too much, as text; undefined when both answers are the same. */
export function answerDifference(expected: CanonicalAnswer, actual: CanonicalAnswer): string | undefined {
  const [wanted, got] = [linesOf(expected), linesOf(actual)];
  if (JSON.stringify(wanted) === JSON.stringify(got)) return undefined;
  const missing = multisetMinus(wanted, got).map((line) => `  - ${line}`);
  const extra = multisetMinus(got, wanted).map((line) => `  + ${line}`);
  const head = `expected ${expected.kind} with ${wanted.length} lines, got ${actual.kind} with ${got.length}`;
  if (missing.length + extra.length === 0) return `${head}: the same rows in another order\n${got.join("\n")}`;
  return [`${head} (- missing, + too many)`, ...missing.slice(0, 20), ...extra.slice(0, 20)].join("\n");
}

function linesOf(answer: CanonicalAnswer): readonly string[] {
  if (answer.kind === "boolean") return [String(answer.value)];
  return answer.kind === "bindings" ? answer.rows : answer.triples;
}

function multisetMinus(left: readonly string[], right: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const line of right) counts.set(line, (counts.get(line) ?? 0) + 1);
  return left.filter((line) => {
    const count = counts.get(line) ?? 0;
    counts.set(line, count - 1);
    return count <= 0;
  });
}
