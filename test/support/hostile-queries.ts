/** A query that once ended or froze the service, or would without a bound. */
export interface HostileQuery {
  readonly name: string;
  readonly query: string;
}

const numbers = (count: number, variable: string): string =>
  `VALUES ?${variable} { ${Array.from({ length: count }, (_, index) => index).join(" ")} }`;

/** As many rows as the product of the counts, in few characters. */
const cross = (...counts: readonly number[]): string =>
  counts.map((count, index) => `{ ${numbers(count, `v${index}`)} }`).join(" ");

/** A string of 40 x 10^times characters in ?x{times}. */
function grown(times: number): string {
  const steps = Array.from({ length: times }, (_, step) => {
    const arguments_ = Array.from({ length: 10 }, () => `?x${step}`).join(", ");
    return `BIND(CONCAT(${arguments_}) AS ?x${step + 1})`;
  });
  return `BIND("${"x".repeat(40)}" AS ?x0) ${steps.join(" ")}`;
}

const badIri = 'IRI("a b")';
const three = "VALUES ?a { 1 2 3 }";

/** Errors of functions on more than one row, wherever an expression may stand. */
export const failingExpressions: readonly HostileQuery[] = [
  { name: "in the projection", query: `SELECT (${badIri} AS ?z) { ${three} }` },
  { name: "in BIND", query: `SELECT * { ${three} BIND(${badIri} AS ?z) }` },
  { name: "in FILTER", query: `SELECT * { ${three} FILTER(ISIRI(${badIri})) }` },
  { name: "in ORDER BY", query: `SELECT * { ${three} } ORDER BY ${badIri}` },
  { name: "in HAVING", query: `SELECT ?a (COUNT(*) AS ?n) { ${three} } GROUP BY ?a HAVING(ISIRI(${badIri}))` },
  { name: "in an aggregate", query: `SELECT (SAMPLE(${badIri}) AS ?n) { ${three} }` },
  { name: "in CONSTRUCT", query: `CONSTRUCT { <urn:s> <urn:p> ?z } { ${three} BIND(${badIri} AS ?z) }` },
  { name: "in COALESCE", query: `SELECT (COALESCE(${badIri}, "else") AS ?z) { ${three} }` },
  {
    name: "of a date that is none, in ORDER BY",
    query: 'SELECT * { VALUES ?a { "2009-02-30"^^<http://www.w3.org/2001/XMLSchema#date> 2 3 } } ORDER BY ?a',
  },
];

/** Large strings out of small queries, large patterns, large inline data, joins and sorts of millions of rows. */
export const expensiveQueries: readonly HostileQuery[] = [
  ...["SHA512", "UCASE", "ENCODE_FOR_URI", "STRLEN"].map((name) => ({
    name: `${name} of a string of 4 MB`,
    query: `SELECT (${name}(?x5) AS ?z) { ${three} ${grown(5)} }`,
  })),
  { name: "100 rows of a string of 4 MB", query: `SELECT ?x5 { ${cross(100)} ${grown(5)} }` },
  { name: "100 rows of a string of 400 KB", query: `SELECT ?x4 { ${cross(100)} ${grown(4)} }` },
  { name: "a string beyond what the platform can hold", query: `SELECT ?x9 { ${grown(9)} }` },
  {
    name: "REPLACE over 4 MB",
    query: `SELECT (STRLEN(REPLACE(?x5, "x", "yyyyyyyyyy")) AS ?z) { ${grown(5)} }`,
  },
  {
    name: "REPLACE over 400 KB that grows it a thousandfold",
    query: `SELECT (STRLEN(REPLACE(?x4, "x", "${"y".repeat(1_000)}")) AS ?z) { ${grown(4)} }`,
  },
  {
    name: "ORDER BY over 50,000 strings of 20 KB",
    query: `SELECT ?v0 { ${cross(224, 224)} BIND("${"k".repeat(20_000)}" AS ?k) } ORDER BY CONCAT(STR(?v0), ?k) LIMIT 1`,
  },
  { name: "VALUES with 300,000 rows", query: `SELECT * { ${numbers(300_000, "a")} } LIMIT 1` },
  {
    name: "VALUES with 2,000 columns",
    query: `SELECT * { VALUES (${Array.from({ length: 2_000 }, (_, n) => `?c${n}`).join(" ")}) { ${`(${"1 ".repeat(2_000)})`.repeat(100)} } }`,
  },
  ...Array.from({ length: 11 }, (_, index) => ({
    name: `REGEX with a pattern of 500 KB (${index})`,
    query: `SELECT * { ${three} FILTER REGEX(STR(?a), "${`${index}(a|b|c)?`.repeat(50_000).slice(0, 500_000)}") }`,
  })),
  {
    name: "a grouping of a million rows",
    query: `SELECT ?v0 ?v1 (COUNT(*) AS ?n) { ${cross(1_000, 1_000)} } GROUP BY ?v0 ?v1 LIMIT 1`,
  },
  {
    name: "GROUP_CONCAT over a million rows",
    query: `SELECT (GROUP_CONCAT(CONCAT(STR(?v0), "${"g".repeat(1_000)}")) AS ?n) { ${cross(1_000, 1_000)} }`,
  },
  {
    name: "ORDER BY over a million rows",
    query: `SELECT * { ${cross(1_000, 1_000)} } ORDER BY DESC(?v1) ?v0 LIMIT 1`,
  },
  { name: "DISTINCT over a million rows", query: `SELECT DISTINCT * { ${cross(1_000, 1_000)} }` },
  {
    name: "an answer of 4 GB",
    query: `SELECT * { ${cross(1_000, 1_000)} BIND("${"r".repeat(4_000)}" AS ?k) }`,
  },
  {
    name: "MINUS between a million rows and a thousand",
    query: `SELECT * { ${cross(1_000, 1_000)} MINUS { ${numbers(1_000, "v1")} } }`,
  },
  {
    name: "nested groups, 2,000 deep",
    query: `SELECT * ${"{".repeat(2_000)} ${three} ${"}".repeat(2_000)}`,
  },
  {
    name: "a FILTER of 20,000 conditions",
    query: `SELECT * { ${three} FILTER(${"?a = 1 || ".repeat(20_000)}?a = 2) }`,
  },
];
