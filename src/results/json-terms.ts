import type * as RDF from "@rdfjs/types";
import { termFromText } from "./terms.ts";

/** A term as a program reads it: a JSON value where that is all there is to it, else an object that names the rest. */
export type JsonTerm =
  | string
  | number
  | boolean
  | { readonly iri: string }
  | { readonly blank: string }
  | { readonly triple: string }
  | { readonly value: string; readonly language: string }
  | { readonly value: string; readonly datatype: string };

/** @param text as `termToText` writes it */
export function jsonTerm(text: string): JsonTerm {
  if (text.startsWith("<<")) return { triple: text };
  const term = termFromText(text);
  if (term.termType === "NamedNode") return { iri: term.value };
  if (term.termType === "BlankNode") return { blank: term.value };
  if (term.termType === "Literal") return literal(term, text);
  throw new Error("no RDF term");
}

/** A row as an object, without the columns that are unbound. @param cells in the order of `columns` */
export const jsonRow = <Value>(
  columns: readonly string[],
  cells: readonly (string | null)[],
  valueOf: (cell: string) => Value,
): Readonly<Record<string, Value>> =>
  Object.fromEntries(
    columns.flatMap((name, at) => {
      const cell = cells[at] ?? null;
      return cell === null ? [] : [[name, valueOf(cell)]];
    }),
  );

const xsd = "http://www.w3.org/2001/XMLSchema#";

function literal({ value, language, datatype: { value: datatype } }: RDF.Literal, text: string): JsonTerm {
  // With the base direction that it may have.
  if (language !== "") return { value, language: text.slice(text.lastIndexOf('"') + 2) };
  if (datatype === `${xsd}string`) return value;
  const scalar = datatype.startsWith(xsd) ? jsonScalar(value, datatype.slice(xsd.length)) : undefined;
  return scalar ?? { value, datatype };
}

const integers =
  /^(?:integer|long|int|short|byte|(?:non)?(?:Negative|Positive|negative|positive)Integer|unsigned(?:Long|Int|Short|Byte))$/;
/** A JSON number has them all. */
const decimalDigits = 15;
const booleans: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

/** The JSON value that is the same; undefined where a number would lose digits, or the text is not of its type. */
function jsonScalar(text: string, type: string): number | boolean | undefined {
  if (type === "boolean") return booleans.get(text);
  const number = Number(text);
  const isExact = integers.test(type)
    ? /^[+-]?\d+$/.test(text) && Number.isSafeInteger(number)
    : type === "decimal"
      ? /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) && text.replaceAll(/^[+-]?0*|\./g, "").length <= decimalDigits
      : /^(?:double|float)$/.test(type) && /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text);
  return isExact && Number.isFinite(number) ? number : undefined;
}
