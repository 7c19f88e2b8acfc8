import { describe } from "vitest";
import { shouldPlan, shouldReject } from "./plan-cases.ts";

describe("several endpoints", () => {
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE <b> { ?o ?q ?r } }",
    "fed a+b: SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE <b> { ?o ?q ?r } }",
  );
  shouldPlan(
    "ASK { SERVICE <a> { ?s ?p ?o } OPTIONAL { SERVICE <b> { ?o ?q ?r } } }",
    "fed a+b: ASK { SERVICE <a> { ?s ?p ?o } OPTIONAL { SERVICE <b> { ?o ?q ?r } } }",
  );
  shouldPlan(
    "CONSTRUCT { ?s ?p _:x } { { SERVICE <a> { ?s ?p ?o } } UNION { SERVICE <b> { ?s ?p ?o } } }",
    "fed a+b: CONSTRUCT { ?s ?p _:x } { { SERVICE <a> { ?s ?p ?o } } UNION { SERVICE <b> { ?s ?p ?o } } }",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o } MINUS { SERVICE <b> { ?s ?q ?r } } }",
    "fed a+b: SELECT * { SERVICE <a> { ?s ?p ?o } MINUS { SERVICE <b> { ?s ?q ?r } } }",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o } FILTER NOT EXISTS { SERVICE <b> { ?s ?q ?r } } }",
    "fed a+b: SELECT * { SERVICE <a> { ?s ?p ?o } FILTER NOT EXISTS { SERVICE <b> { ?s ?q ?r } } }",
  );
  shouldPlan(
    "SELECT * { { SELECT ?s { SERVICE <a> { ?s ?p ?o } } LIMIT 2 } SERVICE <b> { ?s ?q ?r } }",
    "fed a+b: SELECT * { { SELECT ?s { SERVICE <a> { ?s ?p ?o } } LIMIT 2 } SERVICE <b> { ?s ?q ?r } }",
  );
  shouldPlan(
    "PREFIX e: <http://a.example/> SELECT * { SERVICE e:sparql { ?s e:p ?o } SERVICE <http://fedway.example/endpoints/b/sparql> { ?o e:q ?r } }",
    "fed a+b: PREFIX e: <http://a.example/> SELECT * { SERVICE <a> { ?s e:p ?o } SERVICE <b> { ?o e:q ?r } }",
  );
  shouldReject("DESCRIBE ?s { SERVICE <a> { ?s ?p ?o } SERVICE <b> { ?s ?q ?r } }", {
    code: "SERVICE_REQUIRED",
    told: /CONSTRUCT/,
  });
});

describe("neighbours for one endpoint are merged, in their own scope", () => {
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE <a> { ?o ?q ?r . } SERVICE <b> { ?r ?y ?z } }",
    "fed a+b: SELECT * { SERVICE <a> { ?s ?p ?o . ?o ?q ?r . } SERVICE <b> { ?r ?y ?z } } [WRAPPERS_MERGED]",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o FILTER(?r > 1) } FILTER(?s > 1) SERVICE <a> { ?o ?q ?r } SERVICE <b> { ?r ?y ?z } }",
    "fed a+b: SELECT * { SERVICE <a> { { ?s ?p ?o FILTER(?r > 1) } ?o ?q ?r . } FILTER(?s > 1) SERVICE <b> { ?r ?y ?z } } [WRAPPERS_MERGED]",
  );
  shouldPlan(
    "SELECT * { SERVICE SILENT <a> { ?s ?p ?o } SERVICE SILENT <a> { ?o ?q ?r } SERVICE <b> { ?r ?y ?z } }",
    "fed a~+b: SELECT * { SERVICE SILENT <a> { ?s ?p ?o . ?o ?q ?r . } SERVICE <b> { ?r ?y ?z } } [WRAPPERS_MERGED]",
  );
  shouldPlan(
    "SELECT * { SERVICE SILENT <a> { ?s ?p ?o } SERVICE <a> { ?o ?q ?r } SERVICE <b> { ?r ?y ?z } }",
    "fed a*2+b: SELECT * { SERVICE SILENT <a> { ?s ?p ?o } SERVICE <a> { ?o ?q ?r } SERVICE <b> { ?r ?y ?z } }",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE <a> { ?x ?y ?z } SERVICE <b> { ?o ?q ?x } }",
    "fed a*2+b: SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE <a> { ?x ?y ?z } SERVICE <b> { ?o ?q ?x } }",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o } OPTIONAL { SERVICE <b> { ?o ?q ?r } } SERVICE <a> { ?o ?y ?z } }",
    "fed a*2+b: SELECT * { SERVICE <a> { ?s ?p ?o } OPTIONAL { SERVICE <b> { ?o ?q ?r } } SERVICE <a> { ?o ?y ?z } }",
  );
});

