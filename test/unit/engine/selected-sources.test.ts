import { describe, expect, it } from "vitest";
import { toFedwayError } from "../../../src/errors/fedway-error.ts";
import { answerDifference, toAnswer } from "../../support/canonical-answer.ts";
import { toFederatedPlan } from "../../support/engine-answer.ts";
import { exactSelection } from "../../support/exact-selection.ts";
import { createMergedFederation, mergedAnswer } from "../../support/merged-federation.ts";

const prefixes = "PREFIX : <http://v.example/>\nPREFIX a: <http://a.example/>\nPREFIX b: <http://b.example/>\n";
const iris = (lines: string) =>
  lines.trim().replaceAll(/(^|\s)(a|b|c|):(\w+)/g, (_, space: string, prefix: string, name: string) => {
    const host = prefix === "" ? "v" : prefix;
    return `${space}<http://${host}.example/${name}>`;
  });

// Two shops with offers of their own, and a catalogue; each has nodes without a name.
const data = [
  iris(`a:o1 :price "1" .\na:o1 :product c:p1 .\na:o2 :price "2" .\na:o2 :product c:p2 .\na:o1 :shop a:s .
a:s :city "Graz" .\na:o1 :terms _:t .\n_:t :days "3" .\n_:t :place _:u .\n_:u :city "Linz" .`),
  iris(
    `b:o1 :price "1" .\nb:o1 :product c:p1 .\nb:o1 :shop b:s .\nb:s :city "Wien" .\nb:o1 :terms _:t .\n_:t :days "3" .`,
  ),
  iris(`c:p1 :label "Lamp" .\nc:p2 :label "Chair" .\nc:p1 :kind c:k .\nc:p2 :kind c:k .`),
];
const authority = (iri: string): string => new URL("/", iri).href;

const federation = createMergedFederation(data, ["sparql"], {
  select: (texts) => exactSelection(texts, { prefixOf: authority }),
});

/** The requests of a query whose answer is right: `member: text`. */
async function requestsOf(query: string, over = federation): Promise<readonly string[]> {
  over.client.requests.length = 0;
  const answer = await over.answer(prefixes + query);
  expect(answerDifference(mergedAnswer(data, prefixes + query), answer)).toBe(undefined);
  return over.client.requests.map(({ endpoint, query: text }) => `${endpoint.id ?? ""}: ${text}`);
}

const membersOf = (requests: readonly string[]): string =>
  requests
    .map((request) => request.slice(0, 2))
    .toSorted()
    .join(" ");

describe("a query is asked at", () => {
  it.each([
    ["the one member that has its pattern", "SELECT * { ?p :label ?l }", "m2"],
    ["none, where no member can have the object", 'SELECT * { ?p :label ?l . ?p :kind "none" }', ""],
    ["an exclusive group at once", "SELECT * { ?p :label ?l ; :kind ?k }", "m2"],
    ["a star at each member that has all of it", 'SELECT * { ?o :price "1" ; :product ?p }', "m0 m1"],
    ["a chain whose terms no other member has", "SELECT * { ?o :price ?x ; :shop ?s . ?s :city ?c }", "m0 m1"],
    ["a star only where its last part is", "SELECT * { ?o :price ?x ; :terms ?t . ?t :place ?u }", "m0"],
    ["the members that can have the subject", "SELECT * { a:o1 :price ?x ; :product ?p }", "m0"],
    [
      "members for the keys that they can have",
      "SELECT * { VALUES ?o { b:o1 b:o9 } ?o :price ?x ; :product ?p }",
      "m1",
    ],
    ["groups that share keys", "SELECT * { ?o :price ?x ; :product ?p . ?p :label ?l }", "m0 m1 m2"],
    ["OPTIONAL where its keys can be", "SELECT * { a:o2 :product ?p OPTIONAL { ?p :label ?l } }", "m0 m2"],
  ])("%s", async (_, query, members) => {
    expect(membersOf(await requestsOf(query))).toBe(members);
  });

  it("all members, for what nobody tells", async () => {
    const untold = createMergedFederation(data, ["sparql"], {
      select: (texts) => exactSelection(texts, { knows: () => false }),
    });
    expect(membersOf(await requestsOf("SELECT * { ?p :label ?l }", untold))).toBe("m0 m1 m2");
  });

  it("members whose certificate says that they share no subject, once a subject is seen", async () => {
    const select = (texts: readonly string[]) =>
      exactSelection(texts, { knows: (what) => !/^(?:subjects|objects)/.test(what) });
    const sharded = createMergedFederation(data, ["sparql"], { select });
    const query = "SELECT * { ?o :price ?x ; :product ?p OPTIONAL { ?o :terms ?t FILTER(BOUND(?o)) } }";
    const requests = await requestsOf(query, sharded);
    // The star at both; then the keys of each at its own.
    expect(membersOf(requests)).toBe("m0 m0 m1 m1");
    expect(requests.filter((request) => request.includes("VALUES") && /a\.example.*b\.example/u.test(request))).toEqual(
      [],
    );
  });
});

