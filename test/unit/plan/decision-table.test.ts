import { describe } from "vitest";
import { shouldPlan, shouldReject } from "./plan-cases.ts";

describe("one SERVICE: the wrapper is removed and everything around it moves along", () => {
  shouldPlan("SELECT * WHERE { SERVICE <a> { ?s ?p ?o } }", "a: SELECT * WHERE { ?s ?p ?o }");
  shouldPlan("SELECT * { SERVICE <a> { ?s ?p ?o } }", "a: SELECT * { ?s ?p ?o }");
  shouldPlan("ASK { SERVICE <a> { ?s ?p ?o } }", "a: ASK { ?s ?p ?o }");
  shouldPlan(
    "CONSTRUCT { ?s ?p _:b } WHERE { SERVICE <a> { ?s ?p ?o } }",
    "a: CONSTRUCT { ?s ?p _:b } WHERE { ?s ?p ?o }",
  );
  shouldPlan("DESCRIBE ?s WHERE { SERVICE <a> { ?s ?p 1 } }", "a: DESCRIBE ?s WHERE { ?s ?p 1 }");
  shouldPlan("DESCRIBE <urn:x> { SERVICE <a> { ?s ?p 1 } }", "a: DESCRIBE <urn:x> { ?s ?p 1 }");
  shouldPlan("DESCRIBE * { SERVICE <a> { ?s ?p 1 } }", "a: DESCRIBE * { ?s ?p 1 }");
  shouldPlan("SELECT * { SERVICE <a> { ?s ?p ?o } FILTER(?o > 1) }", "a: SELECT * { { ?s ?p ?o } FILTER(?o > 1) }");
  shouldPlan(
    "SELECT * { VALUES ?s { <urn:x> } SERVICE <a> { ?s ?p ?o } }",
    "a: SELECT * { VALUES ?s { <urn:x> } { ?s ?p ?o } }",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o } BIND(?o + 1 AS ?n) }",
    "a: SELECT * { { ?s ?p ?o } BIND(?o + 1 AS ?n) }",
  );
  shouldPlan(
    "SELECT * { BIND(1 AS ?n) SERVICE <a> { ?s ?p ?o . BIND(?n AS ?m) FILTER(?n > 1) } }",
    "a: SELECT * { BIND(1 AS ?n) { ?s ?p ?o . BIND(?n AS ?m) FILTER(?n > 1) } }",
  );
  shouldPlan(
    "SELECT * { VALUES ?s { 1 } OPTIONAL { SERVICE <a> { ?s ?p ?o FILTER(?o > ?s) } } }",
    "a: SELECT * { VALUES ?s { 1 } OPTIONAL { { ?s ?p ?o FILTER(?o > ?s) } } }",
  );
  shouldPlan(
    "SELECT * { VALUES ?n { 1 } OPTIONAL { SERVICE <a> { ?s ?p ?o FILTER(?o > ?n) } } }",
    "a: SELECT * { VALUES ?n { 1 } OPTIONAL { { SELECT * { ?s ?p ?o FILTER(?o > ?n) } } } }",
  );
  shouldPlan(
    "SELECT * { VALUES ?n { 1 } OPTIONAL { { SERVICE <a> { ?s ?p ?o FILTER(?o > ?n) } } FILTER(?n > 0) } }",
    "a: SELECT * { VALUES ?n { 1 } OPTIONAL { { { SELECT * { ?s ?p ?o FILTER(?o > ?n) } } } FILTER(?n > 0) } }",
  );
});