describe("SERVICE ?variable", () => {
  shouldPlan(
    "SELECT * { VALUES ?g { <a> <b> } SERVICE ?g { _:n ?p ?o } }",
    "fed a+b: SELECT * { VALUES ?g { <a> <b> } { VALUES ?g { <a> } SERVICE <a> { _:n ?p ?o } } UNION { VALUES ?g { <b> } SERVICE <b> { _:n_1 ?p ?o } } }",
  );
  shouldPlan(
    "SELECT * { SERVICE ?g { ?s ?p ?o } } VALUES (?x ?g) { (1 <a>) (2 <a>) }",
    "a: SELECT * { { VALUES ?g { <a> } { ?s ?p ?o } } } VALUES (?x ?g) { (1 <a>) (2 <a>) }",
  );
  shouldPlan(
    "SELECT * { BIND(<a> AS ?g) SERVICE SILENT ?g { ?s ?p ?o } }",
    "a silent: SELECT * { BIND(<a> AS ?g) { VALUES ?g { <a> } { ?s ?p ?o } } }",
  );
  shouldPlan(
    "SELECT * { VALUES ?g { <a> } MINUS { SERVICE ?g { ?s ?p ?o } } }",
    "a: SELECT * { VALUES ?g { <a> } MINUS { { VALUES ?g { <a> } { ?s ?p ?o } } } }",
  );
  shouldPlan(
    "SELECT * { VALUES ?g { <a> } { { SERVICE ?g { ?s ?p ?o } } UNION { BIND(1 AS ?s) } } }",
    "a: SELECT * { VALUES ?g { <a> } { { { VALUES ?g { <a> } { ?s ?p ?o } } } UNION { BIND(1 AS ?s) } } }",
  );
  shouldPlan(
    "SELECT * { VALUES ?g { } SERVICE ?g { ?s ?p ?o } }",
    "fed here: SELECT * { VALUES ?g { } { VALUES (?g ?o ?p ?s) { (UNDEF UNDEF UNDEF UNDEF) } FILTER(1 = 0) } } [EVALUATED_HERE]",
  );
  const unbound = { code: "SERVICE_VARIABLE_UNBOUND", told: /VALUES \?g/ } as const;
  shouldReject("SELECT * {\n SERVICE ?g { ?s ?p ?o } }", { ...unbound, at: "2:2" });
  shouldReject("SELECT * { VALUES ?g { <a> UNDEF } SERVICE ?g { ?s ?p ?o } }", unbound);
  const followed = [
    "SELECT * { SERVICE <a> { ?s ?p ?g } SERVICE ?g { ?s ?p ?o } }",
    "SELECT * { { SERVICE <a> { ?s ?p ?g } } UNION { SERVICE <a> { ?g ?p ?s } } FILTER(?s != 1) SERVICE ?g { ?s ?p ?o } }",
    "SELECT * { SERVICE <a> { ?s ?p ?g } OPTIONAL { SERVICE ?g { ?s ?q ?o } } }",
    "SELECT * { { SELECT ?g { SERVICE <a> { ?s ?p ?g } } LIMIT 3 } SERVICE ?g { ?s ?q ?o } }",
  ];
  for (const text of followed) shouldPlan(text, `fed a${text.includes("UNION") ? "*2" : ""}+?g: ${text}`);
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?g } SERVICE ?g { ?s ?q ?o } SERVICE ?g { ?o ?r ?x } }",
    "fed a+?g: SELECT * { SERVICE <a> { ?s ?p ?g } SERVICE ?g { ?s ?q ?o . ?o ?r ?x . } } [WRAPPERS_MERGED]",
  );
  shouldPlan(
    "SELECT * { ?s ?p ?g . SERVICE SILENT ?g { ?s ?q ?o } }",
    "fed a+?g~: SELECT * { SERVICE <a> { ?s ?p ?g . } SERVICE SILENT ?g { ?s ?q ?o } } [PATTERN_WRAPPED]",
    { endpointId: "a" },
  );
  shouldPlan(
    "SELECT ?s { GRAPH <urn:x> { SERVICE <a> { ?s ?p ?g } } SERVICE ?g { ?s ?q ?o } }",
    "fed ?g: SELECT ?s { { VALUES (?g ?p ?s) { (UNDEF UNDEF UNDEF) } FILTER(1 = 0) } SERVICE ?g { ?s ?q ?o } } [GRAPH_EMPTY]",
  );
  for (const text of [
    "SELECT * { SERVICE ?g { ?s ?p ?o } SERVICE <a> { ?s ?p ?g } }",
    "SELECT * { SERVICE SILENT <a> { ?s ?p ?g } SERVICE ?g { ?s ?p ?o } }",
    "SELECT * { SERVICE <a> { ?s ?p ?o } OPTIONAL { SERVICE <a> { ?s ?q ?g } } SERVICE ?g { ?s ?p ?o } }",
    "SELECT * { SERVICE <a> { ?s ?p ?g } FILTER EXISTS { SERVICE ?g { ?s ?q ?o } } }",
    "SELECT * { SERVICE <a> { ?s ?p ?g } MINUS { SERVICE ?g { ?s ?q ?o } } }",
    "SELECT * { SERVICE <a> { ?s ?p ?g } SERVICE ?g { ?s ?q ?o SERVICE <b> { ?o ?r ?x } } }",
    "SELECT * { SERVICE <a> { ?s ?p ?g SERVICE ?g { ?s ?q ?o } } }",
    "SELECT * { SERVICE <a> { ?s ?p ?x } BIND(IRI(?x) AS ?g) SERVICE ?g { ?s ?q ?o } }",
  ])
    shouldReject(text, unbound);
  shouldReject("SELECT * { OPTIONAL { SERVICE ?g { ?s ?p ?o } } VALUES ?g { <a> } }", unbound);
  shouldReject("SELECT * { { SELECT ?s { SERVICE ?g { ?s ?p ?o } } } VALUES ?g { <a> } }", unbound);
  shouldReject("SELECT * { VALUES ?g { 1 } SERVICE ?g { ?s ?p ?o } }", { code: "SERVICE_TARGET_REFUSED" });
  shouldReject("SELECT * { VALUES ?g { <a> <http://no.example/> } SERVICE ?g { ?s ?p ?o } }", {
    code: "SERVICE_TARGET_REFUSED",
  });
});

