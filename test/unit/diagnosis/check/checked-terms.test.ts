import { describe, expect, it } from "vitest";
import { openCheck } from "./checked-catalog.ts";

const { prepared, checked, ran } = openCheck();
const prologue =
  "PREFIX foaf: <http://xmlns.com/foaf/0.1/> PREFIX ex: <http://vocabulary.example/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>";
const full = (text: string): string =>
  text
    .replaceAll("foaf:", "http://xmlns.com/foaf/0.1/")
    .replaceAll("ex:", "http://vocabulary.example/")
    .replaceAll(/^|$/g, "");
const inPeople = (patterns: string): string => `${prologue} SELECT * { SERVICE <people> { ${patterns} } }`;
const inWorks = (patterns: string): string => `${prologue} SELECT * { SERVICE <works> { ${patterns} } }`;
/** An IRI is suggested in full where it was written in full. */
const inTermsOf = (wrong: string, right: string): string => (wrong.startsWith("<") ? `<${full(right)}>` : right);

describe("a term that the endpoint does not have comes with the nearest, never applied", () => {
  it.each([
    ["a letter that is missing", "ex:bornIn", "ex:bonIn"],
    ["letters that are swapped", "ex:employer", "ex:emplyoer"],
    ["other case", "ex:bornIn", "ex:BornIN"],
    ["other separators", "ex:bornIn", "ex:born_in"],
    ["another word form", "ex:employer", "ex:employers"],
    ["https for http", "foaf:knows", "<https://xmlns.com/foaf/0.1/knows>"],
    ["another namespace", "foaf:knows", "ex:knows"],
    ["a slash for the hash, and case", "foaf:knows", "<http://XMLNS.com/foaf/0.1#knows>"],
    ["a class", "a foaf:Person", "a foaf:Persons"],
  ])("%s", async (_, right, wrong) => {
    const query = inPeople(`?p foaf:name ?n ; ${wrong} ${right.startsWith("a ") ? "" : "?x"}`);
    const found = await checked(query);
    expect(found).toMatchObject({ valid: true, query, repairs: [{ kind: "term-unknown", applied: false }] });
    expect(found.unknown).toMatchObject([{ certain: true, endpoints: ["people"] }]);
    expect(found.unknown[0]?.nearest[0]?.term).toBe(`<${full(right.replace(/^a /, ""))}>`);
    expect(found.suggested).toBe(query.replace(wrong, inTermsOf(wrong, right)));
    expect(await prepared(query)).toMatchObject({ query, repairs: [] });
  });

  it("at most three, of the same class first", async () => {
    const { unknown } = await checked(inPeople("?p foaf:name ?n ; ex:title ?t"));
    expect(unknown[0]?.nearest.length).toBeLessThanOrEqual(3);
    const other = await checked(inPeople("?c ex:companyTitle ?n ; ex:employe ?t"));
    expect(other.unknown[0]?.nearest[0]).toMatchObject({ term: `<${full("ex:employer")}>`, score: expect.any(Number) });
  });

  it("none where the endpoint has the term, or nothing is known of it", async () => {
    expect(await checked(inPeople("?p foaf:name ?n"))).toMatchObject({ valid: true, unknown: [], repairs: [] });
    const unseen = inPeople("?p ex:nothing ?n").replace("<people>", "<unseen>");
    expect(await checked(unseen)).toMatchObject({ valid: true, unknown: [], repairs: [] });
  });

  it("a term of another endpoint says which", async () => {
    const { unknown, next } = await checked(inPeople("?p foaf:name ?n . ?w ex:painter ?p"));
    expect(unknown).toMatchObject([{ iri: full("ex:painter"), elsewhere: ["works"] }]);
    expect(next).not.toBe("");
  });
});

