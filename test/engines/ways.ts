import { terms } from "./data.ts";

/** A way of asking: a query over `LEFT` and `RIGHT`, which stand for SERVICE clauses' beginnings, and its answer. */
export interface Way {
  readonly name: string;
  readonly query: string;
  /** Rows as cells joined by blanks, IRIs without their common beginning. */
  readonly expected: (matches: Matches) => readonly string[];
}

/** What one side, asked alone, holds for each term of the other one: subjects by the other side's subject, of a kind. */
type Found = Readonly<Record<string, ReadonlyMap<string, readonly string[]>>>;

export interface Matches {
  /** At the engine, for terms as they are written into the data of the left side. */
  readonly ofLeft: Found;
  /** At the left side, for terms as the engine gives them. */
  readonly ofRight: Found;
}

const lefts = ({ ofLeft }: Matches, kind: string) => [...(ofLeft[kind] ?? [])];
const rights = ({ ofRight }: Matches, kind: string) => [...(ofRight[kind] ?? [])];

/** Ways to join a kind of terms. */
const joins = (kind: string): readonly Way[] => {
  const L = `LEFT { ?l ex:left-${kind} ?v }`;
  const R = `RIGHT { ?r ex:right-${kind} ?v }`;
  const matched = (matches: Matches): readonly string[] =>
    lefts(matches, kind).flatMap(([left, found]) => (found.length > 0 ? [left] : []));
  const lacking = (matches: Matches): readonly string[] =>
    lefts(matches, kind).flatMap(([left, found]) => (found.length > 0 ? [] : [left]));
  const pairs = (matches: Matches): readonly string[] =>
    lefts(matches, kind).flatMap(([left, found]) => found.map((right) => `${left} ${right}`));
  const ways: readonly Way[] = [
    { name: "join", query: `SELECT ?l ?r { ${L} ${R} }`, expected: pairs },
    {
      name: "OPTIONAL",
      query: `SELECT ?l ?r { ${L} OPTIONAL { ${R} } }`,
      expected: (matches) => [...pairs(matches), ...lacking(matches).map((left) => `${left} -`)],
    },
    { name: "DISTINCT", query: `SELECT DISTINCT ?l { ${L} ${R} }`, expected: matched },
    {
      name: "COUNT(DISTINCT)",
      query: `SELECT (COUNT(DISTINCT ?l) AS ?n) { ${L} ${R} }`,
      expected: (matches) => [`${matched(matches).length}`],
    },
    {
      name: "GROUP BY",
      query: `SELECT ?l (COUNT(?r) AS ?n) { ${L} ${R} } GROUP BY ?l`,
      expected: (matches) =>
        lefts(matches, kind).flatMap(([left, found]) => (found.length > 0 ? [`${left} ${found.length}`] : [])),
    },
    { name: "EXISTS", query: `SELECT ?l { ${L} FILTER EXISTS { ${R} } }`, expected: matched },
    { name: "NOT EXISTS", query: `SELECT ?l { ${L} FILTER NOT EXISTS { ${R} } }`, expected: lacking },
    { name: "MINUS", query: `SELECT ?l { ${L} MINUS { ${R} } }`, expected: lacking },
    {
      name: "sub-SELECT",
      query: `SELECT ?l ?r { ${L} RIGHT { SELECT ?r ?v { ?r ex:right-${kind} ?v } } }`,
      expected: pairs,
    },
    {
      name: "join of two variables",
      query: `SELECT ?l ?r { ${L} LEFT { ?r ex:same ?x } RIGHT { ?r ex:right-${kind} ?v } }`,
      expected: pairs,
    },
    {
      name: "UNION",
      query: `SELECT ?l ?r { ${L} RIGHT { { ?r ex:right-${kind} ?v } UNION { ?r ex:nothing ?v } } }`,
      expected: pairs,
    },
    {
      name: "join that begins at the engine",
      query: `SELECT ?l ?r { ${R} ${L} }`,
      expected: (matches) => rights(matches, kind).flatMap(([right, found]) => found.map((left) => `${left} ${right}`)),
    },
    {
      name: "OPTIONAL after the engine",
      query: `SELECT ?r ?l { ${R} OPTIONAL { ${L} } }`,
      expected: (matches) =>
        rights(matches, kind).flatMap(([right, found]) =>
          found.length > 0 ? found.map((left) => `${right} ${left}`) : [`${right} -`],
        ),
    },
  ];
  return ways.map(({ name, query, expected }) => ({ name: `${name} on ${kind}`, query, expected }));
};