describe("one SERVICE, wherever it stands", () => {
  shouldPlan(
    "SELECT * { { SERVICE <a> { ?s ?p ?o } } UNION { BIND(1 AS ?o) } }",
    "a: SELECT * { { { ?s ?p ?o } } UNION { BIND(1 AS ?o) } }",
  );
  shouldPlan(
    "SELECT * { VALUES ?s { 1 2 } MINUS { SERVICE <a> { ?s ?p ?o } } }",
    "a: SELECT * { VALUES ?s { 1 2 } MINUS { { ?s ?p ?o } } }",
  );
  shouldPlan(
    "SELECT * { VALUES ?s { 1 2 } FILTER EXISTS { SERVICE <a> { ?s ?p ?o } } }",
    "a: SELECT * { VALUES ?s { 1 2 } FILTER EXISTS { { ?s ?p ?o } } }",
  );
  shouldPlan(
    "SELECT * { VALUES ?s { 1 2 } FILTER NOT EXISTS { SERVICE <a> { ?s ?p ?o } } }",
    "a: SELECT * { VALUES ?s { 1 2 } FILTER NOT EXISTS { { ?s ?p ?o } } }",
  );
  shouldPlan(
    "SELECT * { VALUES ?s { 1 } BIND(EXISTS { SERVICE <a> { ?s ?p ?o } } AS ?e) }",
    "a: SELECT * { VALUES ?s { 1 } BIND(EXISTS { { ?s ?p ?o } } AS ?e) }",
  );
  shouldPlan(
    "SELECT (EXISTS { SERVICE <a> { ?s ?p ?o } } AS ?e) { VALUES ?s { 1 } }",
    "a: SELECT (EXISTS { { ?s ?p ?o } } AS ?e) { VALUES ?s { 1 } }",
  );
  shouldPlan(
    "SELECT ?s { { SELECT ?s { SERVICE <a> { ?s ?p ?o } } LIMIT 3 } }",
    "a: SELECT ?s { { SELECT ?s { ?s ?p ?o } LIMIT 3 } }",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { SELECT ?s (COUNT(?o) AS ?c) { ?s ?p ?o } GROUP BY ?s } }",
    "a: SELECT * { SELECT ?s (COUNT(?o) AS ?c) { ?s ?p ?o } GROUP BY ?s }",
  );
  shouldPlan("SELECT * { { SERVICE <a> { ?s ?p ?o } } }", "a: SELECT * { { { ?s ?p ?o } } }");
  shouldPlan(
    "SELECT ?s (COUNT(*) AS ?n) { SERVICE <a> { ?s ?p ?o } } GROUP BY ?s HAVING(COUNT(*) > 1) ORDER BY ?n LIMIT 2 OFFSET 1",
    "a: SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s HAVING(COUNT(*) > 1) ORDER BY ?n LIMIT 2 OFFSET 1",
  );
  shouldPlan("SELECT DISTINCT ?s { SERVICE <a> { ?s ?p ?o } }", "a: SELECT DISTINCT ?s { ?s ?p ?o }");
  shouldPlan(
    "SELECT (MAX(?o) AS ?m) (MIN(?o) AS ?n) { SERVICE <a> { ?s ?p ?o } } HAVING (MAX(?o) > 1) (MIN(?o) < 5)",
    "a: SELECT (MAX(?o) AS ?m) (MIN(?o) AS ?n) { ?s ?p ?o } HAVING (MAX(?o) > 1) (MIN(?o) < 5)",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o } } VALUES ?s { <urn:x> }",
    "a: SELECT * { ?s ?p ?o } VALUES ?s { <urn:x> }",
  );
  shouldPlan(
    "SELECT (NOW() AS ?t) (RAND() AS ?r) (UUID() AS ?u) (BNODE() AS ?b) { SERVICE <a> { ?s ?p ?o } }",
    "a: SELECT (NOW() AS ?t) (RAND() AS ?r) (UUID() AS ?u) (BNODE() AS ?b) { ?s ?p ?o }",
  );
  shouldPlan("SELECT * { SERVICE <a> { ?x <urn:p>* ?y } }", "a: SELECT * { ?x <urn:p>* ?y }");
  shouldPlan("SELECT * { SERVICE <a> { GRAPH ?g { ?s ?p ?o } } }", "a: SELECT * { GRAPH ?g { ?s ?p ?o } }");
  shouldPlan("SELECT * { SERVICE <a> { _:x ?p [ ?q _:x ] } }", "a: SELECT * { _:x ?p [ ?q _:x ] }");
  shouldPlan(
    "SELECT * { SERVICE <http://fedway.example/endpoints/a/sparql> { ?s ?p ?o } }",
    "a: SELECT * { ?s ?p ?o }",
  );
});