describe("SERVICE inside SERVICE", () => {
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o SERVICE <b> { ?o ?q ?r } } }",
    "fed a+b: SELECT * { { SERVICE <a> { ?s ?p ?o . } SERVICE <b> { ?o ?q ?r } } } [SERVICE_LIFTED]",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o FILTER(?r > ?o) SERVICE <b> { ?o ?q ?r } ?s ?x ?y OPTIONAL { ?y ?z ?r } } }",
    "fed a*3+b: SELECT * { { SERVICE <a> { ?s ?p ?o . } SERVICE <b> { ?o ?q ?r } SERVICE <a> { ?s ?x ?y . } OPTIONAL { SERVICE <a> { ?y ?z ?r . } } FILTER(?r > ?o) } } [SERVICE_LIFTED]",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { SELECT ?s { ?s ?p ?o SERVICE <b> { ?o ?q ?r } } LIMIT 1 } }",
    "fed a+b: SELECT * { { SELECT ?s { SERVICE <a> { ?s ?p ?o . } SERVICE <b> { ?o ?q ?r } } LIMIT 1 } } [SERVICE_LIFTED]",
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o SERVICE <b> { ?o ?q ?r SERVICE SILENT <wiki> { ?r ?x ?y } } } }",
    "fed a+b+wiki~: SELECT * { { SERVICE <a> { ?s ?p ?o . } { SERVICE <b> { ?o ?q ?r . } SERVICE SILENT <wiki> { ?r ?x ?y } } } } [SERVICE_LIFTED]",
  );
  shouldPlan(
    "SELECT * { SERVICE <wiki> { ?s ?p ?o SERVICE <label> { ?s ?p 'en' } } }",
    "wiki: SELECT * { ?s ?p ?o SERVICE <http://wikiba.se/ontology#label> { ?s ?p 'en' } }",
  );
  shouldPlan(
    "SELECT * { SERVICE <wiki> { ?s ?p ?o SERVICE <label> { ?s ?p 'en' } } SERVICE <a> { ?o ?q ?r } }",
    "fed wiki+a: SELECT * { SERVICE <wiki> { ?s ?p ?o SERVICE <http://wikiba.se/ontology#label> { ?s ?p 'en' } } SERVICE <a> { ?o ?q ?r } }",
  );
  shouldReject("SELECT * { SERVICE <a> { ?s ?p ?o SERVICE <label> { ?s ?p 'en' } } }", {
    code: "SERVICE_TARGET_REFUSED",
  });
  shouldReject("SELECT * { SERVICE <wiki> { ?s ?p ?o } SERVICE <label> { ?s ?p 'en' } }", {
    code: "SERVICE_TARGET_REFUSED",
  });
  shouldReject("SELECT * { SERVICE <a> { ?s ?p ?o SERVICE <http://no.example/> { ?o ?q ?r } } }", {
    code: "SERVICE_TARGET_REFUSED",
  });
  shouldPlan(
    "SELECT * { SERVICE <a> { GRAPH ?g { ?s ?p ?o OPTIONAL { SERVICE <b> { ?o ?q ?r } } } } }",
    "fed a+b: SELECT * { { { SERVICE <a> { GRAPH ?g { ?s ?p ?o . } } OPTIONAL { SERVICE <b> { ?o ?q ?r } } } } } [SERVICE_LIFTED]",
  );
  shouldReject("SELECT * { SERVICE <a> { GRAPH ?g { ?s ?p ?o MINUS { SERVICE <b> { ?o ?q ?r } } } } }", {
    code: "SERVICE_NESTED",
  });
  shouldReject("SELECT * { SERVICE <a> { GRAPH ?g { ?s ?p ?o FILTER(?g != ?o) SERVICE <b> { ?o ?q ?r } } } }", {
    code: "SERVICE_NESTED",
  });
});

