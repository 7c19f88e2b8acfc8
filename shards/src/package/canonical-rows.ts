import { createHash } from "node:crypto";
import { itemAt } from "../../../src/values.ts";
import { compareText } from "../../../src/rdf/canonical.ts";
import { literalText } from "../../../src/rdf/term-text.ts";
import { termFromJson } from "../../../src/results/read-json.ts";
import { relabelled, termToText } from "../../../src/results/terms.ts";
import type { JsonTerm, Solution } from "./whole-store.ts";

const xsd = "http://www.w3.org/2001/XMLSchema#";
const integers = new Set(
  ["integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger"].map((name) => xsd + name),
);
const others = new Set(["decimal", "double", "float"].map((name) => xsd + name));
/** Engines round means and sums of doubles differently behind this many digits. */
const digits = 10;

/**
 * A term of SPARQL results JSON as text: numbers by value, whatever their datatype (`12`, `0.5`), plain and `xsd:string` literals in
 * quotation marks, language tags in lower case with their base direction, blank nodes as `_:`; an unbound variable is an empty text.
 */
export function canonicalTerm(term: JsonTerm | undefined): string {
  if (term === undefined) return "";
  const read = termFromJson(term);
  if (read === undefined) throw new TypeError("The store's answer has a cell that is no RDF term.");
  if (read.termType === "Literal") return numberText(read.value, read.datatype.value) ?? literalText(read);
  return read.termType === "BlankNode" ? "_:" : termToText(relabelled(read, () => "b"));
}

/** A solution as a row of canonical terms. */
export const cellsOf = (solution: Solution, columns: readonly string[]): readonly string[] =>
  columns.map((name) => canonicalTerm(solution[name]));

function numberText(lexical: string, datatype: string): string | undefined {
  if (integers.has(datatype) && /^[+-]?\d{1,1000}$/u.test(lexical))
    return BigInt(lexical.replace(/^\+/u, "")).toString();
  if (!integers.has(datatype) && !others.has(datatype)) return undefined;
  const value = lexical.trim() === "" ? Number.NaN : Number(lexical);
  if (!Number.isFinite(value)) return undefined;
  return Number.isSafeInteger(value) ? String(value + 0) : String(Number(value.toPrecision(digits)));
}

/** More orders of columns than this are not tried: six columns that look alike. */
const mostOrders = 720;

/**
 * Hashes of the set and of the multiset of rows that depend neither on the columns' names nor on their order: of all orders of
 * columns the one whose rows come first as text.
 */
export function signaturesOf(rows: readonly (readonly string[])[]) {
  const multisets = columnOrders(rows).map((order) =>
    rows.map((row) => JSON.stringify(order.map((at) => row[at]))).toSorted(compareText),
  );
  const texts = multisets.map((sorted) => sorted.join("\n"));
  const sets = multisets.map((sorted) => [...new Set(sorted)].join("\n"));
  return { signature: digest(least(sets)), multisetSignature: digest(least(texts)) };
}

const least = (texts: readonly string[]): string => itemAt(texts.toSorted(compareText), 0);
const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The orders of columns sorted by their values; columns with the same values in each of their orders. */
function columnOrders(rows: readonly (readonly string[])[]): readonly (readonly number[])[] {
  const width = rows[0]?.length ?? 0;
  const texts = Array.from({ length: width }, (_, at) =>
    JSON.stringify([...new Set(rows.map((row) => itemAt(row, at)))].toSorted(compareText)),
  );
  const alike = Map.groupBy(texts.keys(), (at) => itemAt(texts, at));
  const groups = [...alike].toSorted(([left], [right]) => compareText(left, right)).map(([, columns]) => columns);
  let orders: readonly (readonly number[])[] = [[]];
  for (const columns of groups) {
    const ways = permutations(columns, Math.floor(mostOrders / orders.length));
    orders = orders.flatMap((order) => ways.map((way) => order.concat(way)));
  }
  return orders;
}

/** All orders of some columns, or the one they have where there are too many. */
export function permutations(columns: readonly number[], most: number): readonly (readonly number[])[] {
  let count = 1;
  for (let at = 2; at <= columns.length; at++) count *= at;
  if (columns.length < 2 || count > most) return [columns];
  return columns.flatMap((first) =>
    permutations(
      columns.filter((column) => column !== first),
      most,
    ).map((rest) => [first].concat(rest)),
  );
}
