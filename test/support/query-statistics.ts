import {
  innerGroups,
  whereOf,
  type Condition,
  type Element,
  type GeneratedQuery,
  type Group,
  type Select,
} from "./query-generator-syntax.ts";

/** Operators whose occurrences are counted; each must occur often enough for a run to mean something. */
const operators = [
  "service",
  "join",
  "same-endpoint",
  "silent",
  "service-variable",
  "optional",
  "optional-filter",
  "union",
  "minus",
  "filter-outside",
  "filter-inside",
  "comparison",
  "bound",
  "regex",
  "type-test",
  "in",
  "string-function",
  "out-of-scope",
  "logical",
  "exists",
  "not-exists",
  "values-outside",
  "values-inside",
  "undef",
  "bind-outside",
  "bind-inside",
  "subselect",
  "subselect-limit",
  "subselect-inside",
  "distinct",
  "order-by",
  "limit",
  "offset",
  "ask",
  "construct",
  "star",
  "group-by",
  "having",
  "count",
  "sum",
  "min",
  "max",
  "avg",
  "path-sequence",
  "path-alternative",
  "path-inverse",
  "path-star",
  "path-plus",
] as const;
export type Operator = (typeof operators)[number];

/** The operators of one query; each counts once a query. */
export function operatorsOf(query: GeneratedQuery): ReadonlySet<Operator> {
  const found = new Set<Operator>();
  // DESCRIBE is generated for federations only, of which an operator that is rare is no fault.
  if (query.form === "ask" || query.form === "construct") found.add(query.form);
  if (query.form === "select") {
    visitSelect(query.select, found);
    if (query.select.projection.length === 0) found.add("star");
  }
  visitGroup(whereOf(query), { inside: false, optional: false }, found);
  if (repeatsEndpoint(whereOf(query))) found.add("same-endpoint");
  return found;
}

interface Place {
  readonly inside: boolean;
  readonly optional: boolean;
}

function visitSelect(select: Select, found: Set<Operator>): void {
  if (select.distinct) found.add("distinct");
  if (select.orderBy.length > 0) found.add("order-by");
  if (select.limit !== undefined) found.add("limit");
  if (select.offset !== undefined) found.add("offset");
  if (select.groupBy.length > 0) found.add("group-by");
  if (select.having !== undefined) found.add("having");
  for (const item of select.projection) if (item.aggregate) found.add(item.aggregate);
}

function visitGroup(group: Group, place: Place, found: Set<Operator>): void {
  if (group.filter((element) => element.kind === "service").length > 1) found.add("join");
  for (const element of group) visitElement(element, place, found);
}

function visitElement(element: Element, place: Place, found: Set<Operator>): void {
  for (const operator of ownOperators(element, place)) found.add(operator);
  if (element.kind === "select") visitSelect(element.select, found);
  if (element.kind === "filter") visitCondition(element.condition, found);
  const inner = { inside: place.inside || element.kind === "service", optional: element.kind === "optional" };
  for (const group of innerGroups(element)) visitGroup(group, inner, found);
}

const when = (condition: boolean, operator: Operator): readonly Operator[] => (condition ? [operator] : []);

function ownOperators(element: Element, place: Place): readonly Operator[] {
  const side = place.inside ? "inside" : "outside";
  switch (element.kind) {
    case "triples":
      return element.triples.flatMap((triple) => (triple.path ? [`path-${triple.path}` as const] : []));
    case "service":
      return [
        "service",
        ...when(element.silent, "silent"),
        ...when(typeof element.target === "string", "service-variable"),
      ];
    case "filter":
      return [`filter-${side}`, ...when(place.optional, "optional-filter")];
    case "values":
      return [`values-${side}`, ...when(element.rows.flat().includes(undefined), "undef")];
    case "bind":
      return [`bind-${side}`];
    case "select":
      return [
        "subselect",
        ...when(place.inside, "subselect-inside"),
        ...when(element.select.limit !== undefined, "subselect-limit"),
      ];
    case "group":
      return [];
    default:
      return [element.kind];
  }
}

function visitCondition(condition: Condition, found: Set<Operator>): void {
  if (condition.kind === "test") found.add(condition.operator);
  else if (condition.kind === "exists") found.add(condition.negated ? "not-exists" : "exists");
  else {
    found.add("logical");
    if (condition.kind === "not") visitCondition(condition.inner, found);
    else for (const side of [condition.left, condition.right]) visitCondition(side, found);
  }
}

function repeatsEndpoint(group: Group): boolean {
  const targets = group.flatMap((element) => (element.kind === "service" ? [element.target] : []));
  if (new Set(targets).size < targets.length) return true;
  return group.some((element) => innerGroups(element).some((inner) => repeatsEndpoint(inner)));
}

/** Counts over all cases of a run. */
export interface CaseStatistics {
  cases: number;
  nonEmpty: number;
  readonly occurrences: Map<Operator, number>;
}

export function createStatistics(): CaseStatistics {
  return { cases: 0, nonEmpty: 0, occurrences: new Map() };
}

export function countCase(statistics: CaseStatistics, query: GeneratedQuery, nonEmpty: boolean): void {
  statistics.cases++;
  if (nonEmpty) statistics.nonEmpty++;
  for (const operator of operatorsOf(query)) statistics.occurrences.set(operator, timesOf(statistics, operator) + 1);
}

const timesOf = (statistics: CaseStatistics, operator: Operator): number => statistics.occurrences.get(operator) ?? 0;

/** The report that a run prints. */
export function printStatistics(statistics: CaseStatistics, seed: number): string {
  const share = ((100 * statistics.nonEmpty) / Math.max(1, statistics.cases)).toFixed(1);
  const counts = operators.map((operator) => `${operator} ${timesOf(statistics, operator)}`).join(", ");
  return `${statistics.cases} cases, ${share} % non-empty, seed ${seed}\n${counts}`;
}

/** Operators that occurred less often than wanted. */
export function rareOperators(statistics: CaseStatistics, atLeast: number): readonly string[] {
  const rare = operators.filter((operator) => timesOf(statistics, operator) < atLeast);
  return rare.map((operator) => `${operator}: ${timesOf(statistics, operator)}`);
}
