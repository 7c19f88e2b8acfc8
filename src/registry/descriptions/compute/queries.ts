import { bindTable, product, type Table, valuesTable } from "../../capabilities/probes.ts";
import { type FactKind, type GroupVariable, headOf, type Tally } from "./fact-kinds.ts";
import { written } from "../values.ts";

/** SPARQL features of the endpoint, and the graphs to ask. */
export interface Dialect {
  /** Aggregates work; without them lists are made with DISTINCT. */
  readonly count: boolean;
  /** VALUES works; without it `FILTER(... IN ...)` stands in. */
  readonly values: boolean;
  /** Graphs that make up the default graph (FROM); empty: the endpoint's own default graph. */
  readonly graphs: readonly string[];
  /** The union of all named graphs is described: each triple pattern stands in a GRAPH of its own. */
  readonly named: boolean;
  /** A triple that lies in several graphs comes several times: solutions are made distinct before they are counted. */
  readonly repeats: boolean;
  /** DISTINCT and COUNT(DISTINCT) work correctly; without them only solutions are counted. */
  readonly countDistinct: boolean;
}

/** Which solutions of a kind are asked for. */
export interface Selection {
  /** Only these keys; absent: all. */
  readonly keys?: readonly string[];
  /** All keys but these. */
  readonly without?: readonly string[];
  /** Only these properties (kinds of facts about classes). */
  readonly properties?: readonly string[];
  /** OFFSET and LIMIT of the solutions. */
  readonly bounds?: string;
}

/** The FROM clauses, with a space before each. */
export const from = (graphs: Dialect["graphs"]): string => graphs.map((graph) => ` FROM ${written(graph)}`).join("");
const list = (iris: readonly string[], separator: string): string => iris.map(written).join(separator);

function among(variable: string, iris: readonly string[], dialect: Dialect): string {
  return dialect.values
    ? `VALUES ?${variable} { ${list(iris, " ")} } `
    : `FILTER(?${variable} IN (${list(iris, ", ")})) `;
}

/** The only key of a selection: it is written into the pattern as a constant. */
function onlyKey(selection: Selection): string | undefined {
  return selection.keys?.length === 1 ? selection.keys[0] : undefined;
}

function pattern(kind: FactKind, selection: Selection, dialect: Dialect): string {
  const { bounds = "" } = selection;
  const only = onlyKey(selection);
  const key = only === undefined ? `?${kind.key}` : written(only);
  // VALUES first: some engines evaluate in the order of the text.
  const triples = matched([headOf(kind, key), ...kind.joined], dialect.named);
  const text = `${constraints(kind, selection, dialect)}${triples}${kind.tail}`;
  if (!dialect.repeats) return bounds === "" ? text : `{ SELECT * WHERE { ${text}} ${bounds} } `;
  const names = [headOf(kind, only === undefined ? key : ""), ...kind.joined, kind.tail].join(" ").match(/\?[a-z]/gu);
  // Virtuoso forgets bounds that stand around the only subquery.
  return `{ ${eachOnce([...new Set(names)].join(" "), text, dialect)} ${bounds}} `;
}

/** Selects each row of some variables once: by DISTINCT, or by grouping where DISTINCT is refused or wrong. */
function eachOnce(names: string, text: string, { countDistinct }: Dialect): string {
  const rows = `${names} WHERE { ${text}}`;
  return countDistinct ? `SELECT DISTINCT ${rows}` : `SELECT ${rows} GROUP BY ${names}`;
}

function constraints(kind: FactKind, selection: Selection, dialect: Dialect): string {
  const { keys, without, properties } = selection;
  const only = onlyKey(selection);
  return [
    kind.key === "c" && keys === undefined ? "FILTER(isIRI(?c)) " : "",
    keys && only === undefined ? among(kind.key, keys, dialect) : "",
    without && without.length > 0 ? `FILTER(?${kind.key} NOT IN (${list(without, ", ")})) ` : "",
    properties ? among("p", properties, dialect) : "",
  ].join("");
}

/** Triple patterns as they are matched against the graphs that are described, with a space behind each. */
export function matched(triples: readonly string[], named: boolean): string {
  return triples.map((triple, at) => (named ? `GRAPH ?g${at} { ${triple} } ` : `${triple} . `)).join("");
}

/** Texts of terms: in the data that is described, or in any named graph. */
export function termTextsQuery(
  {
    iris,
    properties,
    where,
  }: { iris: readonly string[]; properties: readonly string[]; where: "described" | "any graph" },
  dialect: Dialect,
): string {
  const isAny = where === "any graph";
  const triple = matched(["?t ?p ?l"], isAny || dialect.named);
  const keys = `${among("t", iris, dialect)}${among("p", properties, dialect)}`;
  return `SELECT DISTINCT ?t ?p ?l${isAny ? "" : from(dialect.graphs)} WHERE { ${keys}${triple}FILTER(isLiteral(?l)) }`;
}

