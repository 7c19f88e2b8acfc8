import { array, assert, asyncProperty, constantFrom, nat } from "fast-check";
import { describe, expect, it } from "vitest";
import { openCheck } from "./checked-catalog.ts";

const { prepared, checked } = openCheck();
const foaf = "PREFIX foaf: <http://xmlns.com/foaf/0.1/>";
const ex = "PREFIX ex: <http://vocabulary.example/>";
const names = `${foaf} SELECT ?n { SERVICE <people> { ?p a foaf:Person ; foaf:name ?n } }`;

/** What is sent, what is run instead, and the kinds of the repairs. */
const table: readonly (readonly [string, string, readonly string[]])[] = [
  // Code fences, reasoning and prose.
  [`\`\`\`sparql\n${names}\n\`\`\``, names, ["text-around", "text-around"]],
  [`~~~\n${names}\n~~~`, names, ["text-around", "text-around"]],
  [`\`\`\`\n${names}`, names, ["text-around"]],
  [`Here is the query:\n\n\`\`\`sparql\n${names}\n\`\`\`\nIt lists names.`, names, ["text-around", "text-around"]],
  [`<think>SELECT ?x { ... } maybe?</think>\n${names}`, names, ["text-around"]],
  [`<think>First\n\`\`\`\nASK {}\n\`\`\`</think>\n\`\`\`\n${names}\n\`\`\``, names, ["text-around", "text-around"]],
  [`I would select the names: ${names}`, names, ["text-around"]],
  [`${names}\n\nThis gives the names of all persons.`, names, ["text-around"]],
  [`Query: \`${names}\``, names, ["text-around", "text-around"]],
  [`${names} LIMIT 5\nIt stops after five rows, as asked.`, `${names} LIMIT 5`, ["text-around"]],
  // Words of updates in sentences and comments.
  [`With this query you get the names: ${names}`, names, ["text-around"]],
  [`Insert it as it is, or delete the rest:\n${names}`, names, ["text-around"]],
  [`# with names\n${names.replace(foaf, "")}`, `${foaf} # with names\n${names.replace(foaf, "")}`, ["prefix-missing"]],
  // Prefixes: of the endpoint, of the catalogue, well known; where they are none of these, the query's own names decide.
  [names.slice(foaf.length + 1), names.replace("> ", ">\n"), ["prefix-missing"]],
  [
    "SELECT * { SERVICE <works> { ?s ex:painter ?p ; ex:width ?w } }",
    `${ex}\nSELECT * { SERVICE <works> { ?s ex:painter ?p ; ex:width ?w } }`,
    ["prefix-missing"],
  ],
  [
    "SELECT * { ?s art:painter ?o . ?o foaf:name ?n . SERVICE <works> { ?s ?p ?o } }",
    `PREFIX art: <http://vocabulary.example/>\n${foaf}\nSELECT * { ?s art:painter ?o . ?o foaf:name ?n . SERVICE <works> { ?s ?p ?o } }`,
    ["prefix-missing", "prefix-missing"],
  ],
  // Braces.
  [names.replace(/ }$/, ""), `${names.replace(/ }$/, "")} }`, ["brace-missing"]],
  [`${names.replace(/ } }$/, "")} LIMIT 3`, `${names.replace(/ } }$/, "")} }} LIMIT 3`, ["brace-missing"]],
  [`${names} }`, names, ["brace-surplus"]],
  [
    `${foaf} SELECT * WHERE SERVICE <people> { ?p foaf:name ?n } }`,
    `${foaf} SELECT * WHERE { SERVICE <people> { ?p foaf:name ?n } }`,
    ["brace-missing"],
  ],
  // Names of endpoints.
  ["ASK { SERVICE people { ?s ?p ?o } }", "ASK { SERVICE <people> { ?s ?p ?o } }", ["service-name"]],
  ["ASK { SERVICE SILENT 'People' { ?s ?p ?o } }", "ASK { SERVICE SILENT <people> { ?s ?p ?o } }", ["service-name"]],
  [
    `${ex} ${foaf} SELECT * { SERVICE <works> { ?s ex:painter ?p } ?p foaf:name ?n }`,
    `${ex} ${foaf} SELECT * { SERVICE <works> { ?s ex:painter ?p } ?p foaf:name ?n }`,
    [],
  ],
  // Several at once.
  [
    "Sure!\n```\nSELECT ?n WHERE { ?p foaf:knows ?q ; foaf:name ?n\n```",
    `${foaf}\nSELECT ?n WHERE { ?p foaf:knows ?q ; foaf:name ?n }`,
    ["text-around", "text-around", "brace-missing", "prefix-missing"],
  ],
];

