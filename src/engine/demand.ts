import type * as RDF from "@rdfjs/types";
import { FedwayError } from "../errors/fedway-error.ts";
import type { ClauseVariable, FederatedClause, PlannedEndpoint } from "../plan/query-plan.ts";
import type { ValueKind } from "../plan/source-selection.ts";
import type { Bindings } from "../results/model.ts";
import { literalFromParts } from "../results/terms.ts";
import type { TriplePattern } from "./sources/triple-pattern.ts";

/** Demand of the rest of a query on the solutions of a clause or a group of patterns. */
export interface Demand {
  /** Solutions for which one of them does not hold come to nothing. */
  readonly conditions: readonly PushedCondition[];
  /** It does not matter how often a solution comes. */
  readonly distinct: boolean;
  /** More rows are not looked at. */
  readonly limit?: RowLimit | undefined;
}

/** The same, and the variables that something else looks at. */
export interface LeafDemand extends Demand {
  readonly variables: ReadonlySet<string>;
}

/** Demand on patterns that members are asked as one. */
export interface UnitDemand extends LeafDemand {
  /** A summary to return instead of the solutions. */
  readonly summary?: Summary | undefined;
  /** Further patterns, in OPTIONAL each, that have matches for a solution at its member alone. */
  readonly optionals?: readonly (readonly TriplePattern[])[] | undefined;
}

/** A FILTER whose verdict on a solution depends on nothing but these variables. */
export interface PushedCondition {
  readonly variables: readonly string[];
  /** False also where it has no value. */
  readonly holds: (row: Bindings) => boolean;
  /** The same or less in SPARQL, for endpoints; undefined where engines could differ. */
  readonly text: string | undefined;
  /** Bounds on single variables, where solutions for the others are at hand. */
  readonly bounds?: readonly Bound[];
}

/** A comparison of a variable with an expression over others. */
export interface Bound {
  readonly variable: string;
  readonly of: readonly string[];
  /** Conditions that the variable fulfils wherever the comparison is true beside one of these solutions. */
  readonly within: (rows: readonly Bindings[]) => readonly PushedCondition[];
}

/** Number of solutions that are enough; with DISTINCT, of those that differ in these variables. */
interface RowLimit {
  readonly rows: number;
  readonly distinctIn?: ReadonlySet<string> | undefined;
}

/** Distinctness and the number of rows that is enough, when these of all variables are selected. */
function demandedRows({ distinct, limit }: Demand, shown: readonly string[], all: readonly string[]) {
  const isEnough = limit?.distinctIn === undefined || shown.every((name) => limit.distinctIn?.has(name));
  const enough = isEnough ? limit?.rows : undefined;
  const most = distinct && shown.length === 0 ? Math.min(1, enough ?? 1) : enough;
  // Where no variable is left out, few patterns have a solution twice.
  return { distinct: distinct && most !== 1 && (shown.length < all.length || most !== undefined), limit: most };
}

/** The conditions that can be sent with a pattern that binds these variables. */
const sendable = ({ conditions }: Demand, bound: readonly string[]): readonly string[] =>
  conditions.flatMap(({ text, variables }) =>
    text !== undefined && variables.length > 0 && variables.every((name) => bound.includes(name)) ? [text] : [],
  );

/** Without VALUES or EXISTS an endpoint speaks no SPARQL 1.1, and may not know the functions. */
const takesConditions = ({ keys, existence }: PlannedEndpoint): boolean =>
  keys === undefined && existence === undefined;

// As much as a constant in the place of an object.
const CONDITION_SELECTIVITY = 2;

/** The clause asked for no more than is wanted of it. */
export function demandedClause(clause: FederatedClause, demand: LeafDemand): FederatedClause {
  const { pattern, opening, substitution } = clause;
  const shown = clause.variables.filter(({ name }) => demand.variables.has(name));
  const certain = clause.variables.flatMap((variable) => (variable.certain ? [variable.name] : []));
  // Text behind a subselect goes around it, where substituted values no longer have their places.
  const isFixed = opening === undefined && substitution !== undefined;
  // Jena judges a FILTER beside UNDEF before the pattern has bound its variable.
  const mayTake = !isFixed && takesConditions(clause.endpoint) && !/\bUNDEF\b/iu.test(pattern);
  const conditions = mayTake ? sendable(demand, certain) : [];
  const filters = conditions.map((condition) => ` FILTER(${condition})`).join("");
  const namesOf = (variables: FederatedClause["variables"]): readonly string[] => [
    ...variables.map(({ name }) => name),
    ...(substitution?.variables ?? []),
  ];
  const { distinct, limit } = demandedRows(demand, namesOf(shown), namesOf(clause.variables));
  const estimate =
    clause.estimate === undefined ? undefined : Math.min(clause.estimate, limit ?? Number.POSITIVE_INFINITY);
  return {
    ...clause,
    variables: shown,
    pattern: filters === "" ? pattern : `{${opening === undefined ? pattern : pattern.slice(1, -1)}${filters} }`,
    ...(distinct && { distinct }),
    limit,
    // How much a FILTER leaves is not known.
    estimate: conditions.length > 0 ? undefined : estimate,
    selectivity: clause.selectivity + conditions.length * CONDITION_SELECTIVITY,
  };
}

