/** A call with a mistake of a small model, and the query whose rows it was meant to show. */
export interface WeakCall {
  readonly kind: string;
  readonly tool: string;
  readonly given: unknown;
  /** Key of `golds`. */
  readonly gold: string;
}

const prologue = `PREFIX dbo: <http://dbpedia.org/ontology/>
PREFIX dcterms: <http://purl.org/dc/terms/>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX schema: <https://schema.org/>
PREFIX sosa: <http://www.w3.org/ns/sosa/>
`;

const bare = {
  icelanders: '?p a foaf:Person ; schema:nationality "IS" ; foaf:name ?name',
  persons: "?p a foaf:Person ; foaf:name ?name",
  painters: '?p a foaf:Person ; schema:hasOccupation "painter"@en ; foaf:name ?name',
  museums: "?m a schema:Museum ; schema:name ?name",
  swedish: '?a a schema:PostalAddress ; schema:addressCountry "SE" ; schema:addressLocality ?town',
  books: '?b a schema:Book ; schema:inLanguage "is" ; dcterms:title ?title',
  sensors: "?s a sosa:Platform ; rdfs:label ?label",
  large: "?c a schema:City ; dbo:populationTotal ?n FILTER(?n > 380000)",
  codes: "?c a schema:Country ; dcterms:identifier ?code",
} as const;

const at: Readonly<Record<keyof typeof bare, string>> = {
  icelanders: "people",
  persons: "people",
  painters: "people",
  museums: "museums",
  swedish: "museums",
  books: "library",
  sensors: "weather",
  large: "places",
  codes: "places",
};

const shown: Readonly<Record<keyof typeof bare, string>> = {
  icelanders: "?name",
  persons: "?name",
  painters: "?name",
  museums: "?name",
  swedish: "?town",
  books: "?title",
  sensors: "?label",
  large: "?c ?n",
  codes: "?code",
};

type Key = keyof typeof bare;

const keys = Object.keys(bare) as readonly Key[];
const queryOf = (key: Key, columns = shown[key]): string => `SELECT ${columns} WHERE { ${bare[key]} }`;
const whole = (key: Key): string => prologue + queryOf(key);

/** Right queries with their endpoints. */
export const golds: Readonly<Record<string, { readonly query: string; readonly endpoint: string }>> =
  Object.fromEntries([
    ...keys.map((key) => [key, { query: whole(key), endpoint: at[key] }]),
    ...keys.map((key) => [
      `number of ${key}`,
      {
        query: `${prologue}${queryOf(key, "(COUNT(*) AS ?number)")}`,
        endpoint: at[key],
      },
    ]),
  ]);

type Row = readonly [kind: string, gold: string, given: unknown, tool?: string];

const called = (rows: readonly Row[]): readonly WeakCall[] =>
  rows.map(([kind, gold, given, tool = "run_query"]) => ({
    kind,
    gold,
    given,
    tool,
  }));

const json = JSON.stringify;

