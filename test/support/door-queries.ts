/** Queries of every kind for whoever decides which may run; `<plain>` and `<raw>` are endpoints of the catalogue. */
const valid: readonly string[] = [
  "SELECT * { SERVICE <plain> { ?s ?p ?o } }",
  "PREFIX x: <http://x/> SELECT ?s (COUNT(?o) AS ?n) { SERVICE <plain> { ?s x:p ?o FILTER(?o > 1) } } GROUP BY ?s",
  "ASK { { SERVICE <plain> { ?s <x:p> 'a'@en } } UNION { SERVICE <raw> { ?s <x:q> 1 } } }",
  "SELECT ?s { ?s a <x:C> ; <x:p>/<x:q>* ?o OPTIONAL { ?o <x:r> ?r } MINUS { ?s <x:t> 2 } } ORDER BY ?s LIMIT 3",
  "SELECT * { VALUES (?s ?g) { (<x:1> UNDEF) } ?s <x:p> ?g BIND(STR(?g) AS ?t) }",
  "CONSTRUCT { ?s <x:p> ?o } WHERE { SERVICE <plain> { ?s <x:p> ?o } }",
  "DESCRIBE <x:1>",
  "SELECT * { VALUES ?g { <plain> <raw> } SERVICE ?g { ?s ?p ?o } }",
];

/** Words of updates that mean nothing where they stand. */
const words = ["with", "insert", "delete", "INSERT { ?s ?p ?o }", "WITH <x:g> DELETE", "load <x:y>", "drop all"];
const places: readonly ((word: string) => string)[] = [
  (word) => `# ${word}\nSELECT * { SERVICE <plain> { ?s ?p ?o } }`,
  (word) => `SELECT * { # ${word} }\n SERVICE <plain> { ?s ?p ?o } }`,
  (word) => `SELECT * { SERVICE <plain> { ?s ?p "${word}" } }`,
  (word) => `SELECT * { SERVICE <plain> { ?s ?p '''\n${word}\n''' } }`,
  (word) => `SELECT * { SERVICE <plain> { ?s <http://x/${word.split(" ")[0]}> ?o } }`,
  (word) => `PREFIX ${word.split(" ")[0]}: <x:> SELECT * { SERVICE <plain> { ?s ${word.split(" ")[0]}:p ?o } }`,
  // Beside a fault.
  (word) => `# ${word}\nSELECT * { SERVICE <plain> { ?s my:p ?o } }`,
  (word) => `# ${word}\nSELECT * { SERVICE <plain> { ?s ?p } }`,
  (word) => `SELECT * { SERVICE <plain> { ?s my:p "${word}" } }`,
  (word) => `SELECT * { SERVICE <plain> { ?s ?p ?o ?x } } # ${word}`,
  (word) => `define sql:describe-mode "x" # ${word}\nSELECT * { ?s ?p ?o }`,
];

const dialects: readonly string[] = [
  "define input:default-graph-uri <x:g> SELECT * { ?s ?p ?o }",
  "define sql:signal-void-variables 0 SELECT * { ?s ?p ?o }",
  'define get:soft "replace" SELECT * { ?s ?p ?o }',
  "SELECT ?s count(?o) { ?s ?p ?o }",
  "SELECT ?s, ?o { ?s ?p ?o }",
  "SELECT * { ?s foaf:name ?o }",
  'SELECT * { ?s bif:contains "a" }',
  "SELECT * { ?s ?p ?o OPTION (TRANSITIVE, T_DISTINCT) }",
  "SELECT * { hint:Query hint:optimizer 'None' . ?s ?p ?o }",
  "SELECT * WITH { SELECT ?s { ?s ?p ?o } } AS %sub { INCLUDE %sub }",
  "SELECT * { ?s ?p ?o } LIMIT ?n",
  "SELECT * { SERVICE wikibase:label { ?s ?p ?o } }",
  "SELECT * { ?s ?p ?o . LET(?x := 1) }",
  "SELECT * { ?s ?p{1,3} ?o }",
  "SELECT (group_concat(distinct ?o, '|') AS ?all) { ?s ?p ?o }",
  "SELECT * { ?s ?p ?o } INSERT { ?s ?p 1 }",
  "SPARQL SELECT * { ?s ?p ?o }",
  "SELECT * { ?s ?p 'open }",
  "SELECT * { ?s ?p `x` }",
];

