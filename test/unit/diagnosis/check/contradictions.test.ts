import { describe, expect, it } from "vitest";
import type { Harvest } from "../../../../src/registry/find/read/harvest.ts";
import { typedCheck, type TypedRegistry } from "../../../support/typed-registry.ts";

const v = (name: string): string => `<http://v.example/${name}>`;
const xsd = "http://www.w3.org/2001/XMLSchema#";
const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const lines = (...triples: readonly (readonly [string, string, string])[]): string =>
  triples.map((triple) => `${triple.join(" ")} .`).join("\n");
const some = <T>(make: (at: number) => readonly T[]): readonly T[] => [1, 2, 3].flatMap(make);

/** Cities with their countries, whose IRIs tell the class; offices and staff, whose IRIs do not. */
const data = {
  cities: lines(
    ...some((at) => [
      [`<http://d.example/city/${at}>`, type, v("City")] as const,
      [`<http://d.example/city/${at}>`, v("name"), `"City ${at}"`] as const,
      [`<http://d.example/city/${at}>`, v("people"), `"${at}000"^^<${xsd}integer>`] as const,
      [`<http://d.example/city/${at}>`, v("founded"), `"190${at}-01-01"^^<${xsd}date>`] as const,
      [`<http://d.example/city/${at}>`, v("country"), `<http://d.example/country/${at}>`] as const,
      [`<http://d.example/city/${at}>`, v("countryCode"), `"C${at}"`] as const,
    ]),
  ),
  countries: lines(
    ...some((at) => [
      [`<http://d.example/country/${at}>`, type, v("Country")] as const,
      [`<http://d.example/country/${at}>`, v("label"), `"Land ${at}"@en`] as const,
      [`<http://d.example/country/${at}>`, v("capital"), `<http://d.example/city/${at}>`] as const,
      [`<http://d.example/country/${at}>`, v("code"), `"C${at}"`] as const,
    ]),
  ),
  firm: lines(
    ...some((at) => [
      [`<http://f.example/${at}>`, type, v("Office")] as const,
      [`<http://f.example/${at}>`, v("floor"), `"${at}"^^<${xsd}integer>`] as const,
      [`<http://f.example/1${at}>`, type, v("Person")] as const,
      [`<http://f.example/1${at}>`, v("worksIn"), `<http://f.example/${at}>`] as const,
      [`<http://f.example/1${at}>`, v("born"), `"198${at}"^^<${xsd}gYear>`] as const,
    ]),
  ),
};

const described = { query: expect.stringMatching(/^SELECT \* WHERE/), count: expect.any(Number), by: "description" };
const checkOf = (known?: TypedRegistry["known"]) =>
  typedCheck({ data, federations: { land: ["cities", "countries"], all: Object.keys(data) }, known });