describe("blank nodes", () => {
  it("that a group joins are joined by its member", async () => {
    const requests = await requestsOf("SELECT ?o ?d { ?o :terms ?t . ?t :days ?d }");
    expect(membersOf(requests)).toBe("m0 m1");
  });
  it.each([
    ["that are joined outside of the group", "SELECT ?o ?d ?c { ?o :terms ?t ; :price ?x OPTIONAL { ?t :days ?d } }"],
    ["that are told apart", "SELECT DISTINCT ?t ?u { ?o :terms ?t . ?t :place ?u }"],
    ["that are grouped by", "SELECT ?t (COUNT(*) AS ?n) { ?o :terms ?t . ?t :days ?d } GROUP BY ?t"],
    ["that a path goes through", "SELECT ?o ?c { ?o :terms/:place/:city ?c }"],
    ["that EXISTS asks for", 'SELECT ?o { ?o :terms ?t ; :price ?x FILTER EXISTS { ?t :place ?u . ?u :city "Linz" } }'],
  ])("%s", async (_, query) => {
    await requestsOf(query);
  });
});

describe("of a member is wanted", () => {
  const last = async (query: string): Promise<string> => (await requestsOf(query)).at(-1) ?? "";
  it.each([
    ["what is looked at", "SELECT ?l { ?p :label ?l ; :kind ?k }", "SELECT ?l WHERE"],
    ["each solution once under DISTINCT", "SELECT DISTINCT ?k { ?p :label ?l ; :kind ?k }", "SELECT DISTINCT ?k WHERE"],
    ["each solution once in EXISTS", "ASK { ?p :label ?l ; :kind ?k }", "LIMIT 1"],
    ["as many rows as are enough", "SELECT ?p { ?p :label ?l } OFFSET 1 LIMIT 1", "LIMIT 2"],
    ["as many different rows as are enough", "SELECT DISTINCT ?k { ?p :kind ?k } LIMIT 3", "SELECT DISTINCT ?k WHERE"],
  ])("%s", async (_, query, text) => {
    expect(await last(query)).toContain(text);
  });
  it("a few keys at a time, until there are enough rows", async () => {
    const people = (count: number) =>
      Array.from({ length: count }, (_, n) => iris(`:p${n} :next :p${n + 1} .\n:p${n} :name "N${n}" .`)).join("\n");
    const texts = [people(2_000), people(2_000).replaceAll("v.example", "w.example")];
    const large = createMergedFederation(texts, ["sparql"], {});
    const answer = await large.answer(`${prefixes}SELECT * { ?x :next ?y . ?y :name ?n } LIMIT 5`);
    expect(answer.kind === "bindings" && answer.rows).toHaveLength(5);
    const keys = large.client.requests.flatMap(({ query }) => query.match(/\(<[^<>]*>\)/gu) ?? []);
    expect(keys.length).toBeLessThanOrEqual(400);
  });
  it.each([
    ["ORDER BY", "SELECT ?l { ?p :label ?l } ORDER BY ?l LIMIT 1"],
    ["a GROUP BY between", "SELECT ?k (COUNT(*) AS ?n) { ?p :kind ?k } GROUP BY ?k LIMIT 1"],
    ["a second part", "SELECT ?l { ?o :price ?x ; :product ?p . ?p :label ?l } ORDER BY ?l ?o LIMIT 1"],
  ])("no LIMIT with %s", async (_, query) => {
    expect(await last(query)).not.toContain("LIMIT");
  });
});