const newer: readonly string[] = [
  "SELECT * { <<( ?s ?p ?o )>> ?q ?r }",
  "SELECT * { ?s ?p ?o {| <x:q> 1 |} }",
  "SELECT * { ?s ?p ?o ~ ?r }",
  "SELECT * { << ?s ?p ?o >> <x:q> ?r }",
  'VERSION "1.2" SELECT * { ?s ?p ?o }',
  'SELECT * { ?s ?p "a"@en--ltr }',
  "SELECT (TRIPLE(?s, ?p, ?o) AS ?t) { ?s ?p ?o }",
  "SELECT * { ?s ?p ?o FILTER(isTRIPLE(?o)) }",
  "SELECT * { SERVICE <plain> { <<( ?s ?p ?o )>> ?q ?r } }",
  "SELECT * { <<( ?s ?p )>> ?q ?r }",
  "INSERT DATA { <x:s> <x:p> <<( <x:a> <x:b> 1 )>> }",
  "SELECT * { <<( ?s ?p ?o )>> ?q ?r } # insert data with delete",
];

const updates: readonly string[] = [
  "INSERT DATA { <x:s> <x:p> 1 }",
  "DELETE WHERE { ?s ?p ?o }",
  "DELETE DATA { <x:s> <x:p> 1 }",
  "WITH <x:g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
  "PREFIX x: <x:> INSERT { ?s x:p 1 } WHERE { ?s ?p ?o }",
  "CLEAR ALL",
  "DROP SILENT GRAPH <x:g>",
  "LOAD <http://x/> INTO GRAPH <x:g>",
  "CREATE GRAPH <x:g>",
  "ADD <x:a> TO <x:b>",
  "# SELECT * {}\nDELETE WHERE { ?s ?p ?o }",
  "SELECT * {} ; DELETE WHERE { ?s ?p ?o }",
  "INSERT",
];

const broken: readonly string[] = [
  "# nothing",
  "SELEC * { ?s ?p ?o }",
  "With this one you get them all: SELECT * { SERVICE <plain> { ?s ?p ?o } }",
  "Load the names: SELECT * { SERVICE <plain> { ?s ?p ?o } }",
  "```sparql\nSELECT * { SERVICE <plain> { ?s ?p ?o } }\n```",
  "SELECT * { SERVICE plain { ?s ?p ?o } }",
  "SELECT * { SERVICE <plan> { ?s ?p ?o } }",
  "SELECT * { SERVICE <http://elsewhere.example/sparql> { ?s ?p ?o } }",
  "SELECT * { SERVICE ?g { ?s ?p ?o } }",
  "SELECT * { SERVICE <plain> { ?s ?p ?o } ?s <x:q> ?z SERVICE <raw> { ?s ?p ?o } }",
  "SELECT * FROM <x:g> { SERVICE <plain> { ?s ?p ?o } }",
  "DESCRIBE ?s { SERVICE <plain> { ?s ?p ?o } SERVICE <raw> { ?s ?p ?o } }",
  "SELECT * { BIND(<x:unknown>(1) AS ?x) }",
  `SELECT * { ${"{".repeat(80)} ?s ?p ?o ${"}".repeat(80)} }`,
];

/** Each query without one of its words or marks. */
const mutilated: readonly string[] = valid.flatMap((query) => {
  const pieces = query.split(" ");
  return pieces.map((_, at) => pieces.toSpliced(at, 1).join(" "));
});

/** Several hundred texts, each once. */
export const doorQueries: readonly string[] = [
  ...new Set([
    ...valid,
    ...places.flatMap((place) => words.map(place)),
    ...dialects,
    ...newer,
    ...updates,
    ...broken,
    ...mutilated,
  ]),
];
