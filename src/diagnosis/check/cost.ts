import { itemAt } from "../../values.ts";
import { rdf } from "../../rdf/vocabularies.ts";
import { type PatternTerm, type PlacedPattern } from "../../sparql/patterns.ts";
import { type EndpointModels, joinsOf } from "../../registry/model.ts";
import { type Element, isWord, type Query } from "../../sparql/query.ts";
import type { QueryScope } from "./query-scope.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Rows from which pulling or making them is worth a warning. */
const manyRows = 50_000;
const aggregates = ["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"];

interface Estimate {
  readonly scope: QueryScope;
  /** Upper bound of the solutions of the scope's least frequent pattern; undefined: not known. */
  readonly rows: number | undefined;
  /** A constant beside classes and properties narrows it, by how much is not known. */
  readonly isNarrowed: boolean;
}

interface CostOptions {
  readonly scopes: readonly QueryScope[];
  readonly models: EndpointModels;
}

/** Estimated cost of a query by the counts of descriptions, in one sentence; undefined when there is nothing to say. */
export function costWarning(parsed: Query, { scopes, models }: CostOptions): string | undefined {
  const asked = scopes.filter(({ patterns }) => patterns.length > 0);
  const estimates = asked.map((scope) => estimateOf(scope, scope.patterns));
  return (
    product(parsed, { scopes: asked, models }) ?? heavyScope(parsed, estimates) ?? largeJoin(parsed, estimates, models)
  );
}

function heavyScope(parsed: Query, estimates: readonly Estimate[]): string | undefined {
  const [heaviest] = estimates
    .filter(({ rows = 0, isNarrowed }) => !isNarrowed && rows >= manyRows)
    .toSorted((one, other) => (other.rows ?? 0) - (one.rows ?? 0));
  if (heaviest === undefined) return undefined;
  const many = `${nameOf(heaviest)} may send up to ${numberText(heaviest.rows ?? 0)} rows`;
  if (estimates.length === 1) return isCut(parsed) ? undefined : `${many}; add LIMIT, a constant or an aggregate.`;
  const [lightest] = estimates
    .filter((each) => each !== heaviest && sharedBy(each.scope, heaviest.scope).length > 0)
    .toSorted((one, other) => weight(one) - weight(other));
  if (lightest === undefined || weight(lightest) >= (heaviest.rows ?? 0) / 2)
    return `${many}; add a constant or a FILTER.`;
  const { rows, isNarrowed } = lightest;
  const few = rows === undefined ? "" : ` (${isNarrowed ? "fewer than " : ""}${numberText(rows)} rows)`;
  return `${many}; bind from ${nameOf(lightest)} instead${few}: put its SERVICE first, with the constants.`;
}

const numberText = (rows: number): string => rows.toLocaleString("en");

function isCut({ form, limit, tokens }: Query): boolean {
  return limit !== undefined || form === "ASK" || tokens.some((token) => isWord(token, ...aggregates));
}

/** The joins of scopes in turn: each value of the side with more of them meets all rows of the other side that have it. */
function largeJoin(parsed: Query, estimates: readonly Estimate[], models: EndpointModels): string | undefined {
  const [first, ...others] = estimates;
  if (first?.rows === undefined || others.length === 0 || isCut(parsed) || estimates.some((each) => each.isNarrowed))
    return undefined;
  let { rows } = first;
  for (const [at, { scope, rows: its }] of others.entries()) {
    const before = estimates.slice(0, at + 1).map((each) => each.scope);
    const distinct = before.flatMap((each) =>
      sharedBy(each, scope).flatMap((name) => [each, scope].flatMap((side) => distinctOf(side, name, models) ?? [])),
    );
    if (its === undefined || distinct.length === 0) return undefined;
    rows = (rows * its) / Math.max(1, ...distinct);
  }
  const names = estimates.map((each) => nameOf(each)).join(" and ");
  return rows < manyRows
    ? undefined
    : `the join of ${names} may have about ${numberText(Math.round(rows))} rows; add LIMIT, a constant or an aggregate.`;
}

