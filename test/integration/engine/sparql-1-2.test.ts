import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { federationTurtle } from "../../support/catalog-folder.ts";
import {
  type Federation,
  startEndpoints,
  startFederation,
  type TestEndpoints,
} from "../../support/federation-harness.ts";

const xsd = "http://www.w3.org/2001/XMLSchema#";
const reifies = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>";
const data = {
  a: `<urn:s1> <urn:label> "one"@en--ltr .
<urn:s2> <urn:label> "\\u0634"@ar--rtl .
<urn:s3> <urn:label> "three"@en .
<urn:s4> <urn:label> "four" .
<urn:r1> ${reifies} <<( <urn:s1> <urn:knows> <urn:s2> )>> .
<urn:r2> ${reifies} <<( <urn:s2> <urn:age> "30"^^<${xsd}integer> )>> .
`,
  b: `<urn:s1> <urn:knows> <urn:s2> .
<urn:s2> <urn:knows> <urn:s3> .
<urn:s3> <urn:knows> <urn:s4> .
<urn:s4> <urn:knows> <urn:s1> .
<urn:r1> <urn:source> <urn:doc1> .
<urn:r2> <urn:source> <urn:doc2> .
`,
};

let endpoints: TestEndpoints;
let federation: Federation;
beforeAll(async () => {
  endpoints = await startEndpoints(data);
  federation = await startFederation(
    endpoints.urls,
    {},
    { "all.ttl": federationTurtle("all", 'fedway:member "a", "b"') },
  );
});
afterAll(async () => {
  await federation?.close();
  await endpoints?.close();
});

const rowsOf = async (where: string, columns: string): Promise<readonly string[]> => {
  const { rows, status, diagnosis } = await federation.table(`SELECT ${columns} { ${where} }`, { federationId: "all" });
  if (status !== "ok" && status !== "empty") throw new Error(`${status} ${diagnosis?.code} ${diagnosis?.detail}`);
  return rows.map((row) => row.join(" ")).toSorted();
};

const labelled = "?s <urn:label> ?l . ?o <urn:knows> ?s";
const described = `?r ${reifies} ?t . ?r <urn:source> ?d`;