describe("SERVICE targets", () => {
  const refused = { code: "SERVICE_TARGET_REFUSED" } as const;
  shouldReject("ASK {\n\n SERVICE <http://no.example/sparql> {} }", { ...refused, at: "3:2", told: /api\/endpoints/ });
  shouldReject("ASK { SERVICE <http://a.example/other> {} }", {
    ...refused,
    told: /SERVICE <a>, which is http:\/\/a\.example\/sparql/,
  });
  shouldReject("ASK { SERVICE <urn:endpoint:wiki> {} }", { ...refused, told: /SERVICE <wiki>/ });
  shouldReject("ASK { SERVICE <file:///etc/passwd> {} }", { ...refused, egress: "public" });
  shouldReject("ASK { SERVICE <data:text/plain,x> {} }", { ...refused, egress: "public" });
  shouldReject("ASK { SERVICE <http://user:secret@no.example/> {} }", {
    ...refused,
    egress: "public",
    told: /^(?!.*secret)/,
  });
  shouldReject("ASK { SERVICE <http://wikiba.se/ontology#label> {} }", { ...refused, egress: "public" });
  shouldReject("ASK { SERVICE <http://fedway.example/endpoints/none/sparql> {} }", { ...refused, egress: "public" });
  const self = { code: "SERVICE_SELF" } as const;
  shouldReject("ASK { SERVICE <http://fedway.example/sparql> {} }", self);
  shouldReject("ASK { SERVICE <HTTP://FEDWAY.example:80/sparql?x#y> {} }", self);
  const unknown = { code: "SERVICE_TARGET_REFUSED", egress: "public" } as const;
  shouldReject("ASK { SERVICE <http://fedway.example/federations/none/sparql> {} }", unknown);
  shouldPlan("ASK { SERVICE <http://no.example/sparql> { ?s ?p ?o } }", "http://no.example/sparql: ASK { ?s ?p ?o }", {
    egress: "public",
  });
});

