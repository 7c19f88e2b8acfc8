import { expect, it } from "vitest";
import { toPlanDescription } from "../../../src/query/explain.ts";
import { planText } from "../../../src/views/plan-view.ts";
import { planFor } from "./plan-cases.ts";

it("prints a direct plan", () => {
  const text = "SELECT ?s {\n  SERVICE SILENT <a> {\n    ?s ?p ?o\n  }\n}";
  expect(planText(toPlanDescription(planFor(text, { defaultGraphs: ["urn:g"] })))).toBe(
    [
      "direct (bindings)",
      "  endpoint a <http://a.example/sparql>",
      "  silent: a failure before the first row is one empty solution, a later one leaves a partial answer",
      "  note DATASET_IGNORED: FROM, FROM NAMED and the dataset parameters describe this service's own dataset; they were not sent into a SERVICE.",
      "  query",
      "    SELECT ?s {",
      "        ?s ?p ?o",
      "    }",
      "  after a failure",
      "    SELECT ?s {",
      "      {}",
      "    }",
    ].join("\n"),
  );
});

it("prints the dataset that goes to an endpoint", () => {
  const plan = planFor("ASK { ?s ?p ?o }", { endpointId: "a", defaultGraphs: ["urn:g"], namedGraphs: ["urn:h"] });
  expect(planText(toPlanDescription(plan))).toBe(
    "direct (boolean)\n  endpoint a <http://a.example/sparql>\n  default graph <urn:g>\n  named graph <urn:h>\n  query\n    ASK { ?s ?p ?o }",
  );
});

it("prints a federated plan", () => {
  const plan = planFor("ASK { SERVICE <a> { ?s ?p ?o } SERVICE SILENT <http://no.example/> { ?o ?q ?r } }", {
    egress: "public",
  });
  expect(planText(toPlanDescription(plan))).toBe(
    [
      "federated (boolean)",
      "  member a <http://a.example/sparql>, 1 clause",
      "  member <http://no.example/>, 1 clause, silent",
      "  query",
      "    ASK { SERVICE <http://a.example/sparql> { ?s ?p ?o } SERVICE SILENT <http://no.example/> { ?o ?q ?r } }",
    ].join("\n"),
  );
});

it("prints that nothing is contacted", () => {
  expect(planText(toPlanDescription(planFor("ASK {}")))).toMatch(
    /^federated \(boolean\)\n {2}no endpoint: evaluated here .*\n {2}note EVALUATED_HERE/,
  );
});

it("prints a rejection with its place and advice", () => {
  expect(planText(toPlanDescription(planFor("ASK {\n ?s ?p ?o }")))).toBe(
    [
      "rejected SERVICE_REQUIRED",
      "  The query reads data but names no endpoint to read it from.",
      "  at line 2, column 2",
      "  endpoints: a, b, wiki",
      "  next: Send the query to an endpoint (/endpoints/a/sparql, --endpoint a), or wrap its patterns: SERVICE <a> { ... }.",
    ].join("\n"),
  );
});
