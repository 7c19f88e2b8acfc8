/** One request of a plan by hand. */
export interface HandRequest {
  readonly at: string;
  /** A SELECT query without prologue; `%keys` becomes VALUES with the terms told so far of the variable that it names: `%keys(i)`. */
  readonly select: string;
  /** What a row says, as triples; the pattern that it was asked for, where nothing else is said. */
  readonly says: string;
}

/** A query that says with `SERVICE @name` where things are, and how it is answered with the fewest requests. */
export interface Shape {
  readonly name: string;
  readonly text: string;
  /** Rounds of requests, each sent at once. */
  readonly rounds: readonly (readonly HandRequest[])[];
  /** Asked of what was told, where that is not the query itself. */
  readonly last?: string;
  /** Any so many rows of the answer without it are right. */
  readonly limit?: number;
}

export const shapePrefixes = "PREFIX v: <http://shapes.example/v#>\n";

const fewNames = "?i a v:Few . ?i v:name ?name .";
const few: HandRequest = { at: "a", select: `SELECT ?i ?name { ${fewNames} }`, says: fewNames };
/** All of a pattern, or what it has for the keys of the variable. */
const whole = (at: string, variables: string, pattern: string): HandRequest => ({
  at,
  select: `SELECT ${variables} { ${pattern} }`,
  says: pattern,
});
const keyed = (at: string, [key, variables]: readonly [string, string], pattern: string): HandRequest => ({
  at,
  select: `SELECT ${variables} { %keys(${key}) ${pattern} }`,
  says: pattern,
});
const prices = keyed("b", ["i", "?i ?price"], "?i v:price ?price .");
const ratings = keyed("c", ["i", "?i ?rating"], "?i v:rating ?rating .");
const makers = keyed("c", ["i", "?i ?maker"], "?i v:maker ?maker .");