const anyTriple = (dialect: Dialect): string => matched(["?s ?p ?o"], dialect.named);

const tallyTexts: Readonly<Record<Tally, string>> = {
  n: "(COUNT(*) AS ?n)",
  ds: "(COUNT(DISTINCT ?s) AS ?ds)",
  do: "(COUNT(DISTINCT ?o) AS ?do)",
};

function groupVariables(kind: FactKind, selection: Selection): readonly GroupVariable[] {
  return onlyKey(selection) === undefined ? [kind.key, ...kind.detail] : kind.detail;
}

const projected = (variables: readonly string[]): string => variables.map((variable) => `?${variable}`).join(" ");
const grouped = (variables: readonly string[]): string =>
  variables.length === 0 ? "" : ` GROUP BY ${projected(variables)}`;

/**
 * The groups of a kind of facts (levels 1 to 3): counted, or only listed where aggregates do not work. With a single key the
 * answer has no column for it.
 */
export function groupsQuery(kind: FactKind, selection: Selection, dialect: Dialect): string {
  const variables = groupVariables(kind, selection);
  const where = `${from(dialect.graphs)} WHERE { ${pattern(kind, selection, dialect)} }`;
  if (dialect.count) {
    const told = kind.tallies.filter((tally) => tally === "n" || dialect.countDistinct);
    const tallies = told.map((tally) => tallyTexts[tally]).join(" ");
    return `SELECT ${projected(variables)} ${tallies}${where}${grouped(variables)}`;
  }
  return `SELECT DISTINCT ${projected(variables.length === 0 ? ["s"] : variables)}${where}${variables.length === 0 ? " LIMIT 1" : ""}`;
}

/** All solutions and, as far as that works, distinct keys of a list, or of some of it, in one row: SPORTAL QB2, or QB1 and QB3. */
export function listTotalQuery(kind: FactKind, selection: Selection, dialect: Dialect): string {
  const keys = dialect.countDistinct ? ` (COUNT(DISTINCT ?${kind.key}) AS ?d)` : "";
  return `SELECT (COUNT(*) AS ?n)${keys}${from(dialect.graphs)} WHERE { ${pattern(kind, selection, dialect)} }`;
}

/** Keys of a list without counts. */
export function keysQuery(kind: FactKind, selection: Selection, dialect: Dialect): string {
  return `SELECT DISTINCT ?${kind.key}${from(dialect.graphs)} WHERE { ${pattern(kind, selection, dialect)} }`;
}

/** One key that is not in a list: no row says that the list misses none. */
export function missingKeyQuery(kind: FactKind, without: readonly string[], dialect: Dialect): string {
  return `SELECT ?${kind.key}${from(dialect.graphs)} WHERE { ${pattern(kind, { without, bounds: "LIMIT 1" }, dialect)}}`;
}

/** One solution of a list, after `offset` others. */
export function solutionQuery(kind: FactKind, offset: number, dialect: Dialect): string {
  const bounds = `OFFSET ${offset} LIMIT 1`;
  return `SELECT ?${kind.key}${from(dialect.graphs)} WHERE { ${pattern(kind, { bounds }, dialect)}}`;
}

/** ASK query: instances of a class have a property. */
export function askProperty(key: string, property: string, dialect: Dialect): string {
  return `ASK${from(dialect.graphs)} { ${matched([`?s a ${written(key)}`, `?s ${written(property)} ?o`], dialect.named)}}`;
}

/**
 * All triples as often as they are matched, and each of them once: more of the former lie in several graphs. With a class
 * the same for its instances.
 */
export function tripleCountsQueries(dialect: Dialect, type?: string): readonly [string, string] {
  const some = type === undefined ? anyTriple(dialect) : matched([`?s a ${written(type)}`], dialect.named);
  const names = type === undefined ? "?s ?p ?o" : "?s";
  return [
    `SELECT (COUNT(*) AS ?n)${from(dialect.graphs)} WHERE { ${some}}`,
    `SELECT (COUNT(*) AS ?n)${from(dialect.graphs)} WHERE { { ${eachOnce(names, some, dialect)} } }`,
  ];
}

/** Distinct subjects or objects of the dataset (SPORTAL QB4, QB5): once as the standard writes it, once over a subquery. */
export function distinctNodesQueries(variable: "s" | "o", dialect: Dialect): readonly [string, string] {
  const any = anyTriple(dialect);
  return [
    `SELECT (COUNT(DISTINCT ?${variable}) AS ?n)${from(dialect.graphs)} WHERE { ${any}}`,
    `SELECT (COUNT(*) AS ?n)${from(dialect.graphs)} WHERE { { ${eachOnce(`?${variable}`, any, dialect)} } }`,
  ];
}