/** Different values of a variable in the patterns of an endpoint. */
function distinctOf({ ids, patterns }: QueryScope, name: string, models: EndpointModels): number | undefined {
  const described = ids.length === 1 ? models.get(itemAt(ids, 0))?.described : undefined;
  const counts = patterns.flatMap(({ subject, predicate, object }) => {
    if (described === undefined || predicate.kind !== "iri") return [];
    const { distinctSubjects, distinctObjects } = described.countsOf(predicate.iri) ?? {};
    if (isNamed(object, name)) return distinctObjects ?? [];
    if (!isNamed(subject, name)) return [];
    return (object.kind === "iri" ? described.term("class", object.iri)?.count : distinctSubjects) ?? [];
  });
  return counts.length === 0 ? undefined : Math.min(...counts.map(({ value }) => value));
}

const isNamed = (term: PatternTerm, name: string): boolean => term.kind === "variable" && term.name === name;

/** Patterns that nothing joins with each other, though neither is narrowed: each row of one meets each of the others. */
function product(parsed: Query, { scopes, models }: CostOptions): string | undefined {
  const parts = partsOf(parsed, scopes);
  const rows = parts.reduce((all, { estimate }) => all * (estimate.rows ?? manyRows), 1);
  if (parts.length < 2 || rows < manyRows) return undefined;
  const named = parts.slice(0, mostParts);
  const counts = named.map(({ estimate }) => (estimate.rows === undefined ? "?" : numberText(estimate.rows)));
  const names = named.map(({ name, estimate }) => `?${name} (${nameOf(estimate)})`);
  const left = parts.length - named.length;
  if (left > 0) {
    counts.push("...");
    names.push(`${left} other parts`);
  }
  const ids = new Set(parts.map(({ estimate }) => estimate.scope.ids[0] ?? ""));
  const keys = joinText(parsed, [...ids].slice(0, mostParts), models);
  return `a Cartesian product: nothing joins ${names.join(" and ")}, so there are up to ${counts.join(" × ")} rows; ${keys}join them by a variable, or ask for them one by one.`;
}

/** Parts, and endpoints, that are looked at one by one. */
const mostParts = 8;

interface Part {
  readonly name: string;
  readonly estimate: Estimate;
}

/** The parts of a query that have no variable in common, without those that constants or FILTERs narrow. */
function partsOf({ outline, tokens }: Query, scopes: readonly QueryScope[]): readonly Part[] {
  const { where } = outline;
  if (where === undefined || where.select) return [];
  const byName = scopes.map(({ patterns }) => patternsByName(patterns));
  const links = (elements: readonly Element[]): readonly Link[] =>
    elements.flatMap((element): readonly Link[] => {
      if (element.kind === "service") return links(element.group.elements);
      const inside = tokens.slice(element.from, element.to);
      if (element.kind !== "triples")
        return [
          {
            names: new Set(inside.flatMap(({ kind, text }) => (kind === "var" ? [text.slice(1)] : []))),
            isTriple: false,
          },
        ];
      return element.triples.map(({ subject, predicate, object }) => ({
        isTriple: true,
        names: new Set(
          [subject, predicate, object].flatMap((term) => {
            if (!("termType" in term)) return [];
            if (term.termType === "BlankNode") return [`_:${term.value}`];
            return term.termType === "Variable" ? [term.value] : [];
          }),
        ),
      }));
    });
  return connected(links(where.elements)).flatMap((group) => {
    const own = scopes.flatMap((scope, at) => {
      const patterns = byName[at] ?? new Map<string, readonly PlacedPattern[]>();
      const found = new Set([...group.names].flatMap((name) => patterns.get(name) ?? []));
      return found.size === 0 ? [] : [estimateOf(scope, [...found])];
    });
    const [least] = own.toSorted((one, other) => weight(one) - weight(other));
    const [name = ""] = group.names;
    return least === undefined || !group.isTriple || own.some(({ isNarrowed }) => isNarrowed)
      ? []
      : [{ name, estimate: least }];
  });
}