describe("SPARQL 1.2 over a federation", () => {
  it.each([
    ["LANGDIR", `${labelled} BIND(LANGDIR(?l) AS ?x)`, ['""', '""', '"ltr"', '"rtl"']],
    ["hasLANG", `${labelled} FILTER(hasLANG(?l)) BIND(?s AS ?x)`, ["<urn:s1>", "<urn:s2>", "<urn:s3>"]],
    ["hasLANG in an operand", `?x <urn:knows> ?o MINUS { ?x <urn:label> ?l FILTERhasLANG(?l) }`, ["<urn:s4>"]],
    ["hasLANGDIR", `${labelled} FILTER(!hasLANGDIR(?l)) BIND(?s AS ?x)`, ["<urn:s3>", "<urn:s4>"]],
    ["hasLANG of an IRI", `${labelled} FILTER(hasLANG(?s)) BIND(?s AS ?x)`, []],
    ["LANGDIR of an IRI", `?s <urn:source> ?d BIND(COALESCE(LANGDIR(?s), "error") AS ?x)`, ['"error"', '"error"']],
    [
      "STRLANGDIR",
      `${labelled} FILTER(LANG(?l) = "en") BIND(STRLANGDIR(STR(?l), "he", "rtl") AS ?x)`,
      ['"one"@he--rtl', '"three"@he--rtl'],
    ],
    [
      "a wrong direction",
      `?s <urn:source> ?d BIND(COALESCE(STRLANGDIR("a", "he", "RTL"), "error") AS ?x)`,
      ['"error"', '"error"'],
    ],
    [
      "a direction without a language",
      `?s <urn:source> ?d BIND(COALESCE(STRLANGDIR("a", "", "rtl"), "error") AS ?x)`,
      ['"error"', '"error"'],
    ],
    ["isTRIPLE", `${described} FILTER(isTRIPLE(?t) && !isTRIPLE(?d)) BIND(?d AS ?x)`, ["<urn:doc1>", "<urn:doc2>"]],
    ["SUBJECT", `${described} BIND(SUBJECT(?t) AS ?x)`, ["<urn:s1>", "<urn:s2>"]],
    ["SUBJECT as a key", `?r ${reifies} ?t BIND(SUBJECT(?t) AS ?s) ?s <urn:knows> ?x`, ["<urn:s2>", "<urn:s3>"]],
    ["PREDICATE", `${described} BIND(PREDICATE(?t) AS ?x)`, ["<urn:age>", "<urn:knows>"]],
    ["OBJECT", `${described} BIND(OBJECT(?t) AS ?x)`, [`"30"^^<${xsd}integer>`, "<urn:s2>"]],
    ["OBJECT of an IRI", `${described} BIND(COALESCE(OBJECT(?r), "error") AS ?x)`, ['"error"', '"error"']],
    [
      "TRIPLE",
      `?s <urn:label> "four" . ?s <urn:knows> ?o BIND(TRIPLE(?s, <urn:p>, TRIPLE(?o, <urn:q>, 1)) AS ?x)`,
      [`<<( <urn:s4> <urn:p> <<( <urn:s1> <urn:q> "1"^^<${xsd}integer> )>> )>>`],
    ],
    [
      "no triple",
      `?s <urn:source> ?d BIND(COALESCE(TRIPLE(1, ?s, ?d), TRIPLE(TRIPLE(?s, ?s, ?s), ?s, ?d), "error") AS ?x)`,
      ['"error"', '"error"'],
    ],
    ["TRIPLE as a key", `?s <urn:knows> ?o BIND(TRIPLE(?s, <urn:knows>, ?o) AS ?t) ?x ${reifies} ?t`, ["<urn:r1>"]],
    ["TRIPLE compared", `?x ${reifies} ?t . ?s <urn:knows> ?o FILTER(TRIPLE(?s, <urn:knows>, ?o) = ?t)`, ["<urn:r1>"]],
    ["a base direction", `?x <urn:label> "one"@en--ltr . ?x <urn:knows> ?o`, ["<urn:s1>"]],
    ["another base direction", `?x <urn:label> "one"@en--rtl . ?x <urn:knows> ?o`, []],
  ] as const)("%s", async (_name, where, expected) => {
    expect(await rowsOf(where, "?x")).toEqual(expected);
  });

  it("reads over VERSION, of which members hear nothing", async () => {
    endpoints.clearRequests();
    const text =
      'VERSION "1.2" PREFIX : <urn:> SELECT ?x { SERVICE <a> { ?x :label "four" } SERVICE <b> { ?x :knows ?o } }';
    const { rows } = await federation.table(text);
    expect(rows).toEqual([["<urn:s4>"]]);
    const asked = [...endpoints.requests("a"), ...endpoints.requests("b")].map(({ query }) => query ?? "");
    expect(asked.length).toBeGreaterThan(1);
    expect(asked.filter((query) => query.includes("VERSION"))).toEqual([]);
  });

  it.each([
    ["?s ?p <<( ?a <urn:knows> ?c )>>", "a triple term (<<( ... )>>)"],
    ["?s <urn:knows> ?o BIND(<<( ?s <urn:knows> ?o )>> AS ?t)", "a triple term (<<( ... )>>)"],
    ["VALUES ?t { <<( <urn:a> <urn:knows> 1 )>> } ?s ?p ?t", "a triple term (<<( ... )>>)"],
    ["<< ?s <urn:knows> ?o >> <urn:source> ?d", "a reified triple (<< ... >>)"],
    ["?s <urn:knows> ?o {| <urn:source> ?d |}", "an annotation ({| ... |})"],
    ["?s <urn:knows> ?o ~ ?r . ?r <urn:source> ?d", "a reifier (~)"],
  ])("refuses %s by name and place", async (where, name) => {
    const text = `SELECT * {\n${where} }`;
    await expect(federation.table(text, { federationId: "all" })).rejects.toMatchObject({
      code: "VERSION_UNSUPPORTED",
      message: expect.stringContaining(name),
      details: {
        where: { line: 2 },
        next: expect.stringContaining("rdf:reifies"),
      },
    });
    await expect(
      federation.table(`SELECT * { SERVICE <a> { ${where} } SERVICE <b> { ?x ?y ?z } }`),
    ).rejects.toMatchObject({ code: "VERSION_UNSUPPORTED" });
  });
});