describe("prefixes, BASE, comments and strings are the user's own", () => {
  shouldPlan(
    "PREFIX e: <http://a.example/> SELECT * { SERVICE e:sparql { ?s e:p\\-q ?o } }",
    "a: PREFIX e: <http://a.example/> SELECT * { ?s e:p\\-q ?o }",
  );
  shouldPlan(
    "BASE <http://a.example/x/> SELECT * { SERVICE <../sparql> { ?s <p> ?o } }",
    "a: BASE <http://a.example/x/> SELECT * { ?s <p> ?o }",
  );
  shouldPlan(
    "select * where { service silent # <b> {\n <a> { ?s ?p 'SERVICE <b> { # }' } }",
    "a silent: select * where { ?s ?p 'SERVICE <b> { # }' }",
  );
  shouldPlan("PREFIX : <urn:> SELECT*{SERVICE<a>{:s :p?o}}", "a: PREFIX : <urn:> SELECT*{:s :p?o}");
});

describe("dots and comments around a clause", () => {
  shouldPlan("SELECT * { SERVICE <a> { ?s ?p ?o . } . }", "a: SELECT * { { ?s ?p ?o . } . }");
  shouldPlan("SELECT * { SERVICE <a> { SELECT ?s { ?s ?p ?o } } . }", "a: SELECT * { { SELECT ?s { ?s ?p ?o } } . }");
  shouldPlan(
    "SELECT * { ?x ?y ?z . SERVICE <a> { ?s ?p ?o . } . ?s ?q ?r . }",
    "a: SELECT * { ?x ?y ?z . { ?s ?p ?o . } . ?s ?q ?r . } [PATTERN_SENT_ON]",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> # one\n { ?s ?p ?o # two\n } # three\n }",
    "a: SELECT * { ?s ?p ?o # two # three }",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o . } . SERVICE <a> { ?o ?q ?r . # end\n } . SERVICE <b> { ?r ?y ?z . } . }",
    "fed a+b: SELECT * { SERVICE <a> { ?s ?p ?o . ?o ?q ?r . } . SERVICE <b> { ?r ?y ?z . } . } [WRAPPERS_MERGED]",
  );
  shouldPlan("SELECT * { SERVICE <a> { } }", "a: SELECT * { }");
  shouldPlan(
    "SELECT * { SERVICE <a> { SERVICE <a> { ?s ?p ?o . } . } . }",
    "a: SELECT * { { { ?s ?p ?o . } . } . } [WRAPPERS_MERGED]",
  );
});

describe("several SERVICEs for one endpoint", () => {
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE <a> { ?o ?q ?r FILTER(?r > 1) } }",
    "a: SELECT * { { ?s ?p ?o } { ?o ?q ?r FILTER(?r > 1) } } [WRAPPERS_MERGED]",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE <http://fedway.example/endpoints/a/sparql> { ?o ?q ?r } }",
    "a: SELECT * { { ?s ?p ?o } { ?o ?q ?r } } [WRAPPERS_MERGED]",
  );
  shouldPlan(
    "SELECT * { { SERVICE <a> { ?s ?p ?o } } UNION { SERVICE <a> { ?o ?p ?s } } }",
    "a: SELECT * { { { ?s ?p ?o } } UNION { { ?o ?p ?s } } } [WRAPPERS_MERGED]",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o SERVICE <a> { ?o ?q ?r } } }",
    "a: SELECT * { ?s ?p ?o { ?o ?q ?r } } [WRAPPERS_MERGED]",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { GRAPH <urn:g> { ?s ?p ?o SERVICE <a> { ?o ?q ?r } } } }",
    "a: SELECT * { { { { GRAPH <urn:g> { ?s ?p ?o . } } { ?o ?q ?r } } } } [SERVICE_LIFTED WRAPPERS_MERGED]",
  );
});