/** Calls on which replies were tuned. */
export const tunedOn: readonly WeakCall[] = called([
  ["argument", "icelanders", { sparql: whole("icelanders") }],
  ["argument", "museums", { query_string: whole("museums"), endpoint: "museums" }],
  ["argument", "books", { q: whole("books") }],
  ["argument", "codes", { sparql_query: whole("codes"), endpoint_id: "places" }],
  ["argument", "sensors", { query: whole("sensors"), dataset: "weather" }],
  ["argument", "large", { query: whole("large"), limit: 500, endpoint_url: "places" }],
  [
    "argument",
    "painters",
    {
      arguments: {
        query: whole("painters"),
        endpoint: "people",
        max_rows: 500,
      },
    },
  ],
  ["argument", "icelanders", { text: whole("icelanders"), endpoint: null }],
  ["call in query", "icelanders", { query: json({ query: whole("icelanders") }) }],
  ["call in query", "codes", { query: json({ query: whole("codes"), endpoint: "places" }) }],
  [
    "call in query",
    "museums",
    {
      query: json({
        name: "run_query",
        arguments: { query: whole("museums") },
      }),
    },
  ],
  ["call in query", "sensors", { query: `run_query(query="${queryOf("sensors")}", endpoint="weather")` }],
  ["call in query", "books", { query: json(whole("books")) }],
  ["SQL", "persons", { query: "SELECT name FROM person", max_rows: 500 }],
  ["SQL", "icelanders", { query: "SELECT name FROM person WHERE nationality = 'IS'" }],
  ["SQL", "museums", { query: "SELECT name FROM museum;", endpoint: "museums" }],
  ["SQL", "number of persons", { query: "SELECT COUNT(*) FROM Person", endpoint: "people" }],
  [
    "SQL",
    "swedish",
    {
      query: "SELECT addressLocality FROM PostalAddress WHERE addressCountry = 'SE'",
    },
  ],
  ["SQL", "codes", { query: "SELECT c.identifier FROM country c" }],
  ["place", "icelanders", { query: queryOf("icelanders").replace("WHERE", "FROM <examples> WHERE") }],
  ["place", "icelanders", { query: queryOf("icelanders").replace("WHERE", "FROM <people/> WHERE") }],
  [
    "place",
    "sensors",
    {
      query: queryOf("sensors").replace("WHERE", "FROM NAMED <weather> WHERE"),
    },
  ],
  ["place", "codes", { query: queryOf("codes"), endpoint: "Places" }],
  ["place", "codes", { query: queryOf("codes"), endpoint: "place" }],
  ["place", "museums", { query: `SELECT ?name { SERVICE <museum> { ${bare.museums} } }` }],
  ["place", "books", { query: queryOf("books").replace("WHERE", "FROM library WHERE") }],
  ["quote", "icelanders", { query: queryOf("icelanders").replace('"IS"', "IS") }],
  ["quote", "icelanders", { query: queryOf("icelanders").replace('"IS"', '"IS') }],
  [
    "quote",
    "painters",
    {
      query: queryOf("painters").replace('"painter"@en', "painter"),
      max_rows: 500,
    },
  ],
  [
    "quote",
    "painters",
    {
      query: queryOf("painters").replace('"painter"@en', "painter@en"),
      max_rows: 500,
    },
  ],
  ["quote", "swedish", { query: queryOf("swedish").replace('"SE"', 'SE"') }],
  [
    "quote",
    "books",
    {
      query: queryOf("books").replace('schema:inLanguage "is"', "schema:inLanguage ?l FILTER(?l = is)"),
    },
  ],
  [
    "name",
    "persons",
    {
      query: "SELECT ?name WHERE { ?p a Person ; foaf:name ?name }",
      max_rows: 500,
    },
  ],
  [
    "name",
    "persons",
    {
      query: "SELECT ?name WHERE { ?p a :Person ; :hasName ?name }",
      endpoint: "people",
      max_rows: 500,
    },
  ],
  ["name", "museums", { query: "SELECT ?name WHERE { ?m a :Museum . ?m :name ?name }" }],
  [
    "name",
    "codes",
    {
      query: "SELECT ?code WHERE { ?c a Country . ?c identifier ?code }",
      endpoint: "places",
    },
  ],
  [
    "name",
    "icelanders",
    {
      query: "SELECT ?name WHERE { ?p :hasNationality 'IS' ; foaf:name ?name }",
      endpoint: "people",
    },
  ],
  [
    "name",
    "sensors",
    {
      query: "SELECT ?label WHERE { ?s rdf:type Platform . ?s rdfs:label ?label }",
      endpoint: "weather",
    },
  ],
  [
    "name",
    "books",
    {
      query: "SELECT ?title WHERE { ?b a <Book> ; <inLanguage> 'is' ; <title> ?title }",
      endpoint: "library",
    },
  ],
  ["entity", "large", { query: whole("large").replace(" > ", " &gt; ") }],
  [
    "entity",
    "icelanders",
    {
      query: whole("icelanders").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
    },
  ],
  ["entity", "icelanders", { query: whole("icelanders").replaceAll('"', "&quot;") }],
  [
    "entity",
    "codes",
    {
      query: whole("codes").replaceAll("<http", "<http").replaceAll("/>", "/&gt;"),
    },
  ],
  ["entity", "swedish", { query: queryOf("swedish").replaceAll('"', "&#34;"), endpoint: "museums" }],
  ["text", "icelanders", { query: queryOf("icelanders").replaceAll("; ", "; \\n") }],
  [
    "text",
    "codes",
    {
      query: `Here is the query:\n${queryOf("codes")}\nIt lists all codes of countries.`,
    },
  ],
  ["text", "sensors", { query: queryOf("sensors").replace(" }", "") }],
  ["tool", "icelanders", { query: whole("icelanders") }, "run_sparql"],
  ["tool", "museums", { query: whole("museums") }, "query"],
  ["tool", "codes", { sparql: whole("codes") }, "execute_sparql_query"],
]);

