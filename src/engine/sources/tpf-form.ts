import type * as RDF from "@rdfjs/types";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { TriplePattern } from "./triple-pattern.ts";

/** The search form of a fragments server (`hydra:search`). */
export interface SearchForm {
  /** `hydra:template`: a URI template (RFC 6570). */
  readonly template: string;
  /** What a relative template is resolved against. */
  readonly base: string;
  /** The template's variable for each part of a triple pattern. */
  readonly variables: { readonly subject: string; readonly predicate: string; readonly object: string };
}

/** URL of the first page of the fragment for a pattern. @throws FedwayError `ENDPOINT_MALFORMED` */
export function fragmentUrl(form: SearchForm, pattern: TriplePattern): string {
  const values = new Map<string, string>();
  for (const place of ["subject", "predicate", "object"] as const) {
    const text = explicitText(pattern[place]);
    if (text !== undefined) values.set(form.variables[place], text);
  }
  return new URL(expandTemplate(form, values), form.base).href;
}

/** `hydra:ExplicitRepresentation`; undefined for what the form cannot say: the place stays open. */
function explicitText(term: RDF.Term): string | undefined {
  if (term.termType === "NamedNode") return term.value;
  if (term.termType !== "Literal") return undefined;
  if (term.language !== "") return `"${term.value}"@${term.language}`;
  const datatype = term.datatype.value;
  const plain = datatype === "http://www.w3.org/2001/XMLSchema#string";
  return plain ? `"${term.value}"` : `"${term.value}"^^${datatype}`;
}

const longestTemplate = 4_000;

/**
 * Expands the expressions that fragment servers use: `{x}`, `{?x,y}` and `{&x,y}` (RFC 6570, sections 3.2.2, 3.2.8, 3.2.9).
 * @throws FedwayError `ENDPOINT_MALFORMED` for any other expression
 */
export function expandTemplate({ template }: SearchForm, values: ReadonlyMap<string, string>): string {
  if (template.length > longestTemplate) throw unreadable(template);
  return template.replaceAll(/\{([^{}]*)\}/g, (_, expression: string) => {
    const operator = /^[?&]/.exec(expression)?.[0];
    const names = expression.slice(operator ? 1 : 0).split(",");
    if (!names.every((name) => /^[\w.%-]+$/.test(name))) throw unreadable(template);
    const given = names.flatMap((name) => {
      const value = values.get(name);
      return value === undefined ? [] : [{ name, value: encodeValue(value) }];
    });
    if (!operator) return given.map(({ value }) => value).join(",");
    return given.map(({ name, value }, index) => `${index === 0 ? operator : "&"}${name}=${value}`).join("");
  });
}

/** Percent-encoding; a lone surrogate, which has no UTF-8 form, becomes U+FFFD. */
const encodeValue = (value: string): string => encodeURIComponent(value.toWellFormed());

function unreadable(template: string): FedwayError {
  const message = `The endpoint's search form "${template.slice(0, 200)}" is not one that Fedway can fill in.`;
  return new FedwayError("ENDPOINT_MALFORMED", message, { fault: "malformed" });
}