describe("SILENT", () => {
  shouldPlan("SELECT * { SERVICE SILENT <a> { ?s ?p ?o } }", "a silent: SELECT * { ?s ?p ?o }");
  shouldPlan(
    "SELECT * { SERVICE SILENT <a> { ?s ?p ?o } SERVICE SILENT <a> { ?o ?q ?r } }",
    "a silent: SELECT * { { ?s ?p ?o } { ?o ?q ?r } } [WRAPPERS_MERGED]",
  );
  shouldPlan(
    "SELECT * { SERVICE SILENT <a> { ?s ?p ?o } SERVICE <a> { ?o ?q ?r } }",
    "a: SELECT * { { ?s ?p ?o } { ?o ?q ?r } } [WRAPPERS_MERGED]",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o SERVICE SILENT <a> { ?o ?q ?r } } }",
    "a: SELECT * { ?s ?p ?o { ?o ?q ?r } } [WRAPPERS_MERGED]",
  );
  shouldPlan(
    "SELECT * { SERVICE SILENT <a> { ?s ?p ?o SERVICE <a> { ?o ?q ?r } } }",
    "a silent: SELECT * { ?s ?p ?o { ?o ?q ?r } } [WRAPPERS_MERGED]",
  );
  shouldPlan(
    "SELECT * { ?x ?y ?z SERVICE SILENT <a> { ?s ?p ?o } }",
    "a: SELECT * { ?x ?y ?z { ?s ?p ?o } } [PATTERN_SENT_ON]",
  );
  shouldPlan(
    "SELECT * { SERVICE SILENT <a> { ?s ?p ?o } SERVICE SILENT <b> { ?o ?q ?r } }",
    "fed a~+b~: SELECT * { SERVICE SILENT <a> { ?s ?p ?o } SERVICE SILENT <b> { ?o ?q ?r } }",
  );
  shouldPlan(
    "SELECT * { SERVICE SILENT <a> { ?s ?p ?o } SERVICE <b> { ?o ?q ?r } }",
    "fed a~+b: SELECT * { SERVICE SILENT <a> { ?s ?p ?o } SERVICE <b> { ?o ?q ?r } }",
  );
  shouldReject("SELECT * { SERVICE SILENT <a> { ?s ?p ?o SERVICE <b> { ?o ?q ?r } } }", { code: "SERVICE_NESTED" });
});

describe("patterns outside of every SERVICE", () => {
  shouldPlan(
    "SELECT * { ?x ?y ?z . SERVICE <a> { ?s ?p ?o } }",
    "a: SELECT * { ?x ?y ?z . { ?s ?p ?o } } [PATTERN_SENT_ON]",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o } ?x <urn:p>* ?s }",
    "a: SELECT * { { ?s ?p ?o } ?x <urn:p>* ?s } [PATTERN_SENT_ON]",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o } GRAPH <urn:g> { ?s ?q ?r } }",
    "a: SELECT * { { ?s ?p ?o } GRAPH <urn:g> { ?s ?q ?r } } [PATTERN_SENT_ON]",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o } FILTER NOT EXISTS { ?o ?q ?r } }",
    "a: SELECT * { { ?s ?p ?o } FILTER NOT EXISTS { ?o ?q ?r } } [PATTERN_SENT_ON]",
  );
  const strict = { code: "PATTERN_OUTSIDE_SERVICE", strict: true } as const;
  shouldReject("SELECT * {\n  SERVICE <a> { ?s ?p ?o }\n  ?x ?y ?z }", { ...strict, at: "3:3" });
  shouldReject("SELECT * { SERVICE <a> { ?s ?p ?o } OPTIONAL { ?x ?y ?z } }", { ...strict, at: "1:70" });
  shouldReject("ASK { SERVICE <a> { ?s ?p ?o } FILTER EXISTS { ?o ?q ?r } }", { ...strict, at: "1:70" });
  shouldReject("ASK { SERVICE <a> { ?s ?p ?o } GRAPH ?g {} }", { ...strict, at: "1:54" });
  shouldPlan("SELECT * { SERVICE <a> { ?s ?p ?o } FILTER(?o > 1) }", "a: SELECT * { { ?s ?p ?o } FILTER(?o > 1) }", {
    strict: true,
  });
  shouldReject("SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE <b> { ?o ?q ?r } ?r ?y ?z }", {
    code: "PATTERN_OUTSIDE_SERVICE",
    at: "1:106",
  });
});