/** Patterns that share variables, directly or through others. */
function connected(links: readonly Link[]): readonly Link[] {
  const byName = Map.groupBy(
    links.flatMap((link) => [...link.names].map((name) => ({ name, link }))),
    ({ name }) => name,
  );
  const seen = new Set<Link>();
  return links.flatMap((first) => {
    if (seen.has(first)) return [];
    const group = new Set([first]);
    const names = new Set(first.names);
    // A set goes on to what is added while it is read.
    for (const name of names) {
      for (const { link } of byName.get(name) ?? []) {
        if (group.has(link)) continue;
        group.add(link);
        for (const other of link.names) names.add(other);
      }
    }
    for (const link of group) seen.add(link);
    return [{ names, isTriple: [...group].every(({ isTriple }) => isTriple) }];
  });
}

function patternsByName(patterns: readonly PlacedPattern[]): ReadonlyMap<string, readonly PlacedPattern[]> {
  const named = patterns.flatMap((pattern) => variablesOf([pattern]).map((name) => ({ name, pattern })));
  const grouped = Map.groupBy(named, ({ name }) => name);
  return new Map([...grouped].map(([name, all]) => [name, all.map(({ pattern }) => pattern)]));
}

interface Link {
  readonly names: ReadonlySet<string>;
  readonly isTriple: boolean;
}

/** A join of the first two of these endpoints that have one, as a clause of a sentence. */
function joinText({ prologue }: Query, ids: readonly string[], models: EndpointModels): string {
  for (const [at, id] of ids.entries()) {
    const [join] = joinsOf(models, id, new Set(ids.slice(at + 1)));
    if (join === undefined) continue;
    const [from, to] = "back" in join && join.back ? [join.with, id] : [id, join.with];
    if (join.how === "subjects") return `both ${from} and ${to} have ${prologue.written(join.class)}: `;
    return `${prologue.written(join.property)} leads from ${from} to ${to}: `;
  }
  return "";
}

const weight = ({ rows, isNarrowed }: Estimate): number =>
  rows === undefined ? (isNarrowed ? 0 : Number.POSITIVE_INFINITY) : isNarrowed ? rows / 100 : rows;

const nameOf = ({ scope: { ids, service } }: Estimate): string =>
  (ids.length === 1 ? ids[0] : service) ?? "The endpoints";

function estimateOf(scope: QueryScope, patterns: readonly PlacedPattern[]): Estimate {
  const counts = patterns.flatMap((pattern) => countOf(pattern, scope.vocabularies) ?? []);
  const rows = counts.length === 0 ? undefined : Math.min(...counts);
  return { scope, rows, isNarrowed: patterns.some((pattern) => isNarrowing(pattern)) };
}

/** Of all endpoints together. */
function countOf({ predicate, object }: PlacedPattern, vocabularies: readonly Vocabulary[]): number | undefined {
  const counts = vocabularies.flatMap(({ classes, properties }) => {
    if (predicate.kind !== "iri") return [];
    if (predicate.iri !== rdf.type) return properties.get(predicate.iri)?.triples ?? [];
    return (object.kind === "iri" && classes.get(object.iri)?.entities) || [];
  });
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
}

const isNarrowing = ({ subject, predicate, object }: PlacedPattern): boolean =>
  subject.kind !== "variable" ||
  (object.kind !== "variable" && !(predicate.kind === "iri" && predicate.iri === rdf.type));

function sharedBy(one: QueryScope, other: QueryScope): readonly string[] {
  const its = variablesOf(other.patterns);
  return variablesOf(one.patterns).filter((name) => its.includes(name));
}

const namesIn = (term: PatternTerm): readonly string[] => (term.kind === "variable" ? [term.name] : []);

const variablesOf = (patterns: readonly PlacedPattern[]): readonly string[] => [
  ...new Set(patterns.flatMap(({ subject, object }) => [subject, object].flatMap((term) => namesIn(term)))),
];