const always =
  (...rows: readonly string[]) =>
  (): readonly string[] =>
    rows;

/** Ways over IRIs and blank nodes, whose answers are the same at all engines. */
const structural: readonly Way[] = [
  {
    name: "DISTINCT keys as objects",
    query: "SELECT DISTINCT ?i { LEFT { ?i ex:n ?n } RIGHT { ?s ex:link ?i } }",
    expected: always("item/1", "item/2", "item/3"),
  },
  {
    name: "DISTINCT keys as subjects",
    query: "SELECT DISTINCT ?i { LEFT { ?i ex:n ?n } RIGHT { ?i ex:sub ?s } }",
    expected: always("item/1", "item/2", "item/5"),
  },
  {
    name: "EXISTS, keys as objects",
    query: "SELECT ?i { LEFT { ?i ex:n ?n } FILTER EXISTS { RIGHT { ?s ex:link ?i } } }",
    expected: always("item/1", "item/2", "item/3"),
  },
  {
    name: "NOT EXISTS, keys as objects",
    query: "SELECT ?i { LEFT { ?i ex:n ?n } FILTER NOT EXISTS { RIGHT { ?s ex:link ?i } } }",
    expected: always("item/4", "item/5", "item/6"),
  },
  {
    name: "MINUS, keys as objects",
    query: "SELECT ?i { LEFT { ?i ex:n ?n } MINUS { RIGHT { ?s ex:link ?i } } }",
    expected: always("item/4", "item/5", "item/6"),
  },
  {
    name: "DISTINCT keys in a sub-SELECT",
    query: "SELECT ?i { LEFT { ?i ex:n ?n } RIGHT { SELECT DISTINCT ?i { ?s ex:link ?i } } }",
    expected: always("item/1", "item/2", "item/3"),
  },
  {
    name: "keys with GROUP BY inside",
    query: "SELECT ?i ?c { LEFT { ?i ex:n ?n } RIGHT { SELECT ?i (COUNT(?s) AS ?c) { ?s ex:link ?i } GROUP BY ?i } }",
    expected: always("item/1 2", "item/2 1", "item/3 1"),
  },
  {
    name: "a path of one or more that begins at keys",
    query: "SELECT ?i ?o { LEFT { ?i ex:root ?x } RIGHT { ?i ex:sub+ ?o } }",
    expected: always("item/1 item/2", "item/1 item/3", "item/5 item/5"),
  },
  {
    name: "a path that ends at keys",
    query: "SELECT ?i ?o { LEFT { ?i ex:n 3 } RIGHT { ?o ex:sub+ ?i } }",
    expected: always("item/3 item/1", "item/3 item/2"),
  },
  {
    name: "a path whose other end is not asked for",
    query: "SELECT ?i { LEFT { ?i ex:n 3 } RIGHT { ?o ex:sub+ ?i } }",
    expected: always("item/3", "item/3"),
  },
  {
    name: "a sequence of properties that begins at keys",
    query: "SELECT ?i ?o { LEFT { ?i ex:n ?n } RIGHT { ?i ex:sub/ex:sub ?o } }",
    expected: always("item/1 item/3", "item/5 item/5"),
  },
  {
    name: "OPTIONAL inside",
    query: "SELECT ?i ?o { LEFT { ?i ex:n ?n } RIGHT { ?s ex:link ?i OPTIONAL { ?i ex:sub ?o } } }",
    expected: always("item/1 item/2", "item/1 item/2", "item/2 item/3", "item/3 -"),
  },
  {
    name: "FILTER NOT EXISTS inside",
    query: "SELECT ?i { LEFT { ?i ex:n ?n } RIGHT { ?s ex:link ?i FILTER NOT EXISTS { ?i ex:sub ?o } } }",
    expected: always("item/3"),
  },
  {
    name: "MINUS inside",
    query: "SELECT ?i { LEFT { ?i ex:n ?n } RIGHT { ?s ex:link ?i MINUS { ?i ex:sub ?o } } }",
    expected: always("item/3"),
  },
  {
    name: "ORDER BY with LIMIT",
    query: "SELECT ?s ?w { LEFT { ?i ex:n ?n } RIGHT { ?s ex:link ?i ; ex:weight ?w } } ORDER BY DESC(?w) LIMIT 2",
    expected: always("source/2 7", "source/2 7"),
  },
  {
    name: "ORDER BY with LIMIT inside",
    query:
      "SELECT ?s ?n { RIGHT { SELECT ?s ?i { ?s ex:link ?i ; ex:weight ?w } ORDER BY ?w LIMIT 1 } LEFT { ?i ex:n ?n } }",
    expected: always("source/1 1"),
  },
  {
    name: "SUM of a join",
    query: "SELECT (SUM(?w) AS ?sum) { LEFT { ?i ex:n ?n } RIGHT { ?s ex:link ?i ; ex:weight ?w } }",
    expected: always("22"),
  },
  {
    name: "blank nodes of one member",
    query: "SELECT (COUNT(DISTINCT ?b) AS ?boxes) (COUNT(*) AS ?all) { LEFT { ?i ex:n ?n } RIGHT { ?b ex:holds ?i } }",
    expected: always("2 3"),
  },
  {
    name: "keys as predicates",
    query: "SELECT DISTINCT ?p { LEFT { ?l ex:names ?p } RIGHT { ?s ?p ?o } }",
    expected: always("link", "weight"),
  },
  {
    name: "two keys",
    query: "SELECT ?i ?o { LEFT { ?i ex:n ?n . ?o ex:n ?m } RIGHT { ?i ex:sub ?o } }",
    expected: always("item/1 item/2", "item/2 item/3", "item/5 item/5"),
  },
  {
    name: "the only SERVICE",
    query: "SELECT ?s ?i { RIGHT { ?s ex:link ?i } }",
    expected: always("source/1 item/1", "source/2 item/1", "source/2 item/2", "source/3 item/3"),
  },
  {
    name: "COUNT at the only SERVICE",
    query: "SELECT (COUNT(*) AS ?n) { RIGHT { ?s ex:link ?i } }",
    expected: always("4"),
  },
];

