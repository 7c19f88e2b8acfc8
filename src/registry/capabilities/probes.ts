import { askedTerms, formatQuestion, keepsTerms } from "../../outbound/sound-formats.ts";
import type { AskRequest, WholeAnswer } from "../../outbound/whole-answer.ts";
import type { AskedEndpoint } from "../catalog/catalog.ts";
import type { Capabilities, EndpointView, ProbedConstruct } from "./capabilities.ts";
import { blankNode, type Judge, solutions, terms, triples } from "./judges.ts";
import { itemAt } from "../../values.ts";

/** A question that touches no data, and its right answer. */
export interface Probe {
  readonly kind: NonNullable<AskRequest["kind"]>;
  /** @param table how inline data are written for this endpoint */
  readonly query: (table: Table) => string;
  readonly judge: Judge;
}

/** A probe of one construct. */
interface ConstructProbe extends Probe {
  readonly construct: Exclude<ProbedConstruct, "values">;
}

const xsd = "http://www.w3.org/2001/XMLSchema#";
const select = { kind: "bindings" } as const;

/** The known-answer question that every endpoint that works at all answers (registry method, section 4). */
export const canary: Probe = {
  ...select,
  query: (table) => `SELECT ?x WHERE { ${table(["x"], [["1"], ["2"], ["3"]])} }`,
  judge: solutions(["x"], ["1"], ["2"], ["3"]),
};

/** The same for endpoints that know neither VALUES nor BIND (SPARQL 1.0), whose queries can hold no table. */
export const plainCanary: Probe = {
  kind: "boolean",
  query: () => "ASK {}",
  judge: ({ boolean }) => (boolean === true ? undefined : `${boolean}`),
};

/** The canary as an endpoint understands it: whom and what to ask, and how the answer is judged. @param view undefined: never probed */
export function canaryFor(
  { id, url, method }: AskedEndpoint,
  view: Pick<EndpointView, "lacks" | "method" | "accept" | "formats"> | undefined,
) {
  const lacksValues = view?.lacks.has("values") === true;
  const { kind, query, judge } = lacksValues ? plainCanary : canary;
  const learned = view && { method: view.method, accept: view.accept };
  const formats = view !== undefined && view.formats.length > 0 ? view.formats : undefined;
  const asked = lacksValues ? "whether there is a solution of nothing" : "for the rows 1, 2 and 3";
  return {
    request: { endpoint: { id, url, method, learned, formats }, query: query(valuesTable), kind },
    judge,
    asked,
  };
}

/** Constructs that were answered otherwise than SPARQL 1.1 says, with the query and what came. */
export const deviationsIn = ({ constructs }: Capabilities) =>
  constructProbes.flatMap(({ construct, query }) => {
    const outcome = constructs[construct];
    return outcome === undefined || outcome.verdict === "right"
      ? []
      : [{ construct, query: query(valuesTable), ...outcome }];
  });

