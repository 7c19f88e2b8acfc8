import type { HandRequest, Shape } from "./queries.ts";

// Queries without SERVICE over two members of more than 20,000 triples, `b` and `c`. Both have offers, each its own; what both say of
// items they say by different properties.

const requests = (names: readonly string[], select: string, says: string): readonly HandRequest[] =>
  names.map((at) => ({ at, select, says }));
const atBoth = (select: string, says: string): readonly HandRequest[] => requests(["b", "c"], select, says);
const at = (name: string, select: string, says: string): readonly HandRequest[] => requests([name], select, says);

/** What both members say of their offers, as it is asked for; the answer is computed here. */
const offers = (name: string, text: string, says = patternOf(text)): Shape => ({
  name,
  text,
  rounds: [atBoth(text, says)],
});

/** Without FILTER, as triples. */
const patternOf = (text: string): string => `${/\{(.*?)(?:FILTER|\}|OPTIONAL|MINUS)/su.exec(text)?.[1] ?? ""}.`;

/** Numbers that both members compute, and the query that puts them together. */
function computed(name: string, text: string, [says, last]: readonly [says: string, last: string]): Shape {
  return { name, text, rounds: [atBoth(text, says)], last };
}

const counted = ["[] v:n ?n .", "SELECT (SUM(?m) AS ?n) { ?x v:n ?m }"] as const;
const bySeller = "?o v:cost ?c ; v:seller ?m";
const makerOf = (number: number): string => `<http://c.example/maker/${number}>`;
const offerOf = (name: string, number: number): string => `<http://${name}.example/offer/${number}>`;
const costs = "?o v:cost ?c .";
const someOffers = ["b", "c"].flatMap((name) => [1, 2, 3].map((number) => offerOf(name, number))).join(" ");

