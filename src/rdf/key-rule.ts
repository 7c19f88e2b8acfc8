import { stringText } from "./term-text.ts";
import { xsd } from "./vocabularies.ts";

/** Parts of a key that steps remove, in the order in which `keyExpressions` applies them; the case comes last. */
export const keySteps = ["blanks", "case", "padding", "version"] as const;

/** Blanks around a key, its capital letters, zeros before its numbers, a version or language at its end. */
export type KeyStep = (typeof keySteps)[number];

/** How values that name the same things in two data sets are made alike. */
export interface KeyRule {
  /** Text before the key in values on this side, and in those of the other data set. */
  readonly prefix: string;
  readonly otherPrefix: string;
  readonly steps: readonly KeyStep[];
  /**
   * How the other data set writes its values: "iri", or the datatype of its literals. Absent: values of both are made keys, and
   * these are compared.
   */
  readonly form?: string | undefined;
}

/** A key rule as SPARQL. */
export interface KeyExpressions {
  /** An expression over a value here. */
  readonly left: (value: string) => string;
  /** The same for a value of the other data set; absent: the left expression gives its values as they are. */
  readonly right?: ((value: string) => string) | undefined;
}

/** The SPARQL expressions of a rule. */
export function keyExpressions(rule: KeyRule): KeyExpressions {
  const { prefix, otherPrefix, form } = rule;
  const left = (value: string): string => keyText(value, prefix, rule);
  if (form === undefined) return { left, right: (value) => keyText(value, otherPrefix, rule) };
  return {
    left: (value) =>
      asForm(otherPrefix === "" ? left(value) : `CONCAT(${stringText(otherPrefix)}, ${left(value)})`, form),
  };
}

const versionPattern = "([.][0-9]{1,3}|[_-]v[0-9]{1,3}|[@_-](en|de|fr|es|it))$";

function keyText(value: string, prefix: string, { steps }: KeyRule): string {
  let text = `STR(${value})`;
  if (steps.includes("blanks")) text = String.raw`REPLACE(${text}, "^\\s+|\\s+$", "")`;
  if (prefix !== "") text = `STRAFTER(${text}, ${stringText(prefix)})`;
  if (steps.includes("version")) text = `REPLACE(${text}, "${versionPattern}", "")`;
  if (steps.includes("padding")) text = `REPLACE(${text}, "(^|[^0-9])0+([0-9])", "$1$2")`;
  return steps.includes("case") ? `LCASE(${text})` : text;
}

function asForm(text: string, form: string): string {
  if (form === "iri") return `IRI(${text})`;
  return form === xsd.string ? text : `STRDT(${text}, <${form}>)`;
}