/** Calls that were not looked at before all was tuned. */
export const unseen: readonly WeakCall[] = called([
  ["argument", "museums", { sparqlQuery: whole("museums") }],
  ["argument", "codes", { statement: whole("codes"), endpoint: "places" }],
  ["argument", "icelanders", { input: { query: whole("icelanders"), endpoint: "people" } }],
  ["argument", "books", { query: whole("books"), source: "library" }],
  ["argument", "painters", { query: whole("painters"), row_limit: "500", target: "people" }],
  ["argument", "sensors", { parameters: json({ query: whole("sensors") }) }],
  ["argument", "swedish", { code: whole("swedish"), federation: "examples" }],
  ["argument", "large", { queries: [whole("large")], endpoints: ["places"] }],
  ["call in query", "museums", { query: json({ sparql: whole("museums") }) }],
  [
    "call in query",
    "books",
    {
      query: json({
        tool: "run_query",
        args: { query: whole("books"), endpoint: "library" },
      }),
    },
  ],
  ["call in query", "icelanders", { query: `\`\`\`json\n${json({ query: whole("icelanders") })}\n\`\`\`` }],
  ["call in query", "large", { query: `{"query": "${queryOf("large")}"` }],
  ["call in query", "codes", { query: `query=${queryOf("codes")}`, endpoint: "places" }],
  ["SQL", "number of museums", { query: "SELECT COUNT(*) AS number FROM museum" }],
  [
    "SQL",
    "books",
    {
      query: 'SELECT title FROM Book WHERE inLanguage = "is"',
      endpoint: "library",
    },
  ],
  ["SQL", "museums", { query: "SELECT m.name FROM museum AS m", endpoint: "museums" }],
  [
    "SQL",
    "painters",
    {
      query: "SELECT name FROM people WHERE hasOccupation = 'painter'",
      max_rows: 500,
    },
  ],
  ["SQL", "sensors", { query: "select label from platform", endpoint: "weather" }],
  [
    "SQL",
    "icelanders",
    {
      query: "SELECT name FROM Person WHERE nationality LIKE 'IS'",
      endpoint: "people",
    },
  ],
  ["place", "museums", { query: queryOf("museums").replace("WHERE", "FROM <museums> WHERE") }],
  ["place", "books", { query: queryOf("books").replace("WHERE", "FROM <librery> WHERE") }],
  ["place", "icelanders", { query: queryOf("icelanders"), endpoint: "people endpoint" }],
  ["place", "icelanders", { query: queryOf("icelanders"), endpoint: "http://localhost/people" }],
  ["place", "sensors", { query: `SELECT ?label { SERVICE weather { ${bare.sensors} } }` }],
  [
    "place",
    "sensors",
    {
      query: `BASE <http://x.example/> SELECT ?label { SERVICE <weather> { ${bare.sensors} } }`,
    },
  ],
  ["place", "codes", { query: `SELECT ?code { GRAPH <places> { ${bare.codes} } }` }],
  ["quote", "swedish", { query: queryOf("swedish").replace('"SE"', "SE") }],
  ["quote", "books", { query: queryOf("books").replace('"is"', "'is") }],
  ["quote", "books", { query: queryOf("books").replace('"is"', "is") }],
  [
    "quote",
    "painters",
    {
      query: queryOf("painters").replace('"painter"@en', '"painter@en'),
      max_rows: 500,
    },
  ],
  [
    "quote",
    "icelanders",
    {
      query: queryOf("icelanders")
        .replace('schema:nationality "IS"', "schema:nationality ?n")
        .replace(" }", " FILTER(?n = IS) }"),
    },
  ],
  [
    "quote",
    "icelanders",
    {
      query: queryOf("icelanders").replace('"IS"', "`IS`"),
      endpoint: "people",
    },
  ],
  [
    "name",
    "museums",
    {
      query: "SELECT ?name WHERE { ?m a Museum ; name ?name }",
      endpoint: "museums",
    },
  ],
  [
    "name",
    "icelanders",
    {
      query: 'SELECT ?name WHERE { ?p :nationality "IS" ; :name ?name }',
      endpoint: "people",
    },
  ],
  ["name", "sensors", { query: "SELECT ?label WHERE { ?s a sosa:platform ; rdfs:label ?label }" }],
  [
    "name",
    "codes",
    {
      query: "SELECT ?code WHERE { ?c a schema:country ; dcterms:hasIdentifier ?code }",
      endpoint: "places",
    },
  ],
  [
    "name",
    "books",
    {
      query: "SELECT ?title WHERE { ?b a ex:Book ; ex:inLanguage 'is' ; ex:title ?title }",
      endpoint: "library",
    },
  ],
  [
    "name",
    "swedish",
    {
      query: 'SELECT ?town WHERE { ?a a "PostalAddress" ; schema:addressCountry "SE" ; schema:addressLocality ?town }',
    },
  ],
  [
    "name",
    "persons",
    {
      query: "SELECT ?name WHERE { ?p is_a foaf:person . ?p foaf:name ?name }",
      max_rows: 500,
    },
  ],
  [
    "entity",
    "museums",
    {
      query: whole("museums").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
      endpoint: "museums",
    },
  ],
  ["entity", "books", { query: whole("books").replaceAll('"', "&#x22;") }],
  ["entity", "icelanders", { query: whole("icelanders").replaceAll('"', "&apos;") }],
  [
    "entity",
    "large",
    {
      query: whole("large").replace("380000)", "380000 &amp;&amp; ?n &gt; 1)"),
    },
  ],
  ["entity", "sensors", { query: queryOf("sensors").replaceAll(" ; ", "&nbsp;;&nbsp;") }],
  ["text", "museums", { query: `sparql\n${whole("museums")}` }],
  ["text", "books", { query: queryOf("books").replaceAll('"', String.raw`\"`) }],
  ["text", "large", { query: `${queryOf("large")};` }],
  ["tool", "codes", { query: whole("codes"), endpoint: "places" }, "sparql"],
  ["tool", "swedish", { query: whole("swedish") }, "runQuery"],
  ["tool", "sensors", { query: whole("sensors") }, "functions.run_query"],
]);
