import type { ValueHit, ValueIndex } from "../../registry/values/value-index.ts";
import type { KnownTerms } from "../../plan/plan-request.ts";
import type { ParsedQuery } from "../../sparql/parse-query.ts";
import type { Offer, QueryScope } from "./query-scope.ts";
import { type Constant, constantsOf } from "./unlike-constants.ts";

/** What is known of the values that endpoints have. */
export type KnownValues = Pick<ValueIndex, "find" | "holdsAll" | "labelsBy">;

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
  parsed: ParsedQuery,
  scope: QueryScope,
  { values, search: terms }: { readonly values?: KnownValues | undefined; readonly search: KnownTerms },
): Promise<readonly Offer[]> {
  if (values === undefined || scope.ids.length === 0) return [];
  const hasAll = (id: string, iri: string): boolean =>
    values.holdsAll(id, iri) || terms.hasTerm(id, { kind: "property", iri }) === "no";
  // A property whose values are labels is known whole when each of its triples gave one.
  const labelsAll = ({ property, facts: { isCounted, triples = 0 } }: Constant): boolean =>
    isCounted && triples > 0 && sumOf(scope.ids.map((id) => values.labelsBy(id, property))) >= triples;
  const texts = constantsOf(parsed, scope).filter(({ at }) => parsed.tokens[at]?.kind === "string");
  const found = texts.slice(0, mostConstants).map(async (constant) => {
    const hits = await values.find({ texts: [constant.value], endpoints: scope.ids, limit: mostHits });
    return offersFor(parsed, constant, {
      hits: hits.filter(({ property }) => property === constant.property),
      isCertain: labelsAll(constant) || scope.ids.every((id) => hasAll(id, constant.property)),
    });
  });
  return (await Promise.all(found)).flat();
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

interface Found {
  readonly hits: readonly ValueHit[];
  readonly isCertain: boolean;
}

function offersFor(parsed: ParsedQuery, constant: Constant, { hits, isCertain }: Found): readonly Offer[] {
  const { at, to, text, value } = constant;
  if (hits.some(({ literal }) => literal === text)) return [];
  const before = parsed.text.slice(parsed.tokens[at]?.start, parsed.tokens[to - 1]?.end);
  const likely = new Map(hits.filter(({ score }) => score >= leastLike).map((hit) => [hit.literal, hit]));
  return [...likely.values()].slice(0, mostOffered).map(({ literal, score, label }) => {
    const isSame = label === value;
    const sure = isSame ? 0.9 : isCertain ? 0.86 : 0.4;
    return {
      repair: { kind: isSame ? "language" : "value", before, after: literal, applied: false },
      edits: [{ range: { from: at, to }, replacement: ` ${literal} ` }],
      score: sure + score / 100,
      why: isSame ? "the data have the text in this form" : "the value of the data that is most like it",
    };
  });
}
