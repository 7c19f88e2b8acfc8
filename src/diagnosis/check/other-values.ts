import type * as RDF from "@rdfjs/types";
import type { Finder } from "../../registry/find.ts";
import type { Query, TokenRange } from "../../sparql/query.ts";
import { likelyScore, type Offer, type QueryScope } from "./query-scope.ts";
import type { TypeFinding } from "./type-findings.ts";
import type { Constraint } from "../../sparql/patterns.ts";
import { literalText } from "../../rdf/term-text.ts";
import { termFromText } from "../../results/terms.ts";
import { isSameMeant, likeness } from "../why/alike.ts";

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
): Promise<{ readonly offers: readonly Offer[]; readonly findings: readonly TypeFinding[] }> {
  if (scope.ids.length === 0) return { offers: [], findings: [] };
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
    const own = hits.filter(({ property }) => property === constant.property);
    if (own.some(({ literal }) => literal === literalText(constant.literal))) return { offers: [], findings: [] };
    const isCertain = labelsAll(constant) || scope.ids.every((id) => hasAll(id, constant.property));
    const offers = offersFor(parsed, constant, { hits: own, isCertain });
    const isUnsaid = isCertain && !constant.isRequired && offers.every(({ score }) => score < likelyScore);
    return { offers, findings: isUnsaid ? [missing(parsed, constant)] : [] };
  });
  const all = await Promise.all(found);
  return { offers: all.flatMap(({ offers }) => offers), findings: all.flatMap(({ findings }) => findings) };
}

/** A value that is nowhere, in a part that rows need not match: with rows, nothing else says so. */
function missing({ prologue }: Query, { property, literal, range }: ValueConstant): TypeFinding {
  const message = `${prologue.written(property)} has no value ${literalText(literal)}: this part matches nothing, as all values were read.`;
  return { certain: true, isEmpty: false, message, statements: [], places: [range.from] };
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

interface Found {
  readonly hits: Awaited<ReturnType<Finder["findValues"]>>;
  readonly isCertain: boolean;
}

function offersFor(parsed: Query, constant: ValueConstant, { hits, isCertain }: Found): readonly Offer[] {
  const { literal: written, range } = constant;
  const before = parsed.textOf(range);
  const likely = new Map(hits.filter(({ score }) => score >= leastLike).map((hit) => [hit.literal, hit]));
  const isMeant = ({ literal }: (typeof hits)[number]): boolean => {
    const found = termFromText(literal);
    return isSameMeant(written, found, likeness(written, found));
  };
  const ranked = [...likely.values()].toSorted((one, other) => Number(isMeant(other)) - Number(isMeant(one)));
  return ranked.slice(0, mostOffered).map((hit) => {
    const { literal, score, label } = hit;
    const isSame = label === written.value;
    // Another value asks another question.
    const sure = isSame ? 0.9 : isCertain && isMeant(hit) ? 0.86 : 0.4;
    const edit = parsed.termEdit(range, literal);
    return {
      repair: { kind: isSame ? "language" : "value", before, after: edit.replacement.trim(), applied: false },
      edits: [edit],
      score: sure + score / 100,
      why: isSame ? "the data have the text in this form" : "the value of the data that is most like it",
    };
  });
}

/** A literal that a property is asked for, as its object, by `=`, `!=`, IN or VALUES. */
interface ValueConstant {
  /** IRI. */
  readonly property: string;
  readonly service: string | undefined;
  readonly literal: RDF.Literal;
  readonly range: TokenRange;
  /** Each row must have it. */
  readonly isRequired: boolean;
}

const isPositive = ({ operator }: { readonly operator: string }): boolean => !/^(?:!=|notin)$/.test(operator);

/** The literals that properties are asked for. */
function valueConstants(constraints: readonly Constraint[]): readonly ValueConstant[] {
  const comparisons = constraints.filter((each) => each.kind === "comparison");
  const equal = Map.groupBy(
    comparisons.filter(({ operator }) => !/[<>]/.test(operator)),
    ({ name }) => name,
  );
  return constraints.flatMap((pattern) => {
    if (pattern.kind !== "pattern" || pattern.predicate.term.kind !== "iri") return [];
    const { object, scope } = pattern;
    const { iri: property } = pattern.predicate.term;
    const same = object.term.kind === "variable" ? (equal.get(object.term.name) ?? []) : [];
    const compared = same
      .filter((other) => pattern.scope.joinWith(other.scope, other.name))
      .map((other) => {
        const { term, range } = other.constant;
        return { term, range, isRequired: isPositive(other) && other.scope.isRequired };
      });
    return [{ ...object, isRequired: true }, ...compared].flatMap(({ term, range, isRequired }) =>
      term.kind === "literal" && range
        ? {
            property,
            service: scope.service,
            literal: term.literal,
            range,
            isRequired: isRequired && scope.isRequired,
          }
        : [],
    );
  });
}