describe("/endpoints/{id}/sparql", () => {
  const onA = { endpointId: "a" } as const;
  shouldPlan("SELECT * { ?s ?p ?o }", "a: SELECT * { ?s ?p ?o }", onA);
  shouldPlan("SELECT * FROM <urn:g> { ?s ?p ?o }", "a: SELECT * FROM <urn:g> { ?s ?p ?o }", onA);
  shouldPlan("DESCRIBE <urn:x>", "a: DESCRIBE <urn:x>", onA);
  shouldPlan("ASK {}", "a: ASK {}", { ...onA, strict: true });
  shouldPlan(
    "SELECT * { ?s ?p ?o SERVICE <label> { ?s ?p 'en' } }",
    "wiki: SELECT * { ?s ?p ?o SERVICE <http://wikiba.se/ontology#label> { ?s ?p 'en' } }",
    { endpointId: "wiki" },
  );
  shouldPlan("SELECT * { ?s ?p ?o SERVICE <a> { ?o ?q ?r } }", "a: SELECT * { ?s ?p ?o { ?o ?q ?r } }", onA);
  shouldPlan(
    "SELECT * { GRAPH <urn:g> { ?s ?p ?o SERVICE <a> { ?o ?q ?r } } }",
    "a: SELECT * { { { GRAPH <urn:g> { ?s ?p ?o . } } { ?o ?q ?r } } } [PATTERN_WRAPPED]",
    onA,
  );
  shouldPlan("SELECT * { SERVICE <b> { ?s ?p ?o } }", "b: SELECT * { ?s ?p ?o }", onA);
  shouldPlan(
    "SELECT * { ?s ?p ?o FILTER(?r > 1) _:n ?x ?o OPTIONAL { ?o ?y ?z } SERVICE <b> { ?o ?q ?r } }",
    "fed a+b: SELECT * { SERVICE <a> { ?s ?p ?o . _:n ?x ?o . OPTIONAL { ?o ?y ?z } } SERVICE <b> { ?o ?q ?r } FILTER(?r > 1) } [PATTERN_WRAPPED]",
    onA,
  );
  shouldPlan(
    "SELECT * { ?s ?p ?o SERVICE <a> { ?o ?q ?r } SERVICE <b> { ?r ?y ?z } }",
    "fed a+b: SELECT * { SERVICE <a> { ?s ?p ?o . ?o ?q ?r . } SERVICE <b> { ?r ?y ?z } } [PATTERN_WRAPPED WRAPPERS_MERGED]",
    onA,
  );
  shouldPlan(
    "SELECT * { SERVICE <b> { ?o ?q ?r } MINUS { ?o ?y ?z } FILTER EXISTS { ?o ?v ?w } }",
    "fed b+a*2: SELECT * { SERVICE <b> { ?o ?q ?r } MINUS { SERVICE <a> { ?o ?y ?z . } } FILTER EXISTS { SERVICE <a> { ?o ?v ?w . } } } [PATTERN_WRAPPED]",
    onA,
  );
  shouldPlan(
    "SELECT * { GRAPH <urn:g> { ?s ?p ?o SERVICE <b> { ?o ?q ?r } } }",
    "fed a+b: SELECT * { { SERVICE <a> { GRAPH <urn:g> { ?s ?p ?o . } } SERVICE <b> { ?o ?q ?r } } } [PATTERN_WRAPPED]",
    onA,
  );
  shouldReject("SELECT * FROM <urn:g> { ?s ?p ?o SERVICE <b> { ?o ?q ?r } }", { ...onA, code: "REQUEST_INVALID" });
  shouldPlan("SELECT * FROM <urn:g> { SERVICE <b> { ?o ?q ?r } }", "b: SELECT * { ?o ?q ?r } [DATASET_IGNORED]", onA);
  shouldReject("SELECT * { ?s ?p ?o SERVICE <http://no.example/> { ?o ?q ?r } }", {
    ...onA,
    code: "SERVICE_TARGET_REFUSED",
  });
});

describe("SERVICE with a keyword of the catalogue", () => {
  shouldPlan(
    "SELECT * { SERVICE <fedway:keyword/biology> { _:n ?p ?o } }",
    "fed a+b: SELECT * { { SERVICE <a> { _:n ?p ?o } } UNION { SERVICE <b> { _:n_1 ?p ?o } } } [SERVICE_NORMALISED]",
  );
  shouldPlan(
    "SELECT * { SERVICE SILENT <fedway:keyword/BIOLOGY> { ?s ?p ?o } SERVICE <a> { ?s ?q ?r } }",
    "fed a*2+b~: SELECT * { { SERVICE SILENT <a> { ?s ?p ?o } } UNION { SERVICE SILENT <b> { ?s ?p ?o } } SERVICE <a> { ?s ?q ?r } } [SERVICE_NORMALISED]",
  );
  shouldPlan(
    "SELECT * { SERVICE <fedway:keyword/open%20maps> { ?s ?p ?o } }",
    "b: SELECT * { { { ?s ?p ?o } } } [SERVICE_NORMALISED]",
  );
  shouldPlan(
    "SELECT * { SERVICE <fedway:keyword/open%20maps> { ?s ?p ?o } }",
    "b: SELECT * { { { ?s ?p ?o } } } [SERVICE_NORMALISED]",
    { endpointId: "a" },
  );
  shouldReject("SELECT * { SERVICE <fedway:keyword/chess> { ?s ?p ?o } }", {
    code: "SERVICE_TARGET_REFUSED",
    at: "1:12",
    told: /keyword "chess".*keywords/,
  });
});