/** One probe a construct (registry method, section 7), the light ones first. */
export const constructProbes: readonly ConstructProbe[] = [
  {
    construct: "aggregates",
    ...select,
    query: (table) =>
      `SELECT (COUNT(?x) AS ?c) (SUM(?x) AS ?s) (AVG(?x) AS ?a) WHERE { ${table(["x"], [["1"], ["2"], ["3"]])} }`,
    judge: solutions(["c", "s", "a"], ["3", "6", "2"]),
  },
  {
    construct: "groupHaving",
    ...select,
    query: (table) => {
      const pairs = [
        ['"a"', "1"],
        ['"a"', "2"],
        ['"b"', "3"],
      ];
      return `SELECT ?g (COUNT(?x) AS ?n) WHERE { ${table(["g", "x"], pairs)} } GROUP BY ?g HAVING(COUNT(?x) > 1)`;
    },
    judge: solutions(["g", "n"], ["a", "2"]),
  },
  {
    construct: "minus",
    ...select,
    query: (table) => `SELECT ?x WHERE { ${table(["x"], [["1"], ["2"], ["3"]])} MINUS { ${table(["x"], [["2"]])} } }`,
    judge: solutions(["x"], ["1"], ["3"]),
  },
  {
    construct: "subquery",
    ...select,
    query: (table) =>
      `SELECT ?x WHERE { { SELECT ?x WHERE { ${table(["x"], [["3"], ["1"], ["2"]])} } ORDER BY ?x LIMIT 2 } }`,
    judge: solutions(["x"], ["1"], ["2"]),
  },
  {
    construct: "optional",
    ...select,
    query: (table) =>
      `SELECT ?x ?y WHERE { ${table(["x"], [["1"], ["2"]])} OPTIONAL { ${table(["x", "y"], [["1", "10"]])} } }`,
    judge: solutions(["x", "y"], ["1", "10"], ["2", "-"]),
  },
  {
    construct: "valuesUndef",
    ...select,
    // UNDEF is VALUES' own; it has no other spelling.
    query: () => {
      const rows = [
        ["1", "UNDEF"],
        ["UNDEF", "2"],
      ];
      return `SELECT ?x ?y WHERE { ${valuesTable(["x", "y"], rows)} }`;
    },
    judge: solutions(["x", "y"], ["1", "-"], ["-", "2"]),
  },
  {
    construct: "notExists",
    ...select,
    query: (table) => `SELECT ?x WHERE { ${table(["x"], [["1"]])} FILTER NOT EXISTS { <urn:x:none> <urn:x:none> ?x } }`,
    judge: solutions(["x"], ["1"]),
  },
  {
    construct: "zeroLengthPath",
    ...select,
    query: () => "SELECT ?z WHERE { <urn:x:a> <urn:x:p>* ?z }",
    judge: solutions(["z"], ["urn:x:a"]),
  },
  { construct: "blankNodes", ...select, query: () => "SELECT (BNODE() AS ?b) WHERE {}", judge: blankNode("b") },
  {
    construct: "typedLiterals",
    ...select,
    query: (table) => `SELECT ?v WHERE { ${table(["v"], [[`"5"^^<${xsd}integer>`], ['"x"'], ['"x"@en']])} }`,
    judge: terms("v", `"5"^^${xsd}integer`, `"x"^^${xsd}string`, '"x"@en'),
  },
  {
    construct: "oneString",
    kind: "boolean",
    query: () => `ASK { FILTER(sameTerm("x", "x"^^<${xsd}string>)) }`,
    judge: ({ boolean }) => (boolean === true ? undefined : `${boolean}`),
  },
  {
    construct: "construct",
    kind: "quads",
    query: (table) => `CONSTRUCT { <urn:x:s> <urn:x:p> ?x } WHERE { ${table(["x"], [["1"], ["2"]])} }`,
    judge: triples(["urn:x:s", "urn:x:p", "1"], ["urn:x:s", "urn:x:p", "2"]),
  },
  {
    construct: "aggregateTruth",
    ...select,
    query: (table) => `SELECT (COUNT(*) AS ?n) WHERE { ${product(table, [10, 10, 10, 10, 10])} }`,
    judge: solutions(["n"], ["100000"]),
  },
];

/** Prefixes beside the well-known ones that Virtuoso and its copies know, and others may. */
const askedPrefixes = ["bif", "sql", "dbpedia", "dbpprop", "scovo", "sioc", "virtcxml", "virtrdf", "yago"];

/** Shows the namespaces of prefixes that need no declaration; refused where they do. */
export const prefixProbe: Pick<Probe, "kind" | "query"> = {
  ...select,
  query: () => `SELECT ${askedPrefixes.map((name) => `(STR(${name}:x) AS ?${name})`).join(" ")} WHERE {}`,
};