export const shapesOverMembers: readonly Shape[] = [
  computed("COUNT", "SELECT (COUNT(*) AS ?n) { ?o v:cost ?c }", counted),
  computed("COUNT of a star", `SELECT (COUNT(*) AS ?n) { ${bySeller} ; v:title ?t }`, counted),
  computed("COUNT with FILTER", "SELECT (COUNT(*) AS ?n) { ?o v:cost ?c FILTER(?c > 4000) }", counted),
  computed("COUNT DISTINCT of subjects", "SELECT (COUNT(DISTINCT ?o) AS ?n) { ?o v:cost ?c }", counted),
  computed("COUNT of one seller", `SELECT (COUNT(*) AS ?n) { ?o v:seller ${makerOf(3)} }`, counted),
  computed("SUM", "SELECT (SUM(?c) AS ?n) { ?o v:cost ?c }", counted),
  {
    name: "AVG",
    text: "SELECT (AVG(?c) AS ?avg) { ?o v:cost ?c }",
    rounds: [atBoth("SELECT (SUM(?c) AS ?s) (COUNT(*) AS ?n) { ?o v:cost ?c }", "[] v:s ?s ; v:n ?n .")],
    last: "SELECT ((SUM(?s) / SUM(?n)) AS ?avg) { ?x v:s ?s ; v:n ?n }",
  },
  computed("MIN and MAX", "SELECT (MIN(?c) AS ?l) (MAX(?c) AS ?h) { ?o v:cost ?c }", [
    "[] v:l ?l ; v:h ?h .",
    "SELECT (MIN(?x) AS ?l) (MAX(?y) AS ?h) { ?r v:l ?x ; v:h ?y }",
  ]),
  computed("SUM by seller", `SELECT ?m (SUM(?c) AS ?s) (COUNT(*) AS ?n) { ${bySeller} } GROUP BY ?m`, [
    "[] v:m ?m ; v:s ?s ; v:n ?n .",
    "SELECT ?m (SUM(?x) AS ?s) (SUM(?y) AS ?n) { ?r v:m ?m ; v:s ?x ; v:n ?y } GROUP BY ?m",
  ]),
  computed("COUNT by title", "SELECT ?t (COUNT(*) AS ?n) { ?o v:title ?t } GROUP BY ?t", [
    "[] v:t ?t ; v:n ?n .",
    "SELECT ?t (SUM(?y) AS ?n) { ?r v:t ?t ; v:n ?y } GROUP BY ?t",
  ]),
  computed("MAX by title", "SELECT ?t (MAX(?c) AS ?h) { ?o v:title ?t ; v:cost ?c } GROUP BY ?t", [
    "[] v:t ?t ; v:h ?h .",
    "SELECT ?t (MAX(?y) AS ?h) { ?r v:t ?t ; v:h ?y } GROUP BY ?t",
  ]),
  {
    name: "HAVING",
    text: "SELECT ?m (COUNT(*) AS ?n) { ?o v:seller ?m } GROUP BY ?m HAVING (COUNT(*) > 400)",
    rounds: [atBoth("SELECT ?m (COUNT(*) AS ?n) { ?o v:seller ?m } GROUP BY ?m", "[] v:m ?m ; v:n ?n .")],
    last: "SELECT ?m (SUM(?y) AS ?n) { ?r v:m ?m ; v:n ?y } GROUP BY ?m HAVING (SUM(?y) > 400)",
  },
  {
    name: "COUNT DISTINCT of sellers",
    text: "SELECT (COUNT(DISTINCT ?m) AS ?n) { ?o v:seller ?m }",
    rounds: [atBoth("SELECT DISTINCT ?m { ?o v:seller ?m }", "[] v:seller ?m .")],
  },
  {
    name: "SUM of both sides",
    text: "SELECT (SUM(?p) AS ?s) { ?i v:rating 10 ; v:price ?p }",
    rounds: [
      at("c", "SELECT ?i { ?i v:rating 10 }", "?i v:rating 10 ."),
      at("b", "SELECT (SUM(?p) AS ?s) { %keys(i) ?i v:price ?p }", "[] v:s ?s ."),
    ],
    last: "SELECT ?s { ?x v:s ?s }",
  },
  {
    name: "COUNT at one member",
    text: "SELECT (COUNT(*) AS ?n) { ?s v:of ?i ; v:amount ?x }",
    rounds: [at("b", "SELECT (COUNT(*) AS ?n) { ?s v:of ?i ; v:amount ?x }", "[] v:n ?n .")],
    last: "SELECT ?n { ?x v:n ?n }",
  },
  {
    name: "COUNT of all by property",
    text: "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p",
    rounds: [atBoth("SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p", "[] v:p ?p ; v:n ?n .")],
    last: "SELECT ?p (SUM(?y) AS ?n) { ?r v:p ?p ; v:n ?y } GROUP BY ?p",
  },
  offers("top 5", "SELECT ?o ?c { ?o v:cost ?c } ORDER BY DESC(?c) ?o LIMIT 5"),
  offers("last 10 of a star", `SELECT ?o ?c ?m { ${bySeller} } ORDER BY ?c ?o LIMIT 10`),
  {
    name: "top 5 and more of them",
    text: "SELECT * { { SELECT ?o ?c { ?o v:cost ?c } ORDER BY DESC(?c) ?o LIMIT 5 } ?o v:seller ?m }",
    rounds: [
      atBoth(
        "SELECT ?o ?c ?m { ?o v:cost ?c ; v:seller ?m } ORDER BY DESC(?c) ?o LIMIT 5",
        "?o v:cost ?c ; v:seller ?m .",
      ),
    ],
  },
  {
    ...offers("LIMIT 10 of offers", "SELECT ?o ?c { ?o v:cost ?c } LIMIT 10"),
    rounds: [at("b", `SELECT * { ${costs} } LIMIT 10`, costs)],
    limit: 10,
  },
  {
    ...offers("LIMIT 10 of a star", `SELECT ?o ?c ?m { ${bySeller} } LIMIT 10`),
    rounds: [at("b", `SELECT * { ${bySeller} } LIMIT 10`, `${bySeller} .`)],
    limit: 10,
  },
  {
    name: "ASK",
    text: `ASK { ${bySeller} }`,
    rounds: [at("b", `SELECT * { ${bySeller} } LIMIT 1`, `${bySeller} .`)],
  },
  offers("all titles", "SELECT ?o ?t { ?o v:title ?t }"),
  offers("a star", `SELECT ?o ?c ?m { ${bySeller} }`),
  offers(
    "a star of one title",
    'SELECT ?o ?c { ?o v:title "offer 7" ; v:cost ?c }',
    '?o v:title "offer 7" ; v:cost ?c .',
  ),
  offers("a star with FILTER", `SELECT ?o ?c ?m { ${bySeller} FILTER(?c < 50) }`),
  {
    name: "DISTINCT sellers",
    text: "SELECT DISTINCT ?m { ?o v:seller ?m }",
    rounds: [atBoth("SELECT DISTINCT ?m { ?o v:seller ?m }", "[] v:seller ?m .")],
  },
  {
    name: "DISTINCT titles",
    text: "SELECT DISTINCT ?t { ?o v:title ?t }",
    rounds: [atBoth("SELECT DISTINCT ?t { ?o v:title ?t }", "[] v:title ?t .")],
  },
  {
    ...offers("star with OPTIONAL", "SELECT ?o ?c ?m { ?o v:cost ?c FILTER(?c < 100) OPTIONAL { ?o v:seller ?m } }"),
    rounds: [
      atBoth(
        "SELECT ?o ?c ?m { ?o v:cost ?c FILTER(?c < 100) OPTIONAL { ?o v:seller ?m } }",
        "?o v:cost ?c ; v:seller ?m .",
      ),
    ],
  },
  offers("star with MINUS", `SELECT ?o ?c { ?o v:cost ?c FILTER(?c < 100) MINUS { ?o v:seller ${makerOf(3)} } }`),
  offers(
    "star with NOT EXISTS",
    `SELECT ?o ?c { ?o v:cost ?c FILTER(?c < 100 && NOT EXISTS { ?o v:seller ${makerOf(3)} }) }`,
  ),
  {
    name: "one subject",
    text: `SELECT * { ${offerOf("c", 7)} ?p ?x }`,
    rounds: [at("c", `SELECT ?p ?x { ${offerOf("c", 7)} ?p ?x }`, `${offerOf("c", 7)} ?p ?x .`)],
  },
  {
    name: "six subjects",
    text: `SELECT ?o ?c { VALUES ?o { ${someOffers} } ?o v:cost ?c }`,
    rounds: [
      ["b", "c"].flatMap((name) =>
        at(
          name,
          `SELECT ?o ?c { VALUES ?o { ${[1, 2, 3].map((number) => offerOf(name, number)).join(" ")} } ?o v:cost ?c }`,
          costs,
        ),
      ),
    ],
  },
  {
    name: "join of both members",
    text: "SELECT ?i ?p { ?i v:rating 10 ; v:price ?p }",
    rounds: [
      at("c", "SELECT ?i { ?i v:rating 10 }", "?i v:rating 10 ."),
      at("b", "SELECT ?i ?p { %keys(i) ?i v:price ?p }", "?i v:price ?p ."),
    ],
  },
  {
    name: "chain over both members",
    text: 'SELECT ?i ?p ?o { ?o v:title "offer 7" ; v:seller ?m . ?i v:maker ?m ; v:rating 10 ; v:price ?p }',
    rounds: [
      [...atBoth('SELECT ?o ?m { ?o v:title "offer 7" ; v:seller ?m }', '?o v:title "offer 7" ; v:seller ?m .')],
      at("c", "SELECT ?i ?m { %keys(m) ?i v:maker ?m ; v:rating 10 }", "?i v:maker ?m ; v:rating 10 ."),
      at("b", "SELECT ?i ?p { %keys(i) ?i v:price ?p }", "?i v:price ?p ."),
    ],
  },
  {
    name: "COUNT over UNION of patterns",
    text: "SELECT (COUNT(*) AS ?n) { { ?o v:cost ?x } UNION { ?s v:amount ?x } }",
    rounds: [
      [
        ...at("b", "SELECT (COUNT(*) AS ?n) { { ?o v:cost ?x } UNION { ?s v:amount ?x } }", "[] v:n ?n ."),
        ...at("c", "SELECT (COUNT(*) AS ?n) { ?o v:cost ?x }", "[] v:n ?n ."),
      ],
    ],
    last: "SELECT (SUM(?m) AS ?n) { ?x v:n ?m }",
  },
];
