import { type ServiceClause, type TokenRange, type TextEdit, type Query } from "../../sparql/query.ts";
import { type PlacedPattern } from "../../sparql/patterns.ts";
import { rdf } from "../../rdf/vocabularies.ts";
import type { Repair } from "../../errors/fedway-error.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** The patterns of a query that the same endpoints are asked, and what is known of those. */
export interface QueryScope {
  /** The IRI that SERVICE names; undefined for the patterns outside of every SERVICE. */
  readonly service: string | undefined;
  /** Token index of that IRI. */
  readonly target: number | undefined;
  /** Catalogue ids of the endpoints that are asked. */
  readonly ids: readonly string[];
  /** Of those endpoints that are described. */
  readonly vocabularies: readonly Vocabulary[];
  readonly patterns: readonly PlacedPattern[];
  /** Tokens of the scope's patterns. */
  readonly ranges: readonly TokenRange[];
}

/** Less likely offers are not suggested before the answer is known. */
export const likelyScore = 0.5;

/** A change of a query that is only offered. */
export interface Offer {
  readonly repair: Repair;
  /** Of the tokens of the parsed query. */
  readonly edits: readonly TextEdit[];
  /** From 0 to 1; larger is likelier. */
  readonly score: number;
  readonly why: string;
}

/** The scopes of a query: one for each SERVICE, one for the patterns outside of all. */
export function scopesOf(
  parsed: Query,
  known: (service: string | undefined) => Pick<QueryScope, "ids" | "vocabularies">,
): readonly QueryScope[] {
  const { services } = parsed;
  const byClause = new Map<ServiceClause | undefined, PlacedPattern[]>();
  for (const pattern of parsed.allPatterns) {
    const clause = clauseOf(pattern, services);
    const own = byClause.get(clause);
    if (own) own.push(pattern);
    else byClause.set(clause, [pattern]);
  }
  const groups = services.map(({ element }) => element.group);
  const whole = { from: parsed.prologue.length, to: parsed.tokens.length };
  return [...byClause].map(([clause, patterns]) => {
    const service = clause?.target.kind === "iri" ? clause.target.iri : undefined;
    const ranges = withoutRanges(clause?.element.group ?? whole, groups);
    const { ids, vocabularies } = known(service);
    return { service, target: clause?.element.name, patterns, ranges, ids, vocabularies };
  });
}

function clauseOf({ service, clause }: PlacedPattern, all: readonly ServiceClause[]): ServiceClause | undefined {
  const isNamed = ({ target }: ServiceClause): boolean => target.kind === "iri" && target.iri === service;
  const counted = clause === undefined ? undefined : all[clause];
  return counted && (isNamed(counted) ? counted : all.find(isNamed));
}

/** `range` without the ranges inside it. */
function withoutRanges(range: TokenRange, others: readonly TokenRange[]): readonly TokenRange[] {
  const inner = others.filter(({ from, to }) => from > range.from && to <= range.to);
  const left: TokenRange[] = [];
  let { from } = range;
  for (const other of inner.toSorted((one, two) => one.from - two.from)) {
    if (other.from > from) left.push({ from, to: other.from });
    from = Math.max(from, other.to);
  }
  return [...left, { from, to: range.to }];
}

/** Indexes of the tokens in these ranges that stand for an IRI. */
export function tokensOf({ tokens, prologue }: Query, iri: string, ranges: readonly TokenRange[]): readonly number[] {
  const isSame = (at: number): boolean => {
    const token = tokens[at];
    if (token?.kind === "word") return token.text === "A" && iri === rdf.type;
    return (token?.kind === "iri" || token?.kind === "pname") && prologue.iriOf(token) === iri;
  };
  return ranges.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, step) => from + step).filter(isSame));
}

/** The edits of those offers that do not touch each other, best first. */
export function editsOf(offers: readonly Offer[]): readonly TextEdit[] {
  const edits: TextEdit[] = [];
  const overlaps = ({ range }: TextEdit): boolean =>
    edits.some((edit) => range.from < edit.range.to && edit.range.from < range.to);
  for (const offer of offers.toSorted((one, other) => other.score - one.score)) {
    if (offer.edits.some(overlaps)) continue;
    edits.push(...offer.edits);
  }
  return edits;
}
