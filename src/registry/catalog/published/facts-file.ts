import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";

export const iri = Type.String({ minLength: 1, maxLength: 2_048 });
const urls = Type.Optional(Type.Array(iri, { maxItems: 100 }));
/** Other URLs of an endpoint, of parts and copies of its data, of pages on it, and targets that are its own extensions. */
export const urlLists = { aliases: urls, parts: urls, mirrors: urls, pages: urls, pseudoServices: urls };
export const amount = Type.Integer({ minimum: 0 });
export const prefixMap = Type.Record(Type.String({ maxLength: 60 }), iri);
export const termFacts = Type.Object({
  uses: Type.Optional(amount),
  instances: Type.Optional(amount),
  triples: Type.Optional(amount),
  by: Type.Optional(Type.Array(Type.String())),
});

/** Where facts were taken from. */
export const sourceSchema = Type.Object({
  repo: Type.String(),
  commit: Type.String(),
  path: Type.String(),
  date: Type.String(),
  licence: Type.String(),
});

const prefixesSchema = Type.Object({
  predefined: Type.Optional(Type.Object({ basis: Type.String(), map: prefixMap })),
  usedUndeclared: Type.Optional(prefixMap),
  examples: Type.Optional(prefixMap),
});

/** A number alone is of uses. */
const termsSchema = Type.Record(iri, Type.Record(Type.String(), Type.Union([amount, termFacts])));

const factsFile = Type.Object({
  format: Type.Literal(1),
  url: iri,
  asOf: Type.String({ pattern: String.raw`^\d{4}-\d\d-\d\d$` }),
  ...urlLists,
  prefixes: Type.Optional(prefixesSchema),
  /** Local names by namespace. */
  classes: Type.Optional(termsSchema),
  properties: Type.Optional(termsSchema),
  /** Uses of IRIs that begin like this. */
  resourceSpaces: Type.Optional(Type.Record(iri, amount)),
  sources: Type.Array(sourceSchema),
});

/** The facts of one endpoint as `catalog/published/` has them. */
export type FactsFile = Static<typeof factsFile>;

const validator = Compile(factsFile);

/** @throws SyntaxError, TypeError with the reason, in words for the operator */
export function parseFactsFile(text: string): FactsFile {
  const value: unknown = JSON.parse(text);
  if (validator.Check(value)) return value;
  const [first] = validator.Errors(value);
  throw new TypeError(`${first?.instancePath ?? "/"} ${first?.message ?? "is not a file of published facts"}.`);
}

/** As JSON with a line for each term, so that differences can be reviewed; without fields that are undefined or empty. */
export function factsFileText(facts: object): string {
  const fields = entries(facts).map(([name, value]) => {
    const isTerms = (name === "classes" || name === "properties") && typeof value === "object" && value !== null;
    const spaces = isTerms ? entries(value).map(([space, terms]) => `${JSON.stringify(space)}: ${lines(terms)}`) : [];
    return `"${name}": ${isTerms ? block(spaces) : lines(value)}`;
  });
  return `${block(fields)}\n`;
}

const entries = (value: object): readonly (readonly [string, unknown])[] =>
  Object.entries(value).filter(([, item]) => item !== undefined && JSON.stringify(item) !== "{}");

const block = (items: readonly string[]): string => `{\n${items.join(",\n")}\n}`;

/** An array or object with a line for each of its items; anything else on its own. */
function lines(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[\n${value.map((item) => ` ${JSON.stringify(item)}`).join(",\n")}\n]`;
  return block(entries(value).map(([key, item]) => ` ${JSON.stringify(key)}: ${JSON.stringify(item)}`));
}
