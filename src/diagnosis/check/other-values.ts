import type * as RDF from "@rdfjs/types";
import type { Finder } from "../../registry/find.ts";
import type { Query, TokenRange } from "../../sparql/query.ts";
import type { Offer, QueryScope } from "./query-scope.ts";
import type { Constraint } from "../../sparql/patterns.ts";
import { literalText } from "../../rdf/term-text.ts";

const mostConstants = 5;
const mostHits = 50;
const mostOffered = 3;
/** Like enough to be offered. */
const leastLike = 0.5;

/**
 * Text constants that the endpoints do not have for their property, with the values that are most like them: in another
 * language, of other case, misspelt. Where all values of the property are known the constant is wrong for certain;
 * elsewhere it may merely not have been read, so that nothing is suggested before the answer is empty.
 */
export async function otherValues(
  { parsed, constraints }: { readonly parsed: Query; readonly constraints: readonly Constraint[] },
  scope: QueryScope,
  finder: Finder,
): Promise<readonly Offer[]> {
  if (scope.ids.length === 0) return [];
  const hasAll = (id: string, iri: string): boolean =>
    finder.holdsAll(id, iri) || finder.hasTerm(id, { kind: "property", iri }) === "no";
  // A property whose values are labels is known whole when each of its triples gave one.
  const labelsAll = ({ property }: ValueConstant): boolean => {
    const facts = scope.vocabularies.flatMap(({ properties }) => properties.get(property) ?? []);
    const triples = sumOf(facts.map((each) => each.triples ?? 0));
    const isCounted = triples > 0 && facts.every((each) => each.isCounted);
    return isCounted && sumOf(scope.ids.map((id) => finder.labelsBy(id, property))) >= triples;
  };
  const isText = ({ service, property, range }: ValueConstant): boolean =>
    service === scope.service &&
    scope.vocabularies.some(({ properties }) => properties.has(property)) &&
    parsed.tokens[range.from]?.kind === "string";
  const texts = valueConstants(constraints).filter(isText);
  const found = texts.slice(0, mostConstants).map(async (constant) => {
    const hits = await finder.findValues({ texts: [constant.literal.value], endpoints: scope.ids, limit: mostHits });
    return offersFor(parsed, constant, {
      hits: hits.filter(({ property }) => property === constant.property),
      isCertain: labelsAll(constant) || scope.ids.every((id) => hasAll(id, constant.property)),
    });
  });
  return (await Promise.all(found)).flat();
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

interface Found {
  readonly hits: Awaited<ReturnType<Finder["findValues"]>>;
  readonly isCertain: boolean;
}

function offersFor(parsed: Query, constant: ValueConstant, { hits, isCertain }: Found): readonly Offer[] {
  const { literal: written, range } = constant;
  if (hits.some(({ literal }) => literal === literalText(written))) return [];
  const before = parsed.textOf(range);
  const likely = new Map(hits.filter(({ score }) => score >= leastLike).map((hit) => [hit.literal, hit]));
  return [...likely.values()].slice(0, mostOffered).map(({ literal, score, label }) => {
    const isSame = label === written.value;
    const sure = isSame ? 0.9 : isCertain ? 0.86 : 0.4;
    const edit = parsed.termEdit(range, literal);
    return {
      repair: { kind: isSame ? "language" : "value", before, after: edit.replacement.trim(), applied: false },
      edits: [edit],
      score: sure + score / 100,
      why: isSame ? "the data have the text in this form" : "the value of the data that is most like it",
    };
  });
}

/** A literal that a property is asked for, as its object or by `=`. */
interface ValueConstant {
  /** IRI. */
  readonly property: string;
  readonly service: string | undefined;
  readonly literal: RDF.Literal;
  readonly range: TokenRange;
}

/** The literals that properties are asked for. */
function valueConstants(constraints: readonly Constraint[]): readonly ValueConstant[] {
  const comparisons = constraints.filter((each) => each.kind === "comparison");
  const equal = Map.groupBy(
    comparisons.filter(({ operator }) => operator === "="),
    ({ name }) => name,
  );
  return constraints.flatMap((pattern) => {
    if (pattern.kind !== "pattern" || pattern.predicate.term.kind !== "iri") return [];
    const { object, scope } = pattern;
    const { iri: property } = pattern.predicate.term;
    const same = object.term.kind === "variable" ? (equal.get(object.term.name) ?? []) : [];
    const compared = same
      .filter((other) => pattern.scope.joinWith(other.scope, other.name))
      .map(({ constant }) => constant);
    return [object, ...compared].flatMap(({ term, range }) =>
      term.kind === "literal" && range ? [{ property, service: scope.service, literal: term.literal, range }] : [],
    );
  });
}