/** Queries over a federation that join values of both members. */
const valueWays = (kind: string): readonly Way[] => [
  {
    name: `a join on ${kind}`,
    query: `SELECT ?l ?r { ?l ex:left-${kind} ?v . ?r ex:right-${kind} ?v }`,
    expected: (matches) => lefts(matches, kind).flatMap(([left, found]) => found.map((right) => `${left} ${right}`)),
  },
  {
    name: `constants of ${kind}`,
    query: `SELECT ?r { ${(terms[kind] ?? []).map((term) => `{ ?r ex:right-${kind} ${term} }`).join(" UNION ")} }`,
    expected: (matches) => lefts(matches, kind).flatMap(([, found]) => found),
  },
];

/** Ways that ask one endpoint for an answer of each form, and for the pages of one. */
export const formWays: readonly Way[] = [
  { name: "ASK", query: "ASK { RIGHT { ?s ex:link <http://example.org/item/1> } }", expected: always("true") },
  {
    name: "ASK without a match",
    query: "ASK { RIGHT { ?s ex:link <http://example.org/item/9> } }",
    expected: always("false"),
  },
  {
    name: "CONSTRUCT",
    query: "CONSTRUCT { ?i ex:of ?s } WHERE { RIGHT { ?s ex:link ?i } }",
    expected: always(
      "<item/1> <of> <source/1> .",
      "<item/1> <of> <source/2> .",
      "<item/2> <of> <source/2> .",
      "<item/3> <of> <source/3> .",
    ),
  },
  {
    name: "CONSTRUCT with ORDER BY and LIMIT",
    query: "CONSTRUCT { ?s ex:first ?s } WHERE { RIGHT { ?s ex:weight ?w } } ORDER BY DESC(?w) LIMIT 1",
    expected: always("<source/2> <first> <source/2> ."),
  },
  {
    name: "DISTINCT with OPTIONAL",
    query: "SELECT DISTINCT ?i ?o { RIGHT { ?s ex:link ?i OPTIONAL { ?i ex:sub ?o } } }",
    expected: always("item/1 item/2", "item/2 item/3", "item/3 -"),
  },
  ...["source/1 3", "source/3 5", "source/2 7", undefined].map(
    (row, page): Way => ({
      name: `page ${page + 1}`,
      query: `SELECT ?s ?w { RIGHT { ?s ex:weight ?w } } ORDER BY ?w LIMIT 1 OFFSET ${page}`,
      expected: always(...(row === undefined ? [] : [row])),
    }),
  ),
];

