import type * as RDF from "@rdfjs/types";
import { valueOf } from "../expressions/values.ts";

const XSD = "http://www.w3.org/2001/XMLSchema#";
const numeric = /^(?:decimal|double|float|int|long|short|byte|integer|\w+Integer|unsigned\w+)$/u;

/**
 * A text that is the same for terms that `=` finds equal (SPARQL 1.1 Query, section 17.3); it may be the same for others.
 * Numbers are compared as the least exact of their types would.
 */
export function equalityKey(term: RDF.Term): string {
  if (term.termType !== "Literal") return `${term.termType} ${term.value}`;
  if (term.language !== "") return `@${term.language.toLowerCase()} ${term.value}`;
  const { value: datatype } = term.datatype;
  // Those derived from xsd:string have its values.
  if (valueOf(term).kind === "string") return `" ${term.value}`;
  if (!datatype.startsWith(XSD) || !numeric.test(datatype.slice(XSD.length))) return "other";
  const number = Math.fround(Number(term.value));
  // Of minus zero and zero alike.
  return Number.isFinite(number) ? `number ${number + 0}` : "number";
}
