/** A number from 0, below the one given. */
export type Random = (below: number) => number;

/** Small multiplicative generator (Lehmer), so that a seed names the data and the query. */
export function randomFrom(seed: number): Random {
  let state = seed * 48_271;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

const pick = <Item>(random: Random, items: readonly Item[]): Item => items[random(items.length)] ?? items[0]!;

const xsd = "http://www.w3.org/2001/XMLSchema#";
/**
 * Terms that are different have different values: where one side of `=` is bound outside of EXISTS, Oxigraph 0.5.11 takes it
 * for sameTerm.
 */
const objects = [
  ...["n0", "n1", "n2", "n3"].map((name) => `<urn:d:${name}>`),
  ...["0", "1", "2"].map((value) => `"${value}"^^<${xsd}integer>`),
  `"1.5"^^<${xsd}decimal>`,
  `"2.5E0"^^<${xsd}double>`,
  '"1"',
  '"a\\\\u0062\\n\\"\'"',
  '"a"@en',
];

/** N-Quads: some in the default graph, some in two others. */
export function randomQuads(random: Random): string {
  const lines = Array.from({ length: 12 + random(14) }, () => {
    const graph = pick(random, ["", "", "", "<urn:d:g1> ", "<urn:d:g2> "]);
    return `<urn:d:n${random(4)}> <urn:d:${pick(random, ["p", "q", "r"])}> ${pick(random, objects)} ${graph}.`;
  });
  return lines.join("\n");
}

const closed: readonly ((random: Random) => string)[] = [
  () => "SELECT ?x { ?x :q ?y }",
  () => "SELECT ?x { ?y :q ?x }",
  () => "SELECT DISTINCT ?x { ?y :r ?x } ORDER BY ?y",
  () => "SELECT (MAX(?y) AS ?x) { ?z :q ?y }",
  () => "SELECT ?z (COUNT(?y) AS ?x) { ?z :p ?y } GROUP BY ?z HAVING (COUNT(?y) > 1)",
  () => "SELECT ?z ?x { ?z :p ?y OPTIONAL { ?z :q ?x } }",
  () => "SELECT * { ?x :q ?y FILTER(isIRI(?y)) }",
  () => "SELECT ?x { ?y :r ?x MINUS { ?y :q ?z } }",
  () => "SELECT ?x { { ?x :p ?y } UNION { ?y :p ?x } }",
  () => "SELECT ?x { ?y :p ?x FILTER NOT EXISTS { ?x :q ?z } }",
  () => "SELECT ?x { { SELECT ?x { ?y :p ?x } ORDER BY ?x } }",
  () => "SELECT ?x { GRAPH ?y { ?z :p ?x } }",
  () => "SELECT ?x { VALUES ?x { 1 1.5 :n1 UNDEF } }",
  (random) => `SELECT ?x { ?y :p ?x FILTER(?x ${pick(random, ["=", "!=", "<"])} 1) }`,
];
/** Some are reached by substitution, others choose; they are to stay as they are. */
const open = [
  "SELECT ?x { ?a :q ?x }",
  "SELECT ?a ?x { ?a :q ?x }",
  "SELECT ?x { ?x :q ?b }",
  "SELECT * { ?x :q ?y FILTER(?y != ?b) }",
];

/** A part of EXISTS in which a subselect stands. */
const around: readonly ((select: string) => string)[] = [
  (select) => select,
  (select) => select,
  (select) => `${select} ?a :p ?x`,
  (select) => `?a ?any ?x . ${select}`,
  (select) => `?a ?any ?some OPTIONAL { ${select} FILTER(?x = ?some) } FILTER(!BOUND(?x))`,
  (select) => `VALUES ?x { :n0 1 2 } MINUS { ${select} }`,
  (select) => `{ ?a :p ?x } UNION { ${select} }`,
  (select) => `VALUES ?in { 1 } FILTER NOT EXISTS { ${select} FILTER(?x = ?b) }`,
  (select) => `${select} BIND(?x + 1 AS ?more) FILTER(?more > 1)`,
];
const tests = ["FILTER(?b IN (?x))", "FILTER(?a = ?x)", "FILTER(?x = ?b || ?x = ?a)", "FILTER(?b > ?x)", ""];

function existsTest(random: Random): string {
  const parts = Array.from({ length: 1 + (random(4) === 0 ? 1 : 0) }, () => {
    const select = random(5) === 0 ? pick(random, open) : pick(random, closed)(random);
    return pick(random, around)(`{ ${select} }`);
  });
  const body = parts.length === 1 ? parts[0] : `{ ${parts[0]} } { ${parts[1]} }`;
  return `${pick(random, ["", "NOT "])}EXISTS { ${body} ${pick(random, tests)} }`;
}

const places: readonly ((test: string) => string)[] = [
  (test) => `SELECT * { ?a :p ?b FILTER ${test} }`,
  (test) => `SELECT * { ?a :p ?b FILTER ${test} }`,
  (test) => `SELECT ?a { ?a ?property ?b FILTER(${test} && isIRI(?a)) } ORDER BY ?a`,
  (test) => `SELECT (COUNT(?b) AS ?n) { ?a :q ?b FILTER ${test} }`,
  (test) => `SELECT * { ?a :q ?b BIND(${test} AS ?is) }`,
  (test) => `SELECT * { ?a :p ?c OPTIONAL { ?a :q ?b FILTER ${test} } }`,
  (test) => `SELECT (SAMPLE(?c) AS ?b) ?a { ?a :p ?c } GROUP BY ?a HAVING (${test})`,
  (test) => `SELECT ?a FROM :g1 FROM NAMED :g2 { ?a :p ?b FILTER ${test} }`,
  (test) => `CONSTRUCT { ?a :made ?b } WHERE { ?a :r ?b FILTER ${test} }`,
  (test) => `ASK { ?a :r ?b FILTER ${test} }`,
  (test) => `SELECT * { GRAPH ?g { ?a :p ?b FILTER ${test} } }`,
];

/** A query with EXISTS or NOT EXISTS around subselects, most of them closed. */
export const randomExistsQuery = (random: Random): string =>
  `PREFIX : <urn:d:> ${pick(random, places)(existsTest(random))}`;