/** A summary that an endpoint computes from its solutions. */
export type Summary = Groups | Top;

/** Solutions by these variables, with numbers and extremes of each group. */
interface Groups {
  readonly by: readonly string[];
  readonly aggregates: readonly PartialAggregate[];
}

export interface PartialAggregate {
  readonly name: "COUNT" | "SUM" | "MIN" | "MAX";
  /** A variable, or `*`. */
  readonly of: string;
  /** The variable for the result. */
  readonly as: string;
}

/** The first solutions in the order of a variable; with a bound instead all those up to it, itself included. */
export interface Top {
  readonly order: string;
  readonly descending: boolean;
  readonly rows: number;
  /** Solutions of one endpoint with all that equal the last one, where the rest of the order decides between them. */
  readonly withTies?: (
    ask: (top: Top | undefined) => AsyncIterable<readonly Bindings[]>,
  ) => AsyncIterable<readonly Bindings[]>;
  readonly bound?: string | undefined;
}

/** True if an endpoint, and its substitute, summarises solutions correctly in a subselect. */
export const summarisesFor = ({ mirror, ...endpoint }: PlannedEndpoint): boolean =>
  [endpoint, ...(mirror ? [mirror] : [])].every(
    (one) => one.interface === undefined && one.counting === undefined && takesConditions(one),
  );

/** Known facts of a variable in solutions to be summarised; undefined: the solutions do not have it. */
export type KnownVariable = (name: string) => ClauseVariable | undefined;

/**
 * True if every engine gives the same summary, so that the summaries of several endpoints can be merged: numbers are of one exact
 * type and always bound. Groups are named by IRIs or plain strings, which all engines distinguish alike, while endpoints store literals
 * of one value as one term; and there are few of them.
 * @param size about how many solutions there are
 */
export function isSummable(summary: Summary, known: KnownVariable, size: number | undefined): boolean {
  const isNumber = (name: string): boolean => isExactNumber(known(name));
  if ("order" in summary) return isNumber(summary.order) && (size ?? Number.POSITIVE_INFINITY) > summary.rows;
  const isKnown = (name: string): boolean => name === "*" || known(name) !== undefined;
  return (
    areFewGroups(summary.by.map(known), size) &&
    summary.aggregates.every(({ name, of }) => (name === "COUNT" ? isKnown(of) : isNumber(of)))
  );
}

const isExactNumber = (variable: ClauseVariable | undefined): boolean =>
  variable?.certain === true && (variable.kind === "integer" || variable.kind === "decimal");

// A group with its numbers is about as much to send as this number of solutions.
const ROWS_FOR_A_GROUP = 2;
const FEW_GROUPS = 64;

function areFewGroups(by: readonly (ClauseVariable | undefined)[], size = 0): boolean {
  if (!by.every(isName)) return false;
  const numbers = by.map((one) => (one?.kind === "property" ? 1 : (one?.values ?? Number.POSITIVE_INFINITY)));
  const groups = numbers.reduce((product, number) => product * number, 1);
  return groups <= Math.max(FEW_GROUPS, size / ROWS_FOR_A_GROUP);
}

const groupKinds: ReadonlySet<ValueKind | undefined> = new Set(["property", "iri", "string"]);

const isName = (variable: ClauseVariable | undefined): boolean =>
  variable?.certain === true && groupKinds.has(variable.kind);

/** A group that has the summary of the solutions of another one for these variables. */
function summaryText(group: string, summary: Summary, variables: readonly string[]): string {
  if ("order" in summary) {
    const { order, descending, rows, bound } = summary;
    if (bound !== undefined) return `{ ${group} FILTER(?${order} ${descending ? ">=" : "<="} ${bound}) }`;
    const by = `${descending ? "DESC" : "ASC"}(?${order})`;
    return `{ SELECT ${variables.map((name) => `?${name}`).join(" ")} WHERE ${group} ORDER BY ${by} LIMIT ${rows} }`;
  }
  const keys = summary.by.map((name) => `?${name}`).join(" ");
  const computed = summary.aggregates.map(({ name, of, as }) => `(${name}(${of === "*" ? of : `?${of}`}) AS ?${as})`);
  return `{ SELECT ${[keys, ...computed].join(" ").trim()} WHERE ${group}${keys && ` GROUP BY ${keys}`} }`;
}

