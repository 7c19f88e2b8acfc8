import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { choice, nameList, namesIn, readArguments } from "../../../src/agent/arguments.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";

const tool = {
  name: "look",
  input: Type.Object({
    question: Type.String({ minLength: 1, maxLength: 100 }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
    exact: Type.Optional(Type.Boolean()),
    kind: Type.Optional(choice(["class", "property"])),
    endpoints: Type.Optional(nameList("ids")),
  }),
};

const read = (given: unknown) => readArguments(tool, given).args;

function refusal(given: unknown): string {
  try {
    read(given);
  } catch (error) {
    if (error instanceof FedwayError) return `${error.code} ${error.message} ${error.details.next ?? ""}`;
    throw error;
  }
  return "taken";
}

describe("arguments as models send them", () => {
  it.each([
    ["as they should be", { question: "q", limit: 5, exact: true }, { question: "q", limit: 5, exact: true }],
    ["numbers and booleans as strings", { question: "q", limit: " 5 ", exact: "True" }, { limit: 5, exact: true }],
    ["numbers for strings", { question: 42 }, { question: "42" }],
    ["null for absent", { question: "q", limit: null, kind: null }, { question: "q" }],
    ["numbers beyond the bounds", { question: "q", limit: 1e9 }, { limit: 20 }],
    ["fractions", { question: "q", limit: 2.6 }, { limit: 3 }],
    ["other case", { question: "q", kind: "Class " }, { kind: "class" }],
    ["a list of one for a string", { question: ["q"] }, { question: "q" }],
    ["names in another spelling", { Question: "q", LIMIT: 5, "e-xact": 1 }, { question: "q", limit: 5, exact: true }],
    ["one argument in two spellings that agree", { question: "q", Limit: "2", limit: 2, LIMIT: null }, { limit: 2 }],
    ["all of it as JSON text", '{"question":"q","limit":"3"}', { question: "q", limit: 3 }],
  ])("takes %s", (_what, given, expected) => {
    expect(read(given)).toMatchObject(expected);
  });

  const select = 'SELECT * { ?s ?p "x" }';
  it.each([
    ["another name", { sparql: select }],
    ["a list of one by another name", { queries: [select] }],
    ["a wrapper", { arguments: { query: select } }],
    ["a wrapper as JSON text, with the name of the tool", { name: "run", parameters: JSON.stringify({ q: select }) }],
    ["the call in the query", { query: JSON.stringify({ name: "run", arguments: { query: select } }) }],
    ["a fenced call", { query: `\`\`\`json\n${JSON.stringify({ query: select })}\n\`\`\`` }],
    ["a call that is not closed", { query: `{"query": "${select}"` }],
    ["a call as a function", { query: `run(query="${select}", endpoint="here")` }],
    ["an assignment", { query: `query=${select}` }],
    ["JSON of the text", { query: JSON.stringify(select) }],
  ])("takes the query from %s", (_what, given) => {
    const { Optional, Object: object, String: string } = Type;
    const input = object({ query: string(), endpoint: Optional(string()) });
    expect(readArguments({ name: "run", input }, given).args.query).toBe(select);
  });

  it("notes other names, and says first what a call is about", () => {
    const input = Type.Object({ query: Type.Optional(Type.String()), endpoint: Type.Optional(Type.String()) });
    const given = { sql: "SELECT", dataset: "people" };
    expect(readArguments({ name: "run", input }, given)).toEqual({
      args: { query: "SELECT", endpoint: "people" },
      notes: ["The argument sql was read as query.", "The argument dataset was read as endpoint."],
    });
    expect(() => readArguments({ name: "run", input }, { nothing: 1 })).toThrow(
      expect.objectContaining({ details: { next: "Call run(query, endpoint?)." } }),
    );
  });

  it.each([
    'SELECT * { ?s ?p "x" }',
    "PREFIX q: <http://x/> SELECT * { ?s q:p ?o }",
    "# query: all\nASK { ?s ?p 1 }",
    "BASE <http://x/> SELECT * { ?s <q> ?o }",
  ])("takes a legal query as it is: %s", (query) => {
    const input = Type.Object({ query: Type.String() });
    expect(readArguments({ name: "run", input }, { query })).toEqual({ args: { query }, notes: [] });
  });

  it.each([["a,b"], [["a", "b"]], ['["a","b"]'], [" a , b ,"]])("reads the list %j", (endpoints) => {
    expect(namesIn(read({ question: "q", endpoints }).endpoints)).toEqual(["a", "b"]);
  });

  it.each([
    ["nothing", undefined, "question is missing"],
    [
      "one argument in two spellings",
      { question: "q", Limit: 1, limit: 2 },
      "Limit and limit are one argument and differ",
    ],
    ["one argument in two other spellings", { question: "q", Limit: 1, LIMIT: 2 }, "Limit and LIMIT are one argument"],
    ["names that every object has", { question: "q", toString: 1 }, '"toString" is not known'],
    ["null", null, "question is missing"],
    ["only null", { question: null }, "question is missing"],
    ["blanks", { question: "  " }, "question is empty"],
    ["a list of arguments", ["q"], "not a JSON object"],
    ["text that is no JSON", "question=q", "not a JSON object"],
    ["an object for a string", { question: { a: 1 } }, "question must be a string"],
    ["a word for a number", { question: "q", limit: "many" }, "limit must be a number"],
    ["not a number", { question: "q", limit: Number.NaN }, "limit must be a number"],
    ["an unknown word", { question: "q", kind: "entity" }, "kind must be class or property"],
    ["an unknown argument", { question: "q", limits: 3 }, '"limits" is not known, limit is'],
    ["an argument of all objects", { question: "q", constructor: 1 }, '"constructor" is not known'],
    ["a megabyte", { question: "x".repeat(1 << 20) }, "question has 1048576 characters, 100 are allowed"],
    ["a megabyte of a name", { question: "q", ["x".repeat(1 << 20)]: 1 }, "is not known"],
  ])("refuses %s, and says how to call", (_what, given, reason) => {
    const told = refusal(given);
    expect(told).toContain("REQUEST_INVALID");
    expect(told).toContain(reason);
    expect(told.length).toBeLessThan(300);
  });

  it("names everything that is wrong at once", () => {
    const told = refusal({ limit: "x", exact: "perhaps" });
    expect(told).toContain("limit must be a number; exact must be true or false; question is missing");
    expect(told).toContain("look(question, limit?, exact?, kind?, endpoints?)");
  });

  it("does not call an argument missing that is refused", () => {
    expect(refusal({ question: "x".repeat(101) })).not.toContain("missing");
  });

  it("refuses lists of more names than anybody means", () => {
    expect(() => namesIn(Array.from({ length: 51 }, (_, at) => `e${at}`).join(","))).toThrow("A list has 51 names");
  });
});