/** What a DESCRIBE gives is for the engine to say; these triples are among it. */
export const descriptions: readonly Way[] = [
  {
    name: "DESCRIBE a subject",
    query: "DESCRIBE ?s { RIGHT { ?s ex:weight 7 } }",
    expected: always("<source/2> <link> <item/1> .", "<source/2> <link> <item/2> ."),
  },
  {
    name: "DESCRIBE a subject that is an object, too",
    query: "DESCRIBE ?s { RIGHT { ?s ex:sub ?s } }",
    expected: always("<item/5> <sub> <item/5> ."),
  },
];

const made = "?s ex:made ?o . ?o ex:called ?t";

/** Queries over a federation of the engine with the left side. */
export const federatedWays: readonly Way[] = [
  {
    name: "a join in one graph",
    query: `SELECT ?s ?t { GRAPH <http://example.org/graph/1> { ${made} } }`,
    expected: always("source/1 one"),
  },
  {
    name: "a join within each graph",
    query: `SELECT ?g ?s ?t { GRAPH ?g { ${made} } }`,
    expected: always("graph/1 source/1 one", "graph/2 source/2 zwei"),
  },
  {
    name: "a graph that nobody has",
    query: "SELECT ?s { GRAPH <http://example.org/graph/9> { ?s ex:made ?o } }",
    expected: always(),
  },
  {
    name: "COUNT by graph",
    // To some engines the default graph is a graph with a name, too.
    query: `SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ex:made ?o } FILTER(CONTAINS(STR(?g), "/graph/")) } GROUP BY ?g`,
    expected: always("graph/1 1", "graph/2 2"),
  },
  {
    name: "FROM two graphs",
    query: `SELECT ?s ?t FROM <http://example.org/graph/1> FROM <http://example.org/graph/2> { ${made} }`,
    expected: always("source/1 one", "source/2 two", "source/2 zwei", "source/4 one"),
  },
  {
    name: "NOT EXISTS in a graph",
    query: "SELECT ?s { GRAPH <http://example.org/graph/2> { ?s ex:made ?o FILTER NOT EXISTS { ?o ex:called ?t } } }",
    expected: always("source/4"),
  },
  // A constant of a string has one spelling; an engine may hold two.
  ...Object.keys(terms)
    .filter((kind) => kind !== "string")
    .flatMap(valueWays),
];

export const ways: readonly Way[] = [...structural, ...Object.keys(terms).flatMap(joins)];