describe("what cannot change the meaning is repaired:", () => {
  it.each(table)("%j", async (sent, run, kinds) => {
    const found = await prepared(sent);
    expect(found.query.replaceAll(/\s+/g, " ").trim()).toBe(run.replaceAll(/\s+/g, " ").trim());
    expect(found.repairs.map(({ kind }) => kind)).toEqual(kinds);
    expect(found.repairs.every(({ applied }) => applied)).toBe(true);
    // Once repaired it is left alone.
    expect(await prepared(found.query)).toMatchObject({ query: found.query, repairs: [] });
  });

  it("the name of the endpoint, whatever it is written like", async () => {
    for (const endpoint of [
      "people",
      "People",
      " <people> ",
      "http://people.example/sparql/",
      "https://PEOPLE.example/sparql",
    ]) {
      expect(await prepared("ASK { ?s ?p ?o }", { endpoint })).toMatchObject({ endpoint: "people" });
    }
    expect(await prepared("ASK { ?s ?p ?o }", { endpoint: "both" })).toMatchObject({ federation: "both" });
    await expect(prepared("ASK {}", { endpoint: "peple" })).rejects.toMatchObject({ code: "ENDPOINT_UNKNOWN" });
  });
});

describe("what may be part of the query is not taken for prose", () => {
  it.each([
    ["a misspelt solution modifier", `${names} ORDR BY ?n`],
    ["a misspelt declaration", `PREFX ex: <http://vocabulary.example/> ${names}`],
    ["a fault inside", names.replace("foaf:name ?n", "foaf:name ?n ?m ?o")],
    [
      "one of two different queries",
      `\`\`\`\n${names}\n\`\`\`\nor\n\`\`\`\nASK { SERVICE <people> { ?s ?p ?o } }\n\`\`\``,
    ],
    [
      "a brace missing further in",
      `${foaf} SELECT * { SERVICE <people> { ?p foaf:name ?n OPTIONAL ?p foaf:knows ?q } } }`,
    ],
    ["text without a query", "Please give me the names of all persons."],
  ])("%s", async (_, text) => {
    expect(await prepared(text)).toMatchObject({ query: text, repairs: [] });
    expect(await checked(text)).toMatchObject({ valid: false, query: text, problem: { code: "QUERY_SYNTAX" } });
  });
});

describe("an update is refused with the query that it may have meant", () => {
  it.each([
    [
      `${foaf} INSERT { ?p a ?n } WHERE { SERVICE <people> { ?p foaf:name ?n } }`,
      `${foaf} SELECT ?p ?n WHERE { SERVICE <people> { ?p foaf:name ?n } }`,
    ],
    [`${foaf} DELETE WHERE { ?p foaf:name ?n }`, `${foaf} SELECT * WHERE { ?p foaf:name ?n }`],
    ["```\nINSERT DATA { <urn:a> <urn:b> 1 }\n```", "ASK { <urn:a> <urn:b> 1 }"],
    ["CLEAR ALL", undefined],
  ])("%s", async (text, suggested) => {
    const found = await checked(text);
    expect(found).toMatchObject({ valid: false, query: text, problem: { code: "UPDATE_REFUSED" } });
    expect(found.suggested?.trim()).toBe(suggested);
    expect(await prepared(text)).toMatchObject({ query: text, repairs: [] });
  });
});

const pieces = constantFrom(
  ..."SELECT|*|?n|{|}|WHERE|SERVICE|<people>|people|foaf:name|ex:painter|?p|.|;|a|FILTER(|)|```|\n|<think>|</think>|Here it is|LIMIT 3|PREFIX|foaf:|<http://xmlns.com/foaf/0.1/>|'x'|ASK".split(
    "|",
  ),
);

describe("for any text", () => {
  it("a repaired query parses, and says what was done; otherwise it is what was sent", async () => {
    let repaired = 0;
    await assert(
      asyncProperty(array(pieces, { maxLength: 14 }), nat(names.length), async (noise, cut) => {
        for (const text of [
          noise.join(" "),
          `${noise.join(" ")} ${names.slice(cut)}`,
          names.slice(0, cut) + noise.join(" "),
        ]) {
          const { query, repairs } = await prepared(text);
          if (repairs.length === 0) expect(query).toBe(text);
          else {
            repaired++;
            expect(await prepared(query)).toMatchObject({ query, repairs: [] });
            expect((await checked(query)).problem?.code).not.toBe("QUERY_SYNTAX");
          }
        }
      }),
      { numRuns: 150, seed: 16 },
    );
    expect(repaired).toBeGreaterThan(15);
  });
});