/** The variables of a summary; whether its numbers are bound is for `checkedSummary` to say. */
export const summaryVariables = (summary: Summary, all: readonly ClauseVariable[]): readonly ClauseVariable[] =>
  "order" in summary
    ? all
    : [
        ...summary.by.map((name) => ({ name, certain: true })),
        ...summary.aggregates.map(({ as }) => ({ name: as, certain: false })),
      ];

/** The rows of a summary, whose numbers are of the types that they have here. @throws FedwayError `ENDPOINT_MALFORMED` */
export function checkedSummary(
  rows: readonly Bindings[],
  summary: Summary,
  { known, endpoint: { id, url } }: { readonly known: KnownVariable; readonly endpoint: PlannedEndpoint },
): readonly Bindings[] {
  if ("order" in summary) return rows;
  // Of no solutions there is no extreme.
  const needed = summary.aggregates.filter(({ name }) => summary.by.length > 0 || name === "COUNT" || name === "SUM");
  return rows.map((row) => {
    const checked = new Map(row);
    for (const { name, of, as } of needed) {
      const term = row.get(as);
      const number = term && (exact[name]?.(term.value, known(of)?.kind) ?? (name in exact ? undefined : term));
      if (!number) throw noNumber(name, id ?? url);
      checked.set(as, number);
    }
    return checked;
  });
}

const noNumber = (name: string, endpoint: string): FedwayError =>
  new FedwayError("ENDPOINT_MALFORMED", `The endpoint gave no number for ${name}.`, {
    fault: "malformed",
    where: { endpoint },
  });

/** Numbers as they are here, of those that are computed: engines give them in other types, too. */
const exact: Readonly<
  Partial<Record<PartialAggregate["name"], (text: string, kind?: ValueKind) => RDF.Literal | undefined>>
> = {
  COUNT: (text) => wholeNumber(/^(\d{1,15})(?:\.0{0,40})?$/u.exec(text)?.[1]),
  SUM: (text, kind) =>
    kind === "decimal" ? decimalNumber(text) : wholeNumber(/^([-+]?\d{1,40})(?:\.0{0,40})?$/u.exec(text)?.[1]),
};

const XSD = "http://www.w3.org/2001/XMLSchema#";

const wholeNumber = (text: string | undefined): RDF.Literal | undefined =>
  text === undefined ? undefined : literalFromParts(text, "", `${XSD}integer`);

const decimalNumber = (text: string): RDF.Literal | undefined =>
  /^[-+]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})$/u.test(text) ? literalFromParts(text, "", `${XSD}decimal`) : undefined;

/** The clause that summarises its solutions; undefined where its endpoint may not, or could do it otherwise than others. */
export function summarisingClause(clause: FederatedClause, summary: Summary): FederatedClause | undefined {
  const { pattern, variables, estimate } = clause;
  const known = new Map(variables.map((variable) => [variable.name, variable]));
  const shown = summaryVariables(summary, variables);
  const isTaken = shown.some(({ name }) => !known.has(name) && pattern.includes(name));
  if (isTaken || !isPlain(clause) || !isSummable(summary, (name) => known.get(name), estimate)) return undefined;
  return summarisedClause(clause, summary);
}

/** The clause that summarises its solutions, as its endpoint may. */
export function summarisedClause(clause: FederatedClause, summary: Summary): FederatedClause {
  const { pattern, variables, estimate } = clause;
  const names = variables.map(({ name }) => name);
  return {
    ...clause,
    variables: summaryVariables(summary, variables),
    pattern: summaryText(pattern, summary, names),
    opening: undefined,
    estimate: summarySize(summary, estimate),
  };
}

/** Nothing but the solutions at one endpoint, which summarises them rightly. */
const isPlain = ({ endpoint, silent, targetVariable, substitution, evaluatedHere, limit }: FederatedClause): boolean =>
  !silent &&
  targetVariable === undefined &&
  substitution === undefined &&
  evaluatedHere !== true &&
  limit === undefined &&
  summarisesFor(endpoint);

/** About how many rows a summary of `solutions` has. */
function summarySize(summary: Summary, solutions: number | undefined): number | undefined {
  if (!("order" in summary)) return summary.by.length === 0 ? 1 : solutions;
  return summary.bound === undefined ? Math.min(summary.rows, solutions ?? summary.rows) : solutions;
}