/** Language tags of all literals; with a limit those of the first triples. */
export function languagesQuery(dialect: Dialect, limit?: number): string {
  const any = anyTriple(dialect);
  const inner = limit === undefined ? any : `{ SELECT ?o WHERE { ${any}FILTER(isLiteral(?o)) } LIMIT ${limit} } `;
  return `SELECT DISTINCT ?l${from(dialect.graphs)} WHERE { ${inner}FILTER(isLiteral(?o) && LANG(?o) != "") BIND(LANG(?o) AS ?l) }`;
}

/** A sample of subjects, for their namespaces. */
export function subjectsQuery(dialect: Dialect, limit: number): string {
  return `SELECT DISTINCT ?s${from(dialect.graphs)} WHERE { ${anyTriple(dialect)}FILTER(isIRI(?s)) } LIMIT ${limit}`;
}

/** Triples of the data, counted up to a limit, and the characters of their terms, which is most of their size as N-Triples. */
export const dataSizeQuery = (limit: number, dialect: Dialect): string =>
  `SELECT (COUNT(*) AS ?n) (SUM(${termLengths}) AS ?b)${from(dialect.graphs)} WHERE { { SELECT * WHERE { ?s ?p ?o } LIMIT ${limit} } }`;

/** Blank nodes have no text. */
const termLengths = ["?s", "?p", "?o"].map((term) => `COALESCE(STRLEN(STR(${term})), 0)`).join(" + ");

/** The triples of the data, up to a limit. */
export const allTriplesQuery = (form: "SELECT" | "CONSTRUCT", limit: number, dialect: Dialect): string =>
  `${form} ${form === "SELECT" ? "?s ?p ?o" : "{ ?s ?p ?o }"}${from(dialect.graphs)} WHERE { ?s ?p ?o } LIMIT ${limit}`;

/** Graphs that can be asked by name. */
export function graphsQuery(limit: number, { countDistinct }: Dialect): string {
  const where = "WHERE { GRAPH ?g { ?s ?p ?o } }";
  return `${countDistinct ? `SELECT DISTINCT ?g ${where}` : `SELECT ?g ${where} GROUP BY ?g`} LIMIT ${limit}`;
}

const tableOf = ({ values }: Dialect): Table => (values ? valuesTable : bindTable);

/** Number of solutions of a data-free query; it has half as many values. */
export const manyCounted = 20_000;

/** Data-free: 20,000 solutions with 10,000 values of ?x, too many for an estimate to be right by chance. */
export function manyCountsQuery(dialect: Dialect): string {
  const rows = product(tableOf(dialect), [10, 10, 10, 10, 2]);
  const value = "BIND(?d0 + 10 * ?d1 + 100 * ?d2 + 1000 * ?d3 AS ?x)";
  return `SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?x) AS ?u) WHERE { ${rows} ${value} }`;
}

/** Data-free: two distinct values. */
export const fewCountsQuery = (dialect: Dialect): string =>
  `SELECT (COUNT(DISTINCT ?x) AS ?u) WHERE { ${tableOf(dialect)(["x"], [["1"], ["1"], ["2"]])} }`;

/** Sizes of row-cap probes in ascending order: the first is asked for, larger ones after an answer with as many rows. */
export const probedRows = [500, 2_000, 20_000] as const;

/** Data-free query with this number of rows: receiving fewer reveals the cap. */
export function rowCapQuery(rows: (typeof probedRows)[number]): string {
  // Plain texts: integers come with their datatype in each row.
  const ten = '"0" "1" "2" "3" "4" "5" "6" "7" "8" "9"';
  const digits = [
    ...Array.from({ length: Math.floor(Math.log10(rows)) }, () => ten),
    rows === 500 ? ten.slice(0, 19) : ten.slice(0, 7),
  ];
  return `SELECT ?a0 WHERE { ${digits.map((values, at) => `VALUES ?a${at} { ${values} }`).join(" ")} }`;
}

/** Data-free probes (registry method, section 7) with their expected answers. */
export const probes = {
  /** 3 rows. */
  values: "SELECT ?x WHERE { VALUES ?x { 1 2 3 } }",
  /** One row, 1. */
  count: "SELECT (COUNT(*) AS ?n) WHERE { }",
  /** ASK query: the default graph has a triple. */
  anything: "ASK { ?s ?p ?o }",
  /** ASK query: the default graph has the triples of a system graph (Virtuoso's, of its own metadata), too. */
  systemGraphs: "ASK { GRAPH <http://www.openlinksw.com/schemas/virtrdf#> { ?s ?p ?o } ?s ?p ?o }",
} as const;