const url = (id: string): string => `<http://${id}.example/sparql>`;
const full = (text: string): string =>
  `PREFIX : <http://v.example/> PREFIX xsd: <${xsd}> ${text.replaceAll(/@(\w+) \{/g, (_, id) => `SERVICE ${url(id)} {`)}`;
const land = { federation: "land" };
const firm = { endpoint: "firm" };

describe("what known facts contradict is said with both sides, and what may have been meant", async () => {
  const { check } = await checkOf();
  it.each([
    [
      "wrong class",
      "{ ?c a :Country ; :people ?n }",
      land,
      /\?c is both an instance of :Country and a subject of :people/,
      ":City",
    ],
    [
      "wrong class where IRIs tell nothing",
      "{ ?o a :Office ; :worksIn ?x }",
      firm,
      /an instance of :Office and a subject of :worksIn/,
      "^:worksIn",
    ],
    [
      "reversed over a federation",
      "{ ?x :country ?c . ?c :people ?n . ?x :label ?l }",
      land,
      /\?c is both a value of :country .* and a subject of :people/,
      "^:country",
    ],
    [
      "reversed over SERVICE clauses",
      "{ @cities { ?x :country ?c } @countries { ?x :label ?l } }",
      {},
      /\?x is both a subject of :country .*city.* and a subject of :label .*country/,
      "^:country",
    ],
    ["a node that was skipped", "{ ?c :people ?n ; :label ?l }", land, /\?c is both/, ":country/:label"],
    ["one in a path", "{ ?c :country/:people ?n }", land, /the node between is both a value of :country/, undefined],
    [
      "a value as IRI",
      "{ ?c :name <http://v.example/City_1> ; :people ?n }",
      land,
      /:name has no value :City_1 \(xsd:string\)/,
      '"City 1"',
    ],
    [
      "a compared value as IRI",
      "{ ?c :name ?n FILTER(?n = :City_2) }",
      land,
      /\?n is both a value of :name \(xsd:string\) and :City_2/,
      '"City 2"',
    ],
    ["a number as text", '{ ?c :people "1000" }', land, /:people has no value "1000"/, "1000"],
    [
      "a compared number as text",
      '{ ?c :people ?n FILTER(?n > "1000") }',
      land,
      /\?n is both a value of :people \(number\) and "1000"/,
      "1000",
    ],
    [
      "a date as text",
      '{ ?c :founded ?d FILTER(?d < "1902-01-01") }',
      land,
      /\?d is both a value of :founded \(xsd:date\)/,
      `"1902-01-01"^^xsd:date`,
    ],
    [
      "a time for a date",
      '{ ?c :founded "1902-01-01T00:00:00"^^xsd:dateTime }',
      land,
      /:founded has no value/,
      `"1902-01-01"^^xsd:date`,
    ],
    [
      "a date with a blank",
      '{ ?c :founded ?d FILTER(?d < "1902-01-01 00:00:00") }',
      land,
      /\?d is both a value of :founded \(xsd:date\)/,
      `"1902-01-01"^^xsd:date`,
    ],
    ["what is no date", '{ ?c :founded "1902-02-30"^^xsd:date }', land, /:founded has no value/, undefined],
    ["a year as number", "{ ?p :born 1981 }", firm, /:born has no value "1981"/, `"1981"^^xsd:gYear`],
    ["text that has a language", '{ ?c :label "Land 1" }', land, /:label has no value "Land 1"/, '"Land 1"@en'],
    [
      "one of several constants",
      '{ ?c :people ?n FILTER(?n IN (1000, "2000")) }',
      land,
      /this part matches nothing/,
      "2000",
    ],
    [
      "alternatives of two variables",
      '{ ?c :people ?n ; :name ?t FILTER(?t = "City 1" || ?n > "2000") }',
      land,
      /\?n is both .*: this part matches nothing/,
      "2000",
    ],
    ["VALUES", '{ VALUES ?n { "1000" } ?c :people ?n }', land, /\?n is both/, "1000"],
    [
      "keys that are unlike",
      "{ @cities { ?c :countryCode ?x } @countries { ?x :label ?l } }",
      {},
      /\?x is both a value of :countryCode \(xsd:string\) and a subject of :label/,
      undefined,
    ],
    ["a subquery", "{ { SELECT ?c { ?c a :Country } } ?c :people ?n }", land, /\?c is both/, ":City"],
    ["EXISTS", "{ ?c a :Country FILTER EXISTS { ?c :people ?n } }", land, /\?c is both/, ":City"],
    ["OPTIONAL", "{ ?c a :Country OPTIONAL { ?c :people ?n } }", land, /this part matches nothing/, undefined],
  ] as const)("%s", async (_, where, place, message, meant) => {
    const checked = await check(full(`SELECT * ${where}`), place);
    expect(checked).toMatchObject({ valid: true, contradictions: [{ certain: true }] });
    const { message: said, statements } = checked.contradictions[0]!;
    expect(said).toMatch(message);
    // What the descriptions say of both sides, as questions.
    expect(statements).toEqual([
      { claim: expect.stringMatching(message), evidence: expect.arrayContaining([expect.objectContaining(described)]) },
    ]);
    expect(said).toContain(statements[0]?.claim);
    expect(checked.next).not.toBe("Run the query.");
    if (meant === undefined) return;
    expect(checked.suggested ?? checked.repairs.map(({ after }) => after).join(" ")).toContain(meant);
    if (checked.suggested !== undefined)
      expect(await check(checked.suggested, place)).toMatchObject({ contradictions: [] });
  });
});

describe("what was meant is not known: it is offered, never suggested", async () => {
  const { check } = await checkOf();
  it.each([
    ["a number for a text", "{ ?c :countryCode 42 ; :people ?n }", land, ['"42"']],
    ["keys of clauses", "{ @cities { ?c :countryCode ?x } @countries { ?x a :Country ; :label ?l } }", {}, []],
    [
      "keys within a federation",
      "{ ?c :countryCode ?x . ?x :label ?l }",
      land,
      [":countryCode/^:code ?x", "^:code/:label ?l"],
    ],
  ] as const)("%s", async (_, where, place, offered) => {
    const { suggested, repairs, contradictions } = await check(full(`SELECT * ${where}`), place);
    expect(contradictions.length).toBeGreaterThan(0);
    expect(suggested).toBeUndefined();
    expect(repairs.map(({ after }) => after)).toEqual(offered);
    for (const { why } of repairs) expect(why).toMatch(/^possible, not certain: /);
  });
});

it.each(["x", "1902", "31/02/1902", "13/13/1902", "1902-13-01"])(
  "a value that is no date is not offered as one: %s",
  async (text) => {
    const { check } = await checkOf();
    const { suggested, repairs } = await check(full(`SELECT * { ?c :founded "${text}" }`), land);
    expect({ suggested, repairs }).toEqual({ suggested: undefined, repairs: [] });
  },
);

describe("a day in another order", async () => {
  const { check } = await checkOf();
  it.each([
    ["25/03/1902", "1902-03-25"],
    ["03/25/1902", "1902-03-25"],
    ["25.3.1902", "1902-03-25"],
    ["1902/3/25", "1902-03-25"],
    ["02-02-1902", "1902-02-02"],
  ])("is suggested where it can be one day: %s", async (text, day) => {
    const [before, after] = [`"${text}"`, `"${day}"^^xsd:date`];
    for (const where of ["{ ?c :founded DATE }", "{ ?c :founded ?d FILTER(?d < DATE) }"]) {
      const query = (date: string): string => full(`SELECT * ${where.replace("DATE", date)}`);
      expect(await check(query(before), land)).toMatchObject({ suggested: query(after) });
      expect(await check(query(`${before}^^xsd:date`), land)).toMatchObject({ suggested: query(after) });
    }
  });

  it("is offered in both readings where the month is not known", async () => {
    const { suggested, repairs } = await check(full('SELECT * { ?c :founded "03/04/1902" }'), land);
    expect(suggested).toBeUndefined();
    expect(repairs.map(({ after }) => after)).toEqual(['"1902-04-03"^^xsd:date', '"1902-03-04"^^xsd:date']);
  });
});

describe("a day where there are times", async () => {
  const log = lines(
    ...some((at) => [
      [`<http://l.example/${at}>`, v("at"), `"2018-03-2${at}T1${at}:30:00Z"^^<${xsd}dateTime>`] as const,
    ]),
  );
  const { check } = await typedCheck({ data: { log } });
  const day = '"2018-03-22"^^xsd:date';
  const starts = (name: string): string => `STRSTARTS(STR(${name}), "2018-03-22")`;
  const time = (text: string): string => `"2018-03-22T${text}"^^xsd:dateTime`;
  it.each([
    ["?e :at ?t FILTER(?t = DAY)", `?e :at ?t FILTER(${starts("?t")})`],
    [
      "?e :at ?t FILTER(?e = <http://l.example/1> || DAY = $t)",
      `?e :at ?t FILTER(?e = <http://l.example/1> || ${starts("$t")})`,
    ],
    ["?e :at DAY", `?e :at ?time FILTER(${starts("?time")})`],
    ["?time :at DAY . ?e a ?c", `?time :at ?timeOfDay FILTER(${starts("?timeOfDay")})  . ?e a ?c`],
    ["?e :at ?t FILTER(?t < DAY)", `?e :at ?t FILTER(?t < ${time("00:00:00")})`],
    ["?e :at ?t FILTER(?t >= DAY)", `?e :at ?t FILTER(?t >= ${time("00:00:00")})`],
    ["?e :at ?t FILTER(?t <= DAY)", `?e :at ?t FILTER(?t <= ${time("23:59:59.999")})`],
    ["?e :at ?t FILTER(DAY < ?t)", `?e :at ?t FILTER(${time("23:59:59.999")} < ?t)`],
    ["?e :at ?t FILTER(DAY <= ?t)", `?e :at ?t FILTER(${time("00:00:00")} <= ?t)`],
  ])("%s", async (where, meant) => {
    for (const written of [day, '"2018-03-22"', '"22/03/2018"']) {
      const { suggested = "" } = await check(full(`SELECT * { ${where.replace("DAY", written)} }`), {
        endpoint: "log",
      });
      expect(suggested.replaceAll(/\s+/g, " ")).toBe(full(`SELECT * { ${meant} }`).replaceAll(/\s+/g, " "));
      expect(await check(suggested, { endpoint: "log" })).toMatchObject({ contradictions: [] });
    }
  });

  it("is offered as a moment where the times of a day cannot be written", async () => {
    const { suggested, repairs } = await check(full(`SELECT * { ?e :at ${day} ; a ?c }`), { endpoint: "log" });
    expect(suggested).toBeUndefined();
    expect(repairs.map(({ after }) => after)).toEqual([time("00:00:00")]);
  });
});

it("of a skipped node, another class and the step between are both offered", async () => {
  const { check } = await checkOf();
  const { suggested, repairs } = await check(full("SELECT * { ?c a :City ; :label ?l }"), land);
  expect(suggested).toBeUndefined();
  expect(repairs.map(({ after }) => after)).toEqual(expect.arrayContaining([":Country", ":country/:label ?l"]));
});

describe("a SERVICE that asks the same as another branch of a UNION", async () => {
  const shards = { one: data.cities, two: data.cities.replaceAll(/city\/(\d)/g, "city/2$1"), firm: data.firm };
  const { check } = await typedCheck({ data: shards });
  it.each(["one", "firm"])("is offered the shard that is not asked: %s", async (id) => {
    const branch = (at: string): string => `{ SERVICE ${url(at)} { ?c :name ?n } }`;
    const { suggested, repairs } = await check(full(`SELECT * { ${branch("one")} UNION ${branch(id)} }`));
    expect(repairs).toMatchObject([{ after: "SERVICE <two>" }]);
    expect(suggested).toBe(full(`SELECT * { ${branch("one")} UNION ${branch("two")} }`));
  });

  it("is offered it by its id where ids were sent", async () => {
    const branch = (id: string): string => `{ SERVICE <${id}> { ?c :name ?n } }`;
    const { suggested } = await check(full(`SELECT * { ${branch("one")} UNION ${branch("one")} }`));
    expect(suggested).toBe(full(`SELECT * { ${branch("one")} UNION ${branch("two")} }`));
  });

  it("is not meant where the same is joined with a UNION", async () => {
    const names = `SERVICE ${url("one")} { ?c :name ?n }`;
    const { suggested } = await check(full(`SELECT * { { { ${names} } UNION { ?c :people ?p } } { ${names} } }`));
    expect(suggested ?? "").not.toContain("two");
  });
});

it("keys that known values join are said with the expression that does", async () => {
  const read = (property: string | undefined, keys: readonly string[]): Harvest => ({
    endpoint: "http://x.example/sparql",
    describedAt: "2026-01-01T00:00:00Z",
    harvestedAt: "2026-01-01T00:00:00Z",
    complete: true,
    classes: property === undefined ? ["http://v.example/Country"] : [],
    properties: [property ?? "http://v.example/label"],
    rows: keys.map((key) => (property === undefined ? [key, '"x"@en', 0, 0, 1] : ["", key, -1, 0, 1])),
    whole: [],
    cost: { requests: 1, bytes: 1, ms: 1 },
  });
  const codes = ["AA", "BB", "CC", "DD", "EE", "FF"];
  const values = new Map([
    [
      "cities",
      read(
        "http://v.example/countryCode",
        codes.map((code) => JSON.stringify(code)),
      ),
    ],
    [
      "countries",
      read(
        undefined,
        codes.map((code) => `http://d.example/country/${code}`),
      ),
    ],
  ]);
  const { check } = await typedCheck({ data, values });
  const { contradictions } = await check(
    full("SELECT * { @cities { ?c :countryCode ?x } @countries { ?x :label ?l } }"),
  );
  expect(contradictions[0]?.message).toContain(
    'Known values join if written alike (node): bind IRI(CONCAT("http://d.example/country/", STR(?x))) for the second.',
  );
});

describe("nothing is said where all fits, or may fit", async () => {
  const { check } = await checkOf();
  it.each([
    ["joins over a federation", "{ ?c a :City ; :country ?x ; :people ?n . ?x :label ?l ; :capital ?c }", land],
    ["joins over SERVICE clauses", "{ @cities { ?c :country ?x } @countries { ?x a :Country ; :label ?l } }", {}],
    ["keys of the same kind", "{ ?c :countryCode ?k . ?x :code ?k }", land],
    ["other datatypes of numbers", "{ ?c :people ?n FILTER(?n > 1.5e3) }", land],
    ["branches of UNION", "{ { ?c a :Country } UNION { ?c a :City } ?c :people ?n }", land],
    ["a variable of two OPTIONALs", "{ ?c a :City OPTIONAL { ?c :name ?t } OPTIONAL { ?c :people ?t } }", land],
    ["another variable of a subquery", "{ ?c a :Country { SELECT (COUNT(?c) AS ?n) { ?c a :City } } }", land],
    ["MINUS", "{ ?c a :Country MINUS { ?c :people ?n } }", land],
    ["NOT EXISTS", "{ ?c a :Country FILTER NOT EXISTS { ?c :people ?n } }", land],
    ["paths that may be empty", "{ ?c a :City ; :country?/:people ?n }", land],
    ["alternatives of paths", "{ ?c a :City ; :label|:name ?n }", land],
    ["a negated comparison", '{ ?c :people ?n FILTER(!(?n = "x") || BOUND(?n)) }', land],
    ["a function of the value", '{ ?c :people ?n FILTER(STR(?n) = "1000") }', land],
    ["named graphs", "{ GRAPH ?g { ?c a :Country ; :people ?n } }", firm],
    ["another endpoint's instances of the same namespace", "{ ?o a :Office ; :floor ?n }", firm],
  ] as const)("%s", async (_, where, place) => {
    expect(await check(full(`SELECT * ${where}`), place)).toMatchObject({ contradictions: [], repairs: [] });
  });
});

describe("facts that are not certain", () => {
  const wrongClass = "{ ?c a :Country ; :people ?n }";
  const reversed = "{ ?x :country ?c . ?c a :City . ?x a :Country }";
  it.each([
    ["counted", "{ ?o a :Office ; :worksIn ?x }", "all", true],
    ["counted", reversed, "all", true],
    ["partial", reversed, "land", false],
    ["old", reversed, "land", false],
    ["partial", wrongClass, "land", undefined],
    ["old", wrongClass, "land", undefined],
  ] as const)("%s: %s over %s is certain: %s", async (known, where, federation, certain) => {
    const { check } = await checkOf(known);
    const { contradictions } = await check(full(`SELECT * ${where}`), { federation });
    expect(contradictions.map((each) => each.certain)).toEqual(certain === undefined ? [] : [certain]);
    if (certain === false) expect(contradictions[0]?.message).toContain("which may lack some");
  });
});
