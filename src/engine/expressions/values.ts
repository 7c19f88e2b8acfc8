import type * as RDF from "@rdfjs/types";
import { DataFactory } from "rdf-data-factory";
import { isMomentType, type Moment, momentToText, type MomentType, parseMoment } from "./date-times.ts";
import { type Duration, type DurationType, durationToText, isDurationType, parseDuration } from "./durations.ts";
import { ExpressionError } from "./expression-error.ts";
import { tagOf } from "../../rdf/term-text.ts";
import { languageTypes } from "../../rdf/vocabularies.ts";
import { type Numeric, numericToText, parseNumeric } from "./numbers.ts";

export const xsd = "http://www.w3.org/2001/XMLSchema#";

const factory = new DataFactory();

/** Value of a literal in its datatype. */
export type Value =
  | { readonly kind: "string"; readonly text: string }
  | { readonly kind: "tagged"; readonly text: string; readonly tag: string }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "number"; readonly number: Numeric }
  | { readonly kind: "moment"; readonly type: MomentType; readonly moment: Moment }
  | { readonly kind: "duration"; readonly type: DurationType; readonly duration: Duration }
  /** A literal of an unknown datatype, or one that is not in its datatype's lexical space. */
  | { readonly kind: "other" };

const stringTypes: ReadonlySet<string> = new Set(
  "normalizedString token language Name NCName NMTOKEN ENTITY ID IDREF".split(" "),
);
const booleans: Readonly<Record<string, boolean>> = { true: true, "1": true, false: false, "0": false };

/** The value of a literal (RDF 1.1 Concepts, section 5); a text outside its datatype is `other`. */
export function valueOf(term: RDF.Literal): Value {
  // A parsed literal computes its parts each time that they are read.
  const { value: text } = term;
  const tag = tagOf(term);
  if (tag !== "") return { kind: "tagged", text, tag };
  const datatype = term.datatype.value;
  if (!datatype.startsWith(xsd)) return { kind: "other" };
  return typedValue(text, datatype.slice(xsd.length)) ?? { kind: "other" };
}

/** The value of a text in a datatype of XML Schema, named without its namespace; undefined when it is none. */
export function typedValue(text: string, type: string): Value | undefined {
  // Most literals that are compared are strings and numbers.
  if (type === "string") return { kind: "string", text };
  const number = parseNumeric(text, type);
  if (number) return { kind: "number", number };
  if (stringTypes.has(type)) return { kind: "string", text };
  if (type === "boolean") {
    const value = Object.hasOwn(booleans, text) ? booleans[text] : undefined;
    return value === undefined ? undefined : { kind: "boolean", value };
  }
  const momentType = type === "dateTimeStamp" ? "dateTime" : type;
  if (isMomentType(momentType)) {
    const moment = parseMoment(text, momentType);
    return moment && { kind: "moment", type: momentType, moment };
  }
  if (!isDurationType(type)) return undefined;
  const duration = parseDuration(text, type);
  return duration && { kind: "duration", type, duration };
}

/** A literal of a datatype of XML Schema. */
export const typed = (text: string, type: string): RDF.Literal => factory.literal(text, factory.namedNode(xsd + type));
export const iri = (value: string): RDF.NamedNode => factory.namedNode(value);
export const string = (text: string): RDF.Literal => factory.literal(text);
const [yes, no] = [typed("true", "boolean"), typed("false", "boolean")];
export const boolean = (value: boolean): RDF.Literal => (value ? yes : no);
export const numeric = (number: Numeric): RDF.Literal => typed(numericToText(number), number.type);
export const moment = (value: Moment, type: MomentType): RDF.Literal => typed(momentToText(value, type), type);
export const duration = (value: Duration, type: DurationType): RDF.Literal => typed(durationToText(value, type), type);

/** A literal of any datatype but those that have a language. */
export function literalOf(text: string, datatype: RDF.NamedNode): RDF.Literal {
  if (languageTypes.has(datatype.value)) {
    throw new ExpressionError("A literal of rdf:langString or rdf:dirLangString has a language tag.");
  }
  return factory.literal(text, datatype);
}

/** A triple term (RDF 1.2). @throws ExpressionError if the terms are no triple */
export function tripleOf(subject: RDF.Term, predicate: RDF.Term, object: RDF.Term): RDF.Quad {
  const isSubject = subject.termType === "NamedNode" || subject.termType === "BlankNode";
  if (isSubject && isObject(object) && predicate.termType === "NamedNode") {
    return factory.quad(subject, predicate, object);
  }
  throw new ExpressionError("The arguments are no triple.");
}

const isObject = (term: RDF.Term): term is RDF.Quad_Object =>
  term.termType !== "Variable" && term.termType !== "DefaultGraph";

export const isTriple = (term: RDF.Term): term is RDF.Quad => term.termType === "Quad";

/** @throws ExpressionError when the term is no literal */
export function literal(term: RDF.Term): RDF.Literal {
  if (term.termType !== "Literal") throw new ExpressionError("The argument is no literal.");
  return term;
}

/** The number of a term. @throws ExpressionError when it is none */
export function numberOf(term: RDF.Term): Numeric {
  const value = valueOf(literal(term));
  if (value.kind !== "number") throw new ExpressionError("The argument is no number.");
  return value.number;
}

/** The text of a literal without a language tag. @throws ExpressionError when it is none */
export function simpleText(term: RDF.Term): string {
  const value = valueOf(literal(term));
  if (value.kind !== "string") throw new ExpressionError("The argument is no string without a language tag.");
  return value.text;
}

/** A string literal: its text, and its `tagOf`. @throws ExpressionError when it is none */
export function textOf(term: RDF.Term): { readonly text: string; readonly tag: string } {
  const value = valueOf(literal(term));
  if (value.kind === "tagged") return value;
  if (value.kind !== "string") throw new ExpressionError("The argument is no string.");
  return { text: value.text, tag: "" };
}

/** A string literal with a `tagOf`, or a simple one. */
export function tagged(text: string, tag: string): RDF.Literal {
  if (tag === "") return string(text);
  const [language = tag, direction] = tag.split("--");
  return factory.literal(text, direction === "ltr" || direction === "rtl" ? { language, direction } : tag);
}

/** The effective boolean value (SPARQL 1.1 Query, section 17.2.2). @throws ExpressionError if there is none */
export function truthOf(term: RDF.Term): boolean {
  if (term === yes || term === no) return term === yes;
  const checked = literal(term);
  const value = valueOf(checked);
  switch (value.kind) {
    case "boolean":
      return value.value;
    case "string":
    case "tagged":
      return value.text !== "";
    case "number":
      return "exact" in value.number
        ? value.number.exact.unscaled !== 0n
        : !(value.number.value === 0 || Number.isNaN(value.number.value));
    default:
      if (isIllTyped(checked)) return false;
      throw new ExpressionError("The argument is neither true nor false.");
  }
}

/** A literal of xsd:boolean or a numeric datatype whose text is none of it: false, and no error. */
function isIllTyped({ datatype }: RDF.Literal): boolean {
  if (!datatype.value.startsWith(xsd)) return false;
  const type = datatype.value.slice(xsd.length);
  return type === "boolean" || ["1", "-1"].some((text) => parseNumeric(text, type) !== undefined);
}