/** The nine of the first measurements, and what had been found slow since. */
export const shapes: readonly Shape[] = [
  { name: "single", text: `SELECT * { SERVICE @a { ${fewNames} } }`, rounds: [[few]] },
  {
    name: "two with 200 keys",
    text: `SELECT * { SERVICE @a { ${fewNames} } SERVICE @b { ?i v:price ?price } }`,
    rounds: [[few], [prices]],
  },
  {
    name: "two with 20000 keys",
    text: "SELECT * { SERVICE @a { ?i v:name ?name } SERVICE @b { ?i v:price ?price } }",
    rounds: [[whole("a", "?i ?name", "?i v:name ?name ."), whole("b", "?i ?price", "?i v:price ?price .")]],
  },
  {
    name: "star of three",
    text: `SELECT * { SERVICE @a { ${fewNames} } SERVICE @b { ?i v:price ?price } SERVICE @c { ?i v:maker ?maker } }`,
    rounds: [[few], [prices, makers]],
  },
  {
    name: "OPTIONAL",
    text: `SELECT * { SERVICE @a { ${fewNames} } OPTIONAL { SERVICE @c { ?i v:rating ?rating } } }`,
    rounds: [[few], [ratings]],
  },
  {
    name: "UNION LIMIT 5",
    text: "SELECT * { { SERVICE @a { ?x v:code ?n } } UNION { SERVICE @b { ?x v:code ?n } } UNION { SERVICE @c { ?x v:code ?n } } } LIMIT 5",
    rounds: [[{ at: "b", select: "SELECT * { ?x v:code ?n } LIMIT 5", says: "?x v:code ?n ." }]],
    limit: 5,
  },
  {
    name: "SILENT twice",
    text: "SELECT * { SERVICE SILENT @a { ?i a v:Few } SERVICE SILENT @a { ?i v:name ?name } }",
    rounds: [[few]],
  },
  {
    name: "LIMIT 10",
    text: "SELECT * { SERVICE @a { ?i v:name ?name } SERVICE @b { ?i v:price ?price } } LIMIT 10",
    rounds: [[{ at: "a", select: "SELECT * { ?i v:name ?name } LIMIT 10", says: "?i v:name ?name ." }], [prices]],
    limit: 10,
  },
  {
    name: "aggregate",
    text: `SELECT ?group (SUM(?amount) AS ?sum) (COUNT(*) AS ?n) { SERVICE @a { ?i v:group ?group }
      SERVICE @b { ?sale v:of ?i ; v:amount ?amount } } GROUP BY ?group`,
    rounds: [
      [
        whole("a", "?i ?group", "?i v:group ?group ."),
        {
          at: "b",
          select: "SELECT ?i (SUM(?amount) AS ?sum) (COUNT(*) AS ?n) { ?sale v:of ?i ; v:amount ?amount } GROUP BY ?i",
          says: "?i v:sum ?sum . ?i v:n ?n .",
        },
      ],
    ],
    last: `SELECT ?group (SUM(?s) AS ?sum) (SUM(?m) AS ?n) { SERVICE @a { ?i v:group ?group } SERVICE @b { ?i v:sum ?s ; v:n ?m } }
      GROUP BY ?group`,
  },
  {
    name: "MINUS",
    text: `SELECT * { SERVICE @a { ${fewNames} } MINUS { SERVICE @c { ?i v:rating ?rating } } }`,
    rounds: [[few], [ratings]],
  },
  {
    name: "EXISTS",
    text: `SELECT * { SERVICE @a { ${fewNames} } FILTER EXISTS { SERVICE @c { ?i v:rating ?rating } } }`,
    rounds: [[few], [ratings]],
  },
  {
    name: "filter outside",
    text: 'SELECT * { SERVICE @b { ?i v:registered ?doi } FILTER(?doi = "10.1/77") SERVICE @a { ?i v:name ?name } }',
    rounds: [
      [
        {
          at: "b",
          select: 'SELECT * { ?i v:registered ?doi FILTER(?doi = "10.1/77") }',
          says: "?i v:registered ?doi .",
        },
      ],
      [keyed("a", ["i", "?i ?name"], "?i v:name ?name .")],
    ],
  },
  {
    name: "large first with LIMIT",
    text: `SELECT * { SERVICE @b { ?i v:price ?price } SERVICE @a { ${fewNames} } } LIMIT 10`,
    rounds: [[{ at: "a", select: `SELECT * { ${fewNames} } LIMIT 10`, says: fewNames }], [prices]],
    limit: 10,
  },
  {
    name: "existence only",
    text: `SELECT DISTINCT ?name { SERVICE @a { ${fewNames} } SERVICE @b { ?sale v:of ?i } }`,
    rounds: [[few], [{ at: "b", select: "SELECT DISTINCT ?i { %keys(i) ?sale v:of ?i }", says: "_:any v:of ?i ." }]],
  },
  {
    name: "COUNT over UNION",
    text: "SELECT (COUNT(*) AS ?n) { { SERVICE @a { ?i v:name ?x } } UNION { SERVICE @b { ?i v:price ?x } } }",
    rounds: [
      [
        { at: "a", select: "SELECT (COUNT(*) AS ?n) { ?i v:name ?x }", says: "_:a v:n ?n ." },
        { at: "b", select: "SELECT (COUNT(*) AS ?n) { ?i v:price ?x }", says: "_:b v:n ?n ." },
      ],
    ],
    last: "SELECT (SUM(?m) AS ?n) { { SERVICE @a { ?x v:n ?m } } UNION { SERVICE @b { ?x v:n ?m } } }",
  },
  {
    name: "closed NOT EXISTS",
    text: `SELECT * { SERVICE @a { ${fewNames} } FILTER NOT EXISTS { SERVICE @b { ?x v:retired ?y } } }`,
    rounds: [[few, { at: "b", select: "SELECT ?x ?y { ?x v:retired ?y } LIMIT 1", says: "?x v:retired ?y ." }]],
  },
  {
    name: "repeated pattern",
    text: `SELECT * { SERVICE @a { ${fewNames} } { SERVICE @b { ?i v:price ?price } FILTER(?price < 100) }
      UNION { SERVICE @b { ?i v:price ?price } FILTER(?price > 900) } }`,
    rounds: [
      [few],
      [
        {
          at: "b",
          select: "SELECT ?i ?price { %keys(i) ?i v:price ?price FILTER(?price < 100 || ?price > 900) }",
          says: "?i v:price ?price .",
        },
      ],
    ],
  },
  {
    name: "unlike keys",
    text: "SELECT * { SERVICE @a { ?i a v:Few . ?i v:doi ?doi } SERVICE @c { ?work v:identifier ?doi } }",
    rounds: [
      [whole("a", "?i ?doi", "?i a v:Few . ?i v:doi ?doi .")],
      [keyed("c", ["doi", "?work ?doi"], "?work v:identifier ?doi .")],
    ],
  },
  {
    name: "OPTIONAL star",
    text: `SELECT * { SERVICE @a { ${fewNames} } OPTIONAL { SERVICE @b { ?i v:price ?price } SERVICE @c { ?i v:rating ?rating } } }`,
    rounds: [[few], [prices, ratings]],
  },
  {
    name: "chain of four",
    text: `SELECT * { SERVICE @a { ${fewNames} } SERVICE @c { ?i v:maker ?maker } SERVICE @d { ?maker v:country ?country }
      SERVICE @b { ?country v:label ?label } }`,
    rounds: [
      [few],
      [makers],
      [keyed("d", ["maker", "?maker ?country"], "?maker v:country ?country .")],
      [keyed("b", ["country", "?country ?label"], "?country v:label ?label .")],
    ],
  },
];
