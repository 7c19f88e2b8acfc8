import { describe, expect, it } from "vitest";
import { faultOfCode, readFinal } from "../../../../shards/src/evaluate/score/final-query.ts";

const federation = "http://b.example/federations/d/sparql";
const targets = {
  shards: new Map([
    ["http://b.example/a", "a"],
    ["http://b.example/b", "b"],
  ]),
  federation,
};
const a = "<http://b.example/a>";

describe("final queries:", () => {
  it.each([
    [`SELECT * { SERVICE ${a} { ?s ?p ?o } }`, `SELECT * { GRAPH ${a} { ?s ?p ?o } }`, ["a"]],
    [`SELECT * { SERVICE SILENT ${a} { ?s ?p ?o } }`, `SELECT * { GRAPH ${a} { ?s ?p ?o } }`, ["a"]],
    [
      `PREFIX b: <http://b.example/> ASK { service b:a { ?s ?p ?o } }`,
      `PREFIX b: <http://b.example/> ASK { GRAPH b:a { ?s ?p ?o } }`,
      ["a"],
    ],
    [`SELECT * { SERVICE <${federation}> { ?s ?p ?o } ?o ?q ?r }`, "SELECT * {  { ?s ?p ?o } ?o ?q ?r }", []],
    [
      `SELECT * { VALUES ?e { ${a} } SERVICE ?e { ?s ?p ?o } }`,
      `SELECT * { VALUES ?e { ${a} } GRAPH ?e { ?s ?p ?o } }`,
      [],
    ],
    ["SELECT * { ?s ?p ?o }", "SELECT * { ?s ?p ?o }", []],
  ])("%s", (query, text, named) => {
    const read = readFinal(query, targets);
    expect("text" in read ? read.text.replaceAll(/\s+/gu, " ") : read).toBe(text.replaceAll(/\s+/gu, " "));
    expect(read.named).toEqual(named);
  });

  it.each([
    ["", "parse-error"],
    ["SELECT * { ?s ?p ?o", "parse-error"],
    ["DELETE WHERE { ?s ?p ?o }", "parse-error"],
    ["SELECT * { ?s x:p ?o }", "prefix-error"],
    ["SELECT * { ?s x:p ?o", "parse-error"],
    ["SELECT * { SERVICE a { ?s ?p ?o } }", "malformed-service"],
    [`SELECT * { SERVICE ${a} ?s ?p ?o }`, "malformed-service"],
    [`SELECT * { SERVICE ${a}, <http://b.example/b> { ?s ?p ?o } }`, "malformed-service"],
    ["SELECT * { SERVICE <http://other.example/> { ?s ?p ?o } }", "other-endpoint"],
    [`SELECT * { SERVICE ${a} { SERVICE <${federation}> { ?s ?p ?o } } }`, "other-endpoint"],
    [`SELECT * { GRAPH ${a} { ?s ?p ?o } }`, "named-graph"],
    [`SELECT * FROM ${a} { ?s ?p ?o }`, "named-graph"],
    [`SELECT * { VALUES ?x { ${"1 ".repeat(60_000)} } }`, "too-large"],
  ])("%s", (query, fault) => {
    expect(readFinal(query, targets)).toMatchObject({ fault });
  });

  it.each([
    ["ENDPOINT_TIMEOUT", "timeout"],
    ["DEADLINE_EXCEEDED", "timeout"],
    ["ANSWER_TOO_LARGE", "too-large"],
    ["SERVICE_TARGET_REFUSED", "other-endpoint"],
    ["ENDPOINT_FAILED", "runtime"],
    ["", "runtime"],
  ])("the code %s", (code, fault) => expect(faultOfCode(code)).toBe(fault));
});