describe("a FILTER", () => {
  it("is sent with the part of OPTIONAL that it is on", async () => {
    const requests = await requestsOf("SELECT * { ?o :price ?x OPTIONAL { ?o :product ?p . FILTER(?p != :x) } }");
    expect(requests.filter((request) => request.includes("?p != "))).toHaveLength(2);
  });
});

describe("COUNT", () => {
  it.each([
    ["of a star", "SELECT (COUNT(*) AS ?n) { ?o :price ?x ; :product ?p }", "m0 m1"],
    ["of a variable", "SELECT (COUNT(?x) AS ?n) (COUNT(*) AS ?m) { ?o :price ?x }", "m0 m1"],
    ["of nothing", 'SELECT (COUNT(*) AS ?n) { ?p :label ?l . ?p :kind "none" }', ""],
    ["of a chain over a blank node", "SELECT (COUNT(*) AS ?n) { ?o :terms ?t . ?t :days ?d }", "m0 m1"],
    ["by IRIs", "SELECT ?k (COUNT(?p) AS ?n) { ?p :label ?l ; :kind ?k } GROUP BY ?k", "m2"],
    [
      "by IRIs that several members have",
      "SELECT ?p (COUNT(?o) AS ?n) { ?o :price ?x ; :product ?p } GROUP BY ?p",
      "m0 m1",
    ],
    ["by properties", "SELECT ?y (COUNT(*) AS ?n) { a:o1 ?y ?z } GROUP BY ?y", "m0"],
    ["with HAVING", "SELECT ?k { ?p :kind ?k } GROUP BY ?k HAVING(COUNT(*) > 1)", "m2"],
    ["of a UNION", "SELECT (COUNT(*) AS ?n) { { ?o :price ?x } UNION { ?o :label ?l } }", "m0 m1 m2"],
    ["in a subselect", "SELECT * { { SELECT ?k (COUNT(*) AS ?n) { ?p :kind ?k } GROUP BY ?k } }", "m2"],
  ])("%s is counted by each member", async (_, query, members) => {
    const requests = await requestsOf(query);
    expect(membersOf(requests)).toBe(members);
    expect(requests.filter((request) => !request.includes("(COUNT(*) AS ?fedway_"))).toEqual([]);
  });
  it.each([
    ["of different values", "SELECT (COUNT(DISTINCT ?p) AS ?n) { ?o :product ?p }"],
    ["of an expression", 'SELECT (COUNT(IF(?x = "1", ?x, ?y)) AS ?n) { ?o :price ?x }'],
    ["of what OPTIONAL binds", "SELECT (COUNT(?l) AS ?n) { ?o :product ?p OPTIONAL { ?p :label ?l } }"],
    ["beside another aggregate", "SELECT (COUNT(*) AS ?n) (MAX(?x) AS ?m) { ?o :price ?x }"],
    ["by literals", "SELECT ?x (COUNT(*) AS ?n) { ?o :price ?x } GROUP BY ?x"],
    ["by blank nodes", "SELECT (COUNT(*) AS ?n) { ?o :terms ?t . ?t :days ?d } GROUP BY ?t"],
    ["by what is not bound", "SELECT ?z (COUNT(*) AS ?n) { ?o :price ?x } GROUP BY ?z"],
    ["of what two members join", "SELECT (COUNT(*) AS ?n) { ?o :price ?x ; :product ?p . ?p :label ?l }"],
    ["of what a FILTER keeps", "SELECT (COUNT(*) AS ?n) { ?p :label ?l FILTER(STRLEN(?l) > 4) }"],
    ["of a path", "SELECT (COUNT(*) AS ?n) { ?o :shop* ?x }"],
  ])("%s is counted here", async (_, query) => {
    expect((await requestsOf(query)).filter((request) => request.includes("(COUNT("))).toEqual([]);
  });
  it("is asked for what EXISTS substitutes in the text of a clause", async () => {
    const over = createMergedFederation([iris(':s :p "1" .\n:t :p "3" .'), iris(':u :q "2" .')], ["sparql"]);
    const where = `{ ?s :p ?v FILTER EXISTS { SERVICE <${over.members[1]?.url}> { ?u :q ?w FILTER(?w > ?v) } } }`;
    const query = `${prefixes}SELECT ?s ${where}`;
    const result = await over.execute({ ...toFederatedPlan(query), over: over.plan(query).over });
    expect(await toAnswer(result)).toMatchObject({ rows: ["?s=<http://v.example/s>"] });
  });
  it("is not asked for less because of DISTINCT where each solution gets a value of its own", async () => {
    const over = createMergedFederation([iris(':s :p "1" .\n:t :p "1" .\n:u :p "1" .')], ["sparql"]);
    const rowsOf = async (query: string): Promise<number | undefined> => {
      const answer = await over.answer(prefixes + query);
      return answer.kind === "bindings" ? answer.rows.length : undefined;
    };
    expect(await rowsOf("SELECT DISTINCT ?x { ?s :p ?o BIND(UUID() AS ?x) }")).toBe(3);
    expect(await rowsOf("SELECT DISTINCT ?o (STRUUID() AS ?x) { ?s :p ?o }")).toBe(3);
    expect(await rowsOf("SELECT DISTINCT ?o { ?s :p ?o }")).toBe(1);
  });
  it("is counted here where a triple may be at two members", async () => {
    const twice = [iris(':s :p "1" .\n:t :p "2" .'), iris(':s :p "1" .')];
    const over = createMergedFederation(twice, ["sparql"], { select: (texts) => exactSelection(texts) });
    const query = `${prefixes}SELECT (COUNT(*) AS ?n) { ?s :p ?o }`;
    expect(answerDifference(mergedAnswer(twice, query), await over.answer(query))).toBe(undefined);
  });
  it("is asked for the keys of a join", async () => {
    const requests = await requestsOf(
      "SELECT * { a:o1 :product ?p . { SELECT ?p (COUNT(*) AS ?n) { ?p :kind ?k } GROUP BY ?p } }",
    );
    expect(requests.at(-1)).toMatch(/^m2: .*VALUES.*SELECT \?p \(COUNT/u);
  });
  it.each([{ counting: "here" }, { keys: "filter" }] as const)(
    "is counted here for a member with %o",
    async (lacks) => {
      const query = `${prefixes}SELECT (COUNT(*) AS ?n) { ?p :label ?l }`;
      const plan = federation.plan(query);
      const members = (plan.over?.members ?? []).map((member) => Object.assign(structuredClone(member), lacks));
      federation.client.requests.length = 0;
      const result = await federation.execute({ ...plan, over: { ...plan.over, members } });
      expect(answerDifference(mergedAnswer(data, query), await toAnswer(result))).toBe(undefined);
      expect(federation.client.requests.map((request) => request.query)).not.toContainEqual(
        expect.stringContaining("COUNT"),
      );
    },
  );
  it("of a member that gives no number is an error", async () => {
    const over = createMergedFederation(data, ["sparql"], { select: (texts) => exactSelection(texts) });
    const ask = over.client.query.bind(over.client);
    over.client.query = async (request) => {
      const answer = await ask(request);
      const body = Buffer.isBuffer(answer.body) ? answer.body.toString().replace('"value":"2"', '"value":"-2"') : "";
      return { ...answer, body: Buffer.from(body) };
    };
    const code = await over
      .answer(`${prefixes}SELECT (COUNT(*) AS ?n) { ?p :label ?l }`)
      .catch((error: unknown) => toFedwayError(error).code);
    expect(code).toBe("ENDPOINT_MALFORMED");
  });
});

describe("OPTIONAL", () => {
  const named = [
    iris(`a:o1 :price "1" .\na:o1 :product c:p1 .\na:o1 :days "3" .\na:o2 :price "2" .\na:o2 :product c:p2 .`),
    iris(`b:o1 :price "1" .\nb:o1 :product c:p1 .\nb:o1 :note "N" .\nb:o1 :days "4" .\nb:o1 :days "5" .`),
    iris(`c:p1 :label "Lamp" .\nc:p1 :days "6" .`),
  ];
  const over = createMergedFederation(named, ["sparql"], {
    select: (texts) => exactSelection(texts, { prefixOf: authority }),
  });
  const askedFor = async (query: string, asked = over): Promise<readonly string[]> => {
    asked.client.requests.length = 0;
    const answer = await asked.answer(prefixes + query);
    expect(answerDifference(mergedAnswer(named, prefixes + query), answer)).toBe(undefined);
    return asked.client.requests.map(({ endpoint, query: text }) => `${endpoint.id ?? ""}: ${text}`);
  };
  const star = "?o :price ?x ; :product ?p";
  it.each([
    ["of the same subject", `SELECT * { ${star} OPTIONAL { ?o :days ?d } }`, "m0 m1"],
    ["that another one follows", `SELECT * { ${star} OPTIONAL { ?o :days ?d } OPTIONAL { ?o :note ?n } }`, "m0 m1"],
    ["of two patterns", `SELECT * { ${star} OPTIONAL { ?o :days ?d ; :note ?n } }`, "m0 m1"],
    ["whose object is bound", `SELECT * { ${star} OPTIONAL { ?o :days ?d ; :note ?x } }`, "m0 m1"],
    ["that a FILTER looks at", `SELECT ?o { ${star} OPTIONAL { ?o :days ?d } FILTER(!BOUND(?d)) }`, "m0 m1"],
    ["of which each solution is wanted once", `SELECT DISTINCT ?p ?d { ${star} OPTIONAL { ?o :days ?d } }`, "m0 m1"],
    ["of one part of a group", `SELECT * { ${star} . ?p :label ?l OPTIONAL { ?o :days ?d } }`, "m0 m1 m2"],
  ])("%s is asked along", async (_, query, members) => {
    const requests = await askedFor(query);
    expect(membersOf(requests)).toBe(members);
    expect(requests.some((request) => request.includes("OPTIONAL {"))).toBe(true);
  });
  it.each([
    ["that another member may have", `SELECT * { ${star} OPTIONAL { ?p :label ?l } }`],
    ["with a FILTER", `SELECT * { ${star} OPTIONAL { ?o :days ?d FILTER(?d > "3") } }`],
    ["whose variable something else binds", `SELECT * { ${star} OPTIONAL { ?o :days ?d } OPTIONAL { ?p :days ?d } }`],
    ["whose variable has VALUES", `SELECT * { VALUES ?d { "3" UNDEF } { ${star} OPTIONAL { ?o :days ?d } } }`],
    [
      "whose variable MINUS compares",
      `SELECT * { ${star} OPTIONAL { ?o :days ?d } MINUS { ?q :label ?l ; :days ?d } }`,
    ],
    ["that goes through a path", `SELECT * { ${star} OPTIONAL { ?o :days* ?d } }`],
  ])("%s is asked by itself", async (_, query) => {
    expect((await askedFor(query)).filter((request) => request.includes("OPTIONAL {"))).toEqual([]);
  });
  it("is asked along for a subject without a name that nothing else looks at", async () => {
    const requests = await requestsOf(
      "SELECT ?d (COUNT(*) AS ?n) { ?t :days ?d ; :place ?u OPTIONAL { ?t :days ?e } } GROUP BY ?d",
    );
    expect(requests.filter((request) => request.includes("OPTIONAL {"))).toHaveLength(requests.length);
  });
  it("is asked by itself where its blank nodes are told apart", async () => {
    const requests = await requestsOf("SELECT DISTINCT ?o ?t { ?o :price ?x OPTIONAL { ?o :terms ?t } }");
    expect(requests.filter((request) => request.includes("OPTIONAL {"))).toEqual([]);
  });
  it("is asked by itself where members may share subjects", async () => {
    const select = () => undefined;
    const untold = createMergedFederation(named, ["sparql"], { select });
    const requests = await askedFor(`SELECT * { ${star} OPTIONAL { ?o :days ?d } }`, untold);
    expect(requests.filter((request) => request.includes("OPTIONAL {"))).toEqual([]);
  });
});
