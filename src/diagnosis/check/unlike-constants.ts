import { literalText, stringText } from "../../rdf/term-text.ts";
import { rdf, xsd } from "../../rdf/vocabularies.ts";
import type { ParsedQuery } from "../../sparql/parse-query.ts";
import { constantAt } from "../../sparql/triple-texts.ts";
import type { Token } from "../../sparql/tokens.ts";
import { factsOf } from "./pattern-evidence.ts";
import { type Offer, type QueryScope, tokensOf } from "./query-scope.ts";
import type { PropertyFacts, Vocabulary } from "./vocabulary.ts";

const { langString } = rdf;
const numeric = new Set(
  ["integer", "decimal", "float", "double", "int", "long", "short", "byte", "nonNegativeInteger"].map(
    (name) => `http://www.w3.org/2001/XMLSchema#${name}`,
  ),
);
const mostForms = 3;

/**
 * Constants whose datatype or language contradicts the descriptions: the property has no such values there. Offered in
 * the forms that it has.
 */
export function unlikeConstants(parsed: ParsedQuery, scope: QueryScope): readonly Offer[] {
  const { vocabulary } = scope;
  if (vocabulary === undefined) return [];
  return constantsOf(parsed, scope).flatMap((constant) => {
    const { facts, at, to, value, language } = constant;
    if (fits(constant, vocabulary)) return [];
    const before = parsed.text.slice(parsed.tokens[at]?.start, parsed.tokens[to - 1]?.end);
    return formsFor(value, facts, vocabulary).map((after, rank) => ({
      repair: { kind: language === "" ? "datatype" : "language", before, after, applied: false },
      edits: [{ range: { from: at, to }, replacement: ` ${after} ` }],
      score: 0.85 - rank / 100,
      why: "the property has no values of this kind by its description",
    }));
  });
}

/** Whether a property may have a value of this kind; of one that leads to resources too, nothing is known. */
function fits({ facts, datatype, language, isCompared }: Constant, { languages }: Vocabulary): boolean {
  const { datatypes, objects } = facts;
  if (datatypes.size === 0 || objects.size > 0) return true;
  if (language !== "") return datatypes.has(langString) && (languages.size === 0 || languages.has(language));
  return datatypes.has(datatype) || (isCompared && isNumberLike(datatype, facts));
}

/** Comparisons of numbers look at the value, not at the datatype. */
const isNumberLike = (datatype: string, { datatypes }: PropertyFacts): boolean =>
  numeric.has(datatype) && [...datatypes].some((each) => numeric.has(each));

function formsFor(value: string, { datatypes }: PropertyFacts, { languages }: Vocabulary): readonly string[] {
  const forms = [...datatypes].flatMap((iri) => {
    if (iri === langString) return [...languages].slice(0, mostForms).map((tag) => `${stringText(value)}@${tag}`);
    if (iri === xsd.string) return [stringText(value)];
    if (numeric.has(iri) && !/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(value)) return [];
    if (iri === xsd.integer) return /^[+-]?\d+$/.test(value) ? [value] : [];
    return [`${stringText(value)}^^<${iri}>`];
  });
  return forms.slice(0, mostForms);
}

export interface Constant {
  /** IRI of the property. */
  readonly property: string;
  readonly facts: PropertyFacts;
  /** In N-Triples syntax. */
  readonly text: string;
  /** Its tokens. */
  readonly at: number;
  readonly to: number;
  readonly value: string;
  readonly datatype: string;
  readonly language: string;
  /** It stands in a FILTER, where numbers are compared by value. */
  readonly isCompared: boolean;
}

/** The literals that are objects of a property, or compared with such an object by `=`. */
export function constantsOf(parsed: ParsedQuery, scope: QueryScope): readonly Constant[] {
  const { vocabulary, patterns, ranges } = scope;
  const found: Constant[] = [];
  for (const pattern of patterns) {
    const facts = vocabulary && factsOf(pattern, vocabulary);
    if (facts === undefined || pattern.predicate.kind !== "iri") continue;
    const { object } = pattern;
    for (const literal of literalsIn(parsed, ranges)) {
      const before = literal.at - 1;
      const isObjectHere =
        object.kind === "literal" &&
        literalText(object.literal) === literal.text &&
        tokensOf(parsed, pattern.predicate.iri, [{ from: before, to: before + 1 }]).length > 0;
      const isCompared = object.kind === "variable" && isComparedWith(parsed, literal, object.name);
      if (isObjectHere || isCompared) found.push({ ...literal, property: pattern.predicate.iri, facts, isCompared });
    }
  }
  return found;
}

function isComparedWith({ tokens }: ParsedQuery, { at, to }: { at: number; to: number }, name: string): boolean {
  const isVariable = (token: Token | undefined): boolean => token?.kind === "var" && token.text.slice(1) === name;
  return (
    (tokens[at - 1]?.text === "=" && isVariable(tokens[at - 2])) ||
    (tokens[to]?.text === "=" && isVariable(tokens[to + 1]))
  );
}

type PlacedLiteral = Omit<Constant, "property" | "facts" | "isCompared">;

function literalsIn(parsed: ParsedQuery, ranges: QueryScope["ranges"]): readonly PlacedLiteral[] {
  const places = ranges.flatMap(({ from, to }) =>
    Array.from({ length: to - from }, (_, step) => ({ from: from + step, to })),
  );
  return places.flatMap((place): readonly PlacedLiteral[] => {
    const { range, term } = constantAt(parsed, place) ?? {};
    if (range === undefined || term?.kind !== "literal") return [];
    const { value, language, datatype } = term.literal;
    const text = literalText(term.literal);
    return [{ at: range.from, to: range.to, value, datatype: datatype.value, language: language.toLowerCase(), text }];
  });
}