describe("no SERVICE on /sparql", () => {
  shouldPlan("ASK {}", "fed here: ASK {} [EVALUATED_HERE]");
  shouldPlan("SELECT * { VALUES ?x { 1 2 } }", "fed here: SELECT * { VALUES ?x { 1 2 } } [EVALUATED_HERE]");
  shouldPlan(
    "CONSTRUCT { <urn:a> <urn:b> ?x } { BIND(1 AS ?x) }",
    "fed here: CONSTRUCT { <urn:a> <urn:b> ?x } { BIND(1 AS ?x) } [EVALUATED_HERE]",
  );
  shouldReject("SELECT * {\n?s ?p ?o }", {
    code: "SERVICE_REQUIRED",
    at: "2:1",
    told: /SERVICE <a>.*a b wiki/,
  });
  shouldReject("ASK { <urn:x> <urn:p>* <urn:x> }", { code: "SERVICE_REQUIRED" });
  shouldReject("ASK { FILTER NOT EXISTS { ?s ?p ?o } }", { code: "SERVICE_REQUIRED", at: "1:27" });
  shouldReject("SELECT * { GRAPH ?g {} }", { code: "SERVICE_REQUIRED" });
  shouldReject("DESCRIBE <urn:x>", { code: "SERVICE_REQUIRED" });
  shouldReject("CONSTRUCT WHERE { ?s ?p ?o }", { code: "SERVICE_REQUIRED" });
});

describe("dataset clauses describe our dataset", () => {
  shouldPlan(
    "SELECT * FROM <urn:g> FROM NAMED <urn:h> { SERVICE <a> { ?s ?p ?o } }",
    "a: SELECT * { ?s ?p ?o } [DATASET_IGNORED]",
  );
  shouldPlan("ASK { SERVICE <a> { ?s ?p ?o } }", "a: ASK { ?s ?p ?o } [DATASET_IGNORED]", { defaultGraphs: ["urn:g"] });
  shouldPlan(
    "SELECT * FROM <urn:g> { SERVICE <a> { ?s ?p ?o } SERVICE <b> { ?o ?q ?r } }",
    "fed a+b: SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE <b> { ?o ?q ?r } } [DATASET_IGNORED]",
  );
  shouldPlan("ASK FROM <urn:g> {}", "fed here: ASK {} [DATASET_IGNORED EVALUATED_HERE]");
});

describe("SERVICE inside GRAPH gives nothing", () => {
  const nothing = "{ VALUES (?o ?p ?s) { (UNDEF UNDEF UNDEF) } FILTER(1 = 0) }";
  shouldPlan(
    "SELECT * { GRAPH <urn:g> { SERVICE <a> { ?s ?p ?o } } }",
    `fed here: SELECT * { ${nothing} } [GRAPH_EMPTY EVALUATED_HERE]`,
  );
  shouldPlan(
    "SELECT * { GRAPH ?o { ?s ?p ?o SERVICE <a> { ?s ?p ?o } } }",
    `fed here: SELECT * { ${nothing} } [GRAPH_EMPTY EVALUATED_HERE]`,
  );
  shouldPlan(
    "SELECT * { SERVICE <b> { ?x ?y ?z } OPTIONAL { GRAPH <urn:g> { SERVICE <a> { ?s ?p ?o } } } }",
    `b: SELECT * { { ?x ?y ?z } OPTIONAL { ${nothing} } } [GRAPH_EMPTY]`,
  );
  shouldReject("SELECT * { ?x ?y ?z GRAPH <urn:g> { SERVICE <a> { ?s ?p ?o } } }", { code: "PATTERN_OUTSIDE_SERVICE" });
  shouldReject("SELECT * { GRAPH <urn:g> { SERVICE <http://no.example/> { ?s ?p ?o } } }", {
    code: "SERVICE_TARGET_REFUSED",
  });
});
