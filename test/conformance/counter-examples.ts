/**
 * Small federations that some engine got wrong; each stays a test for ever. `<A>`, `<B>` and `<C>` stand for the
 * endpoints' URLs. Expected rows are in canonical form (see `canonical-answer.ts`) and were worked out by hand.
 */
export interface CounterExample {
  readonly name: string;
  readonly query: string;
  /** N-Triples by endpoint. */
  readonly data: Readonly<Partial<Record<"A" | "B" | "C", string>>>;
  readonly rows: readonly string[];
  readonly inOrder?: boolean;
}

const integer = (value: number): string => `"${value}"^^<http://www.w3.org/2001/XMLSchema#integer>`;

export const counterExamples: readonly CounterExample[] = [
  {
    name: "SELECT DISTINCT subquery whose body is one SERVICE",
    query: "SELECT * { { SELECT DISTINCT ?s { SERVICE <A> { ?s <x:p> ?o } } } SERVICE <B> { ?s <x:q> ?t } }",
    data: { A: "<x:1> <x:p> <x:2> .\n<x:1> <x:p> <x:3> .", B: "<x:1> <x:q> <x:4> ." },
    rows: ["?s=<x:1> ?t=<x:4>"],
  },
  {
    name: "FILTER in one of two SERVICEs for one endpoint names a variable of the other",
    query:
      "SELECT * { SERVICE <A> { ?s <x:p> ?o } SERVICE <A> { ?s <x:q> ?t FILTER (!BOUND(?o)) } SERVICE <B> { ?s <x:r> ?u } }",
    data: { A: "<x:1> <x:p> <x:2> .\n<x:1> <x:q> <x:3> .", B: "<x:1> <x:r> <x:4> ." },
    rows: ["?o=<x:2> ?s=<x:1> ?t=<x:3> ?u=<x:4>"],
  },
  {
    name: "the same with nothing but that endpoint, so that the wrappers are removed",
    query: "SELECT * { SERVICE <A> { ?s <x:p> ?o } SERVICE <A> { ?s <x:q> ?t FILTER (!BOUND(?o)) } }",
    data: { A: "<x:1> <x:p> <x:2> .\n<x:1> <x:q> <x:3> ." },
    rows: ["?o=<x:2> ?s=<x:1> ?t=<x:3>"],
  },
  {
    name: "FILTER in a SERVICE on a variable that only the other SERVICE binds",
    query: "SELECT * { SERVICE <A> { ?s <x:p> ?o } SERVICE <A> { ?s <x:q> ?t FILTER (?o = <x:2>) } }",
    data: { A: "<x:1> <x:p> <x:2> .\n<x:1> <x:q> <x:3> ." },
    rows: [],
  },
  {
    name: "SERVICE ?var whose endpoints VALUES names",
    query: "SELECT * { VALUES ?g { <A> <B> } SERVICE ?g { ?s <x:p> ?o } }",
    data: { A: "<x:1> <x:p> <x:2> .", B: "<x:3> <x:p> <x:4> ." },
    rows: ["?g=<A> ?o=<x:2> ?s=<x:1>", "?g=<B> ?o=<x:4> ?s=<x:3>"],
  },
  {
    name: "a blank node in a row that is joined on another variable",
    query: "SELECT * { SERVICE <A> { ?s <x:p> ?b ; <x:k> ?k } SERVICE <B> { ?t <x:k> ?k } }",
    data: { A: '<x:1> <x:p> _:b .\n<x:1> <x:k> "7" .', B: '<x:2> <x:k> "7" .' },
    rows: ['?b=_: ?k="7" ?s=<x:1> ?t=<x:2>'],
  },
  {
    name: "a join variable that OPTIONAL left unbound",
    query:
      "SELECT * { SERVICE <A> { ?s <x:p> ?o } OPTIONAL { SERVICE <B> { ?s <x:q> ?t } } SERVICE <C> { ?u <x:r> ?t } }",
    data: {
      A: "<x:1> <x:p> <x:9> .\n<x:2> <x:p> <x:9> .",
      B: "<x:1> <x:q> <x:5> .",
      C: "<x:7> <x:r> <x:5> .\n<x:8> <x:r> <x:6> .",
    },
    rows: [
      "?o=<x:9> ?s=<x:1> ?t=<x:5> ?u=<x:7>",
      "?o=<x:9> ?s=<x:2> ?t=<x:5> ?u=<x:7>",
      "?o=<x:9> ?s=<x:2> ?t=<x:6> ?u=<x:8>",
    ],
  },
  {
    name: "UNDEF in VALUES that are joined with a SERVICE",
    query:
      "SELECT * { VALUES (?s ?t) { (<x:1> UNDEF) (UNDEF <x:6>) } SERVICE <A> { ?s <x:p> ?o } SERVICE <B> { ?s <x:q> ?t } }",
    data: {
      A: "<x:1> <x:p> <x:9> .\n<x:2> <x:p> <x:9> .",
      B: "<x:1> <x:q> <x:5> .\n<x:2> <x:q> <x:6> .\n<x:2> <x:q> <x:7> .",
    },
    rows: ["?o=<x:9> ?s=<x:1> ?t=<x:5>", "?o=<x:9> ?s=<x:2> ?t=<x:6>"],
  },
  {
    name: "LIMIT of a subquery counts before the join",
    query: "SELECT * { SERVICE <B> { ?s <x:q> ?t } { SELECT ?s { SERVICE <A> { ?s <x:p> ?o } } ORDER BY ?s LIMIT 1 } }",
    data: { A: "<x:1> <x:p> <x:9> .\n<x:2> <x:p> <x:9> .", B: "<x:2> <x:q> <x:5> ." },
    rows: [],
  },
  {
    name: "OFFSET of a subquery counts before the join",
    query:
      "SELECT * { SERVICE <B> { ?s <x:q> ?t } { SELECT ?s { SERVICE <A> { ?s <x:p> ?o } } ORDER BY ?s OFFSET 1 } }",
    data: { A: "<x:1> <x:p> <x:9> .\n<x:2> <x:p> <x:9> .", B: "<x:2> <x:q> <x:5> ." },
    rows: ["?s=<x:2> ?t=<x:5>"],
  },
  {
    name: "OFFSET of a subquery inside a SERVICE counts before the join",
    query:
      "SELECT * { SERVICE <B> { ?s <x:q> ?t } SERVICE <A> { { SELECT ?s { ?s <x:p> ?o } ORDER BY ?s OFFSET 1 } } }",
    data: { A: "<x:1> <x:p> <x:9> .\n<x:2> <x:p> <x:9> .", B: "<x:1> <x:q> <x:4> .\n<x:2> <x:q> <x:5> ." },
    rows: ["?s=<x:2> ?t=<x:5>"],
  },
  {
    name: "a subquery's hidden variable is another than the outer one of the same name",
    query: "SELECT * { SERVICE <B> { ?u <x:q> ?o } { SELECT ?s { SERVICE <A> { ?s <x:p> ?o } } } }",
    data: { A: "<x:1> <x:p> <x:9> .", B: "<x:2> <x:q> <x:5> ." },
    rows: ["?o=<x:5> ?s=<x:1> ?u=<x:2>"],
  },
  {
    name: "an outer FILTER does not see a subquery's hidden variable",
    query:
      "SELECT ?n { VALUES ?o { UNDEF } { SELECT (COUNT(*) AS ?n) { SERVICE <A> { <x:1> <x:p> ?o } } GROUP BY ?o } FILTER (?o = <x:9>) OPTIONAL { SERVICE <B> { ?a <x:q> ?b } } }",
    data: { A: "<x:1> <x:p> <x:9> .", B: "<x:2> <x:q> <x:5> ." },
    rows: [],
  },
  {
    name: "MINUS without a shared variable removes nothing",
    query: "SELECT * { SERVICE <A> { ?s <x:p> ?o } MINUS { SERVICE <B> { ?t <x:q> ?u } } }",
    data: { A: "<x:1> <x:p> <x:9> .", B: "<x:2> <x:q> <x:5> ." },
    rows: ["?o=<x:9> ?s=<x:1>"],
  },
  {
    name: "FILTER of an OPTIONAL sees both sides",
    query: "SELECT ?s ?t { SERVICE <A> { ?s <x:p> ?n } OPTIONAL { SERVICE <B> { ?s <x:q> ?t } FILTER (?t > ?n) } }",
    data: {
      A: `<x:1> <x:p> ${integer(3)} .\n<x:2> <x:p> ${integer(3)} .`,
      B: `<x:1> <x:q> ${integer(4)} .\n<x:2> <x:q> ${integer(2)} .`,
    },
    rows: ["?s=<x:1> ?t=4^^integer", "?s=<x:2>"],
  },
  {
    name: "OPTIONAL that holds another OPTIONAL and a FILTER",
    query:
      "SELECT * { SERVICE <A> { ?s <x:p> ?o } OPTIONAL { OPTIONAL { SERVICE <B> { ?s <x:q> ?t } } FILTER (BOUND(?t)) } }",
    data: { A: "<x:1> <x:p> <x:9> .\n<x:2> <x:p> <x:9> .", B: "<x:1> <x:q> <x:5> ." },
    rows: ["?o=<x:9> ?s=<x:1> ?t=<x:5>", "?o=<x:9> ?s=<x:2>"],
  },
  {
    name: "OPTIONAL that holds a BIND and a FILTER",
    query:
      'SELECT * { SERVICE <A> { ?s <x:p> ?o } OPTIONAL { SERVICE <B> { ?s <x:q> ?t } BIND (CONCAT(STR(?t), "!") AS ?u) FILTER (?u != "x:6!" && ?o = <x:9>) } }',
    data: { A: "<x:1> <x:p> <x:9> .\n<x:2> <x:p> <x:9> .", B: "<x:1> <x:q> <x:5> .\n<x:2> <x:q> <x:6> ." },
    rows: ['?o=<x:9> ?s=<x:1> ?t=<x:5> ?u="x:5!"', "?o=<x:9> ?s=<x:2>"],
  },
  {
    name: "MINUS over a variable that a failing BIND left unbound",
    query:
      "SELECT ?s ?w { SERVICE <A> { ?s <x:p> ?o } OPTIONAL { SERVICE <B> { ?s <x:q> ?t } } BIND (STR(?t) AS ?w) MINUS { SERVICE <C> { ?u <x:r> ?w } } }",
    data: {
      A: "<x:1> <x:p> <x:9> .\n<x:2> <x:p> <x:9> .\n<x:3> <x:p> <x:9> .",
      B: "<x:1> <x:q> <x:5> .\n<x:3> <x:q> <x:6> .",
      C: '<x:7> <x:r> "x:5" .',
    },
    rows: ["?s=<x:2>", '?s=<x:3> ?w="x:6"'],
  },
  {
    name: "NOT EXISTS around a SERVICE",
    query: "SELECT ?s { SERVICE <A> { ?s <x:p> ?o } FILTER NOT EXISTS { SERVICE <B> { ?s <x:q> ?t } } }",
    data: { A: "<x:1> <x:p> <x:9> .\n<x:2> <x:p> <x:9> .", B: "<x:2> <x:q> <x:5> ." },
    rows: ["?s=<x:1>"],
  },
  {
    name: "a FILTER of a SERVICE inside EXISTS sees a variable of outside",
    query:
      "SELECT ?s { SERVICE <A> { ?s <x:n> ?n } FILTER NOT EXISTS { SERVICE <B> { ?s <x:q> ?t FILTER(?t > ?n) } } }",
    data: {
      A: `<x:1> <x:n> ${integer(5)} .\n<x:2> <x:n> ${integer(5)} .`,
      B: `<x:1> <x:q> ${integer(9)} .\n<x:2> <x:q> ${integer(1)} .`,
    },
    rows: ["?s=<x:2>"],
  },
  {
    name: "an aggregate over a join keeps duplicates",
    query: "SELECT (SUM(?n) AS ?sum) (COUNT(*) AS ?rows) { SERVICE <A> { ?s <x:p> ?n } SERVICE <B> { ?s <x:q> ?t } }",
    data: { A: `<x:1> <x:p> ${integer(3)} .`, B: "<x:1> <x:q> <x:5> .\n<x:1> <x:q> <x:6> ." },
    rows: ["?rows=2^^integer ?sum=6^^integer"],
  },
  {
    name: "an aggregate over an empty join has one row",
    query: "SELECT (COUNT(*) AS ?rows) { SERVICE <A> { ?s <x:p> ?n } SERVICE <B> { ?s <x:q> ?t } }",
    data: { A: `<x:1> <x:p> ${integer(3)} .`, B: "<x:2> <x:q> <x:5> ." },
    rows: ["?rows=0^^integer"],
  },
  {
    name: "equal rows of two branches of a UNION stay two",
    query: "SELECT ?s { { SERVICE <A> { ?s <x:p> ?o } } UNION { SERVICE <B> { ?s <x:p> ?o } } }",
    data: { A: "<x:1> <x:p> <x:9> .", B: "<x:1> <x:p> <x:9> ." },
    rows: ["?s=<x:1>", "?s=<x:1>"],
  },
  {
    name: "GROUP BY tells apart which of two keys is unbound",
    query:
      "SELECT (COUNT(*) AS ?n) { { SERVICE <A> { ?s <x:p> ?o } } UNION { SERVICE <B> { ?s <x:p> ?t } } } GROUP BY ?o ?t",
    data: { A: "<x:1> <x:p> <x:9> .", B: "<x:1> <x:p> <x:9> ." },
    rows: ["?n=1^^integer", "?n=1^^integer"],
  },
  {
    name: "duplicate rows of a SERVICE stay duplicates in a join with distinct keys",
    query: "SELECT ?t { SERVICE <A> { ?s <x:p> ?o } SERVICE <B> { ?s <x:q> ?t } }",
    data: { A: "<x:1> <x:p> <x:8> .\n<x:1> <x:p> <x:9> .", B: "<x:1> <x:q> <x:5> ." },
    rows: ["?t=<x:5>", "?t=<x:5>"],
  },
  {
    name: "a clause none of whose variables is needed",
    query: "SELECT ?t { SERVICE <A> { ?s <x:p> ?o } SERVICE <B> { ?t <x:q> ?u } }",
    data: { A: "<x:1> <x:p> <x:8> .\n<x:1> <x:p> <x:9> .", B: "<x:2> <x:q> <x:5> ." },
    rows: ["?t=<x:2>", "?t=<x:2>"],
  },
];