const isNamespace = (iri: string): boolean => /^[a-z][^\s<>"{}|\\^`]{0,1000}x$/iu.test(iri);

/** The namespaces by prefix in the answer to `prefixProbe`; undefined if it has any other form. */
export function prefixesIn({ rows }: WholeAnswer): Readonly<Record<string, string>> | undefined {
  const [row, second] = rows;
  if (row === undefined || second !== undefined) return undefined;
  const found = askedPrefixes.map((name) => [name, row.get(name)?.value ?? ""] as const);
  return found.every(([, iri]) => isNamespace(iri))
    ? Object.fromEntries(found.map(([name, iri]) => [name, iri.slice(0, -1)]))
    : undefined;
}

/** A format that may be asked for. */
interface FormatProbe extends Probe {
  readonly mediaType: string;
}

const formatProbe = (kind: Probe["kind"], mediaType: string): FormatProbe => ({
  kind,
  mediaType,
  query: (table) =>
    formatQuestion(
      mediaType,
      kind,
      table(
        ["x"],
        askedTerms.map((term) => [term]),
      ),
    ),
  judge: (answer) => (keepsTerms(answer) === true ? undefined : "terms are changed"),
});

/** One probe a format: the answer has every term. */
export const formatProbes: readonly FormatProbe[] = [
  formatProbe("bindings", "application/sparql-results+json"),
  formatProbe("bindings", "application/sparql-results+xml"),
  formatProbe("bindings", "text/csv"),
  formatProbe("bindings", "text/tab-separated-values"),
  formatProbe("quads", "text/turtle"),
  formatProbe("quads", "application/n-triples"),
  formatProbe("quads", "application/ld+json"),
  formatProbe("quads", "application/rdf+xml"),
];

/** Solutions of `rowCapQuery`. */
export const rowsOfProduct = 20_000;

/**
 * Rows to be counted: of one digit for formats that write a line each, without any value for others. An endpoint without a cap sends
 * 40 to 60 kB of CSV or TSV, 60 to 400 kB of JSON (2 to 3 MB with the digits).
 */
export const rowCapQuery =
  (column: "?d4" | "?none") =>
  (table: Table): string =>
    `SELECT ${column} WHERE { ${product(table, [10, 10, 10, 10, 2])} }`;

const blockIri = (index: number): string => `<http://example.org/fedway/probe/${String(index).padStart(5, "0")}>`;

/** A block of join keys of which only the last one passes. */
export const valuesProbe = (count: number): Probe => ({
  ...select,
  query: () => {
    const rows = Array.from({ length: count }, (_, index) => [blockIri(index)]);
    return `SELECT ?x WHERE { ${valuesTable(["x"], rows)} FILTER(?x = ${blockIri(count - 1)}) }`;
  },
  judge: solutions(["x"], [blockIri(count - 1).slice(1, -1)]),
});

/** The canary, made longer by a comment until its URL by GET has exactly this many bytes. */
export function urlProbe(url: string, bytes: number): Probe {
  return {
    ...canary,
    query: (table) => {
      const text = `${canary.query(table)}\n# `;
      const { origin, pathname, search } = new URL(url);
      const bare = `${origin}${pathname}${search}${search === "" ? "?" : "&"}query=${encodeURIComponent(text)}`;
      return text + "x".repeat(Math.max(0, bytes - bare.length));
    },
  };
}

/** Writes an inline table as a pattern: its rows are the pattern's solutions, and no data is read. */
export type Table = (variables: readonly string[], rows: readonly (readonly string[])[]) => string;

const listed = (variables: readonly string[]): string => variables.map((name) => `?${name}`).join(" ");

/** By VALUES (SPARQL 1.1 Query, section 10.2); a cell may be `UNDEF`. */
export const valuesTable: Table = (variables, rows) => {
  if (variables.length === 1) return `VALUES ${listed(variables)} { ${rows.map((row) => row.join(" ")).join(" ")} }`;
  return `VALUES (${listed(variables)}) { ${rows.map((row) => `(${row.join(" ")})`).join(" ")} }`;
};

/** By BIND and UNION, for endpoints that do not know VALUES. */
export const bindTable: Table = (variables, rows) => {
  const branches = rows.map((row) => {
    const binds = row.map((cell, column) => `BIND(${cell} AS ?${itemAt(variables, column)})`);
    return `{ ${binds.join(" ")} }`;
  });
  return `{ ${branches.join(" UNION ")} }`;
};

/** No rows: whether the rest of a query is understood shows all the same. */
export const emptyTable: Table = (variables) =>
  variables.map((name) => `<urn:x:none> <urn:x:none> ?${name} .`).join(" ");

const digits = (count: number): readonly (readonly string[])[] =>
  Array.from({ length: count }, (_, digit) => [String(digit)]);

/** One table a size, without a common variable: a join has as many solutions as the sizes' product. */
export const product = (table: Table, sizes: readonly number[]): string =>
  sizes.map((size, index) => table([`d${index}`], digits(size))).join(" ");