describe("endpoints", () => {
  it("that were swapped", async () => {
    const query = `${prologue} SELECT * { SERVICE <people> { ?w ex:painter ?p } SERVICE <works> { ?p foaf:name ?n } }`;
    const right = `${prologue} SELECT * { SERVICE <works> { ?w ex:painter ?p } SERVICE <people> { ?p foaf:name ?n } }`;
    const found = await checked(query);
    expect(found.repairs.map(({ kind }) => kind)).toEqual(["service-swapped", "service-swapped"]);
    expect(found.suggested).toBe(right);
    const byUrl = (text: string): string => text.replaceAll(/<(people|works)>/g, "<http://$1.example/sparql>");
    expect((await checked(byUrl(query))).suggested).toBe(byUrl(right));
  });

  it("of a SERVICE that is missing beside another", async () => {
    const query = `${prologue} SELECT * { SERVICE <works> { ?w ex:painter ?p } ?p foaf:name ?n }`;
    const found = await checked(query);
    expect(found).toMatchObject({ valid: true, query, repairs: [{ kind: "service-missing", applied: false }] });
    expect(found.suggested).toContain("SERVICE <people> { ?p foaf:name ?n");
    expect(await checked(found.suggested ?? "")).toMatchObject({
      valid: true,
      unknown: [],
      plan: { kind: "federated" },
    });
  });

  it("whose name is misspelt", async () => {
    for (const name of ["peple", "http://people.example/query"]) {
      const found = await checked(`${prologue} SELECT * { SERVICE <${name}> { ?p foaf:name ?n } }`);
      expect(found).toMatchObject({ valid: false, problem: { code: "SERVICE_TARGET_REFUSED" } });
      expect(await checked(found.suggested ?? "")).toMatchObject({ valid: true, unknown: [] });
    }
  });
});

describe("a place that FROM or GRAPH names", () => {
  it("is suggested as it is known where it is misspelt", async () => {
    const found = await checked(`${prologue} SELECT * from  <peple> { ?p foaf:name ?n }`);
    expect(found).toMatchObject({ valid: false, problem: { code: "QUERY_SYNTAX" } });
    expect(found.suggested).toBe(`${prologue} SELECT * FROM <people> { ?p foaf:name ?n }`);
    expect(await checked(found.suggested ?? "")).toMatchObject({ valid: true, unknown: [] });
  });

  it("is suggested as a SERVICE where it is named as a graph", async () => {
    const found = await checked(`${prologue} SELECT * { GRAPH <people> { ?p foaf:name ?n } }`);
    expect(found.problem).toMatchObject({ detail: "GRAPH names a graph, and people is an endpoint or federation." });
    expect(found.next).toContain("SERVICE <people> { ... }");
    expect(found.suggested).toBe(`${prologue} SELECT * { SERVICE <people> { ?p foaf:name ?n } }`);
  });

  it("is not suggested where nothing is like it, or the text does not parse then", async () => {
    for (const text of ["SELECT * FROM <zzzzzz> { ?p ?q ?n }", "SELECT * FROM <peple> { ?p ?q <other> }"])
      expect((await checked(text)).suggested).toBeUndefined();
  });
});

describe("what contradicts the descriptions is offered the other way", () => {
  it.each([
    ["inPeople", "?c a ex:Company ; ex:employer ?p", "?c a ex:Company ; ^ex:employer ?p"],
    ["inPeople", "?n foaf:name ?p . ?p foaf:knows ?q", "?n ^foaf:name ?p . ?p foaf:knows ?q"],
    [
      "inWorks",
      "?p a foaf:Person . ?p ex:painter ?w . ?w ex:width ?x",
      "?p a foaf:Person . ?p ^ex:painter ?w . ?w ex:width ?x",
    ],
    ["inPeople", "?p foaf:name 'Ada'", 'p foaf:name "Ada"@en'],
    ["inPeople", "?p foaf:name 'Ada'@de", 'p foaf:name "Ada"@en'],
    ["inPeople", "?p ex:bornIn 1815", 'p ex:bornIn "1815"^^xsd:gYear'],
    ["inPeople", "?p ex:bornIn ?y FILTER(?y = '1815')", '?y = "1815"^^xsd:gYear'],
    ["inWorks", "?w ex:width '80'", "?w ex:width 80"],
    ["inWorks", "?w ex:paintingTitle 'Harbour'@en", '?w ex:paintingTitle "Harbour"'],
  ])("%s: %s", async (place, wrong, right) => {
    const query = (place === "inPeople" ? inPeople : inWorks)(wrong);
    const found = await checked(query);
    expect(found.repairs).toMatchObject([{ applied: false }]);
    expect(found.suggested).toContain(right);
    expect(await checked(found.suggested ?? "")).toMatchObject({ valid: true, repairs: [] });
  });

  it.each([
    inPeople("?p foaf:knows ?q"),
    inPeople("?p foaf:knows ?q . ?q foaf:knows ?p ; foaf:name ?n"),
    inPeople("?p ex:employer ?c . ?c ex:companyTitle ?n"),
    inPeople("?p foaf:name 'Ada'@en"),
    inWorks("?w ex:width ?x FILTER(?x = 80.0)"),
  ])("nothing where all fits: %s", async (query) => {
    expect(await checked(query)).toMatchObject({ valid: true, repairs: [], unknown: [] });
  });
});

describe("a text that the data do not have", () => {
  it.each([
    ["misspelt", "?c ex:companyTitle 'Harbor Works'"],
    ["in other case", "?c ex:companyTitle 'harbour works'"],
    ["in a FILTER", "?c ex:companyTitle ?t FILTER('Habour Works' = ?t)"],
  ])("%s, is suggested where all of them are known", async (_, patterns) => {
    const { suggested, repairs } = await checked(inPeople(patterns));
    expect(repairs).toMatchObject([{ kind: "value", after: '"Harbour Works"', applied: false }]);
    expect(suggested).toContain('"Harbour Works"');
  });
  it("is only offered where there may be more", async () => {
    const { suggested, repairs } = await checked(inPeople("?p foaf:name 'Grete Herman'@en"));
    expect(repairs).toMatchObject([{ kind: "value", after: '"Grete Hermann"@en', applied: false }]);
    expect(suggested).toBeUndefined();
  });
  it("is not told when the data have it, or nothing like it", async () => {
    for (const patterns of ["?c ex:companyTitle 'Northern Mills'", "?p foaf:name 'Emmy Noether'@en"]) {
      expect(await checked(inPeople(patterns))).toMatchObject({ valid: true, repairs: [] });
    }
  });
});

describe("before running", () => {
  it("it is told what pulls many rows, and what to begin with", async () => {
    const query = `${prologue} SELECT * { SERVICE <people> { ?p foaf:name ?n } SERVICE <works> { ?w ex:painter ?p } }`;
    const { cost } = await checked(query);
    expect(cost).toBe(
      "people may send up to 320,960 rows; bind from works instead (380 rows): put its SERVICE first, with the constants.",
    );
    expect((await checked(inPeople("?p foaf:name ?n"))).cost).toMatch(/320,960 rows; add LIMIT/);
    expect((await checked(`${inPeople("?p foaf:name ?n")} LIMIT 10`)).cost).toBeUndefined();
    expect((await checked(inWorks("?w ex:painter ?p"))).cost).toBeUndefined();
  });

  it("an earlier run of the same owner and session is told", async () => {
    const query = inPeople("?p foaf:name ?n");
    const request = { query, owner: "me", session: "one" };
    const { signal } = new AbortController();
    ran(request, "run-1");
    expect((await prepared(query)).repeatOf).toBeUndefined();
    const opened = openCheck();
    opened.ran(request, "run-1");
    opened.ran({ ...request, query: `# again\n${query.replaceAll(" ", "\n")}` }, "run-2");
    expect((await opened.check(request, { signal })).repeatOf).toEqual({
      times: 2,
      at: "2026-01-01T12:00:00.000Z",
      run: "run-2",
    });
    for (const other of [{ owner: "you" }, { session: "two" }, { session: undefined }, { endpoint: "people" }]) {
      expect((await opened.check({ ...request, ...other }, { signal })).repeatOf).toBeUndefined();
    }
  });
});
