import { describe, expect, it } from "vitest";
import { createPlanner } from "../../../src/plan/create-planner.ts";
import { catalogEntry, createCatalog } from "../../support/catalog-entry.ts";
import type { Triple } from "../../support/described-data.ts";
import { describedModels } from "../../support/described-models.ts";
import { truthfulDescription } from "../../support/truthful-description.ts";
import { truthOf } from "../../support/void-truth.ts";
import { partsOf } from "../../../src/registry/schema.ts";
import type { VoidDescription } from "../../../src/registry/descriptions.ts";

const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const ns = "http://x.example/";
const x = (name: string): string => `<${ns}${name}>`;

const person = (name: string, ...more: readonly Triple[]): readonly Triple[] => [
  [x(name), type, x("Person")],
  [x(name), x("name"), `"${name}"`],
  ...more,
];
const data: Readonly<Record<string, readonly Triple[]>> = {
  // Two horizontal shards of people, and one with the ages of all.
  s1: person("ann", [x("d1"), type, x("Dog")], [x("d1"), x("owner"), x("ann")]),
  s2: person("bob"),
  ages: [
    [x("ann"), x("age"), '"40"'],
    [x("bob"), x("age"), '"50"'],
  ],
  // Members of a federation with shops, whose descriptions alone say that both have shops.
  shop1: [
    [x("a"), type, x("Shop")],
    [x("a"), x("sells"), '"tea"'],
  ],
  shop2: [
    [x("b"), type, x("Shop")],
    [x("b"), x("sells"), '"tin"'],
  ],
  alone: [[x("c"), x("colour"), '"red"']],
};

const part = (others: Readonly<Record<string, readonly string[]>>): VoidDescription["built"] => ({
  properties: [],
  parts: [
    {
      class: `${ns}Person`,
      parts: Object.keys(others).length + 1,
      siblings: Object.entries(others).map(([endpoint, properties]) => ({
        endpoint,
        properties: properties.map((name) => `${ns}${name}`),
      })),
    },
  ],
});
const built: Readonly<Record<string, VoidDescription["built"]>> = {
  s1: part({ s2: ["name"], ages: ["age"] }),
  s2: part({ s1: ["name"], ages: ["age"] }),
};

const descriptions = Object.entries(data).map(([id, triples]) => {
  const description = { ...truthfulDescription(truthOf(triples)), endpoint: `http://${id}.example/sparql` };
  return [id, { ...description, built: built[id] }] as const;
});
const { models, finder } = describedModels({ descriptions });
const federation = (id: string, ...members: readonly string[]) => ({ id, title: id, members, memberKeywords: [] });

/** Notes about parts of a query that is sent to a place, by what they say. */
function notesOf(
  text: string,
  place: object = {},
  federations = [federation("people", "s1", "s2", "ages"), federation("shops", "shop1", "shop2")],
) {
  const catalog = createCatalog(
    Object.keys(data).map((id) => catalogEntry(id)),
    [],
    { publicUrl: "http://fedway.example", federations, isDescribed: () => true },
  );
  const planner = createPlanner({
    catalog,
    terms: finder,
    parts: (id) => partsOf(id, models.get(id)?.described?.built, { models, catalog }),
    egress: "catalog",
    publicUrl: "http://fedway.example",
  });
  const request = { text: `PREFIX : <${ns}> ${text}`, strict: false, defaultGraphs: [], namedGraphs: [], ...place };
  const { plan } = planner.plan(request);
  if (plan.kind === "rejected") throw plan.reason;
  return plan.notes.filter(({ code }) => code === "PART_ASKED");
}

describe("a query on one of two parts says so", () => {
  const s1 = "s1 has 1 of 2 parts of Person; the other: s2.";
  it.each([
    [
      "at its route",
      "SELECT ?n { ?p a :Person ; :name ?n }",
      { endpointId: "s1" },
      `${s1} Federation people asks both.`,
    ],
    ["in SERVICE", "SELECT ?n { SERVICE <s1> { ?p :name ?n } }", {}, `${s1} SERVICE <people> asks both.`],
    [
      "for instances",
      "SELECT (COUNT(?p) AS ?k) { SERVICE <s1> { ?p a :Person } }",
      {},
      `${s1} SERVICE <people> asks both.`,
    ],
    [
      "beside the endpoint of another property",
      "SELECT ?n { SERVICE <s1> { ?p :name ?n } SERVICE <ages> { ?p :age ?a } }",
      {},
      `${s1} SERVICE <people> asks both.`,
    ],
    [
      "of another thing",
      "SELECT ?n { SERVICE <s1> { ?d a :Dog ; :owner ?p . ?p :name ?n } }",
      {},
      `${s1} SERVICE <people> asks both.`,
    ],
    [
      "where only descriptions know it",
      "SELECT * { SERVICE <shop1> { ?s :sells ?x } }",
      {},
      "shop1 is not the only one with Shop; also: shop2. SERVICE <shops> asks both.",
    ],
  ])("%s", (_name, text, place, message) => {
    expect(notesOf(text, place).map((note) => note.message)).toEqual([message]);
  });

  it("with the query that asks both", () => {
    const [note] = notesOf("SELECT ?n { SERVICE <s1> { ?p :name ?n } }");
    expect(note?.query).toBe(`PREFIX : <${ns}> SELECT ?n { SERVICE <people> { ?p :name ?n } }`);
    expect(notesOf(note?.query ?? "").length).toBe(0);
  });

  it("with the federation of all described endpoints where there is no other", () => {
    const [note] = notesOf("SELECT ?n { SERVICE <s1> { ?p :name ?n } }", {}, []);
    expect(note?.message).toBe(`${s1} SERVICE <catalog> asks both.`);
  });
});

describe("a federation is never put where its rows would count twice", () => {
  const ages = "{ SERVICE <ages> { ?p :age ?n } }";
  const names = (id: string): string => `{ SERVICE <${id}> { ?p :name ?n } }`;
  it.each([
    [
      "the same part in two branches",
      `${names("s1")} UNION ${names("s1")}`,
      "One SERVICE <people> in the place of the branches",
    ],
    [
      "in three",
      `${names("s1")} UNION ${ages} UNION ${names("s1")}`,
      "One SERVICE <people> in the place of the branches",
    ],
    ["other properties", `${names("s1")} UNION ${ages}`, "SERVICE <people> asks both."],
    ["joined", `{ ${names("s1")} UNION ${ages} } ${names("s1")}`, "SERVICE <people> asks both."],
  ])("%s", (_name, where, said) => {
    const [note] = notesOf(`SELECT * { ${where} }`);
    expect(note?.message).toContain(`the other: s2. ${said}`);
    expect(note?.query === undefined).toBe(said.startsWith("One"));
  });
});

describe("no part is missing", () => {
  it.each([
    [
      "where both are asked",
      "SELECT ?n { { SERVICE <s1> { ?p :name ?n } } UNION { SERVICE <s2> { ?p :name ?n } } }",
      {},
    ],
    ["in their federation", "SELECT ?n { ?p :name ?n }", { federationId: "people" }],
    ["where no endpoint is named", "SELECT ?n { ?p :name ?n }", {}],
    ["beside the federation", "SELECT ?n { SERVICE <s1> { ?p :name ?n } SERVICE <people> { ?p :name ?n } }", {}],
    ["of a constant subject", "SELECT ?n { SERVICE <s1> { :ann :name ?n } }", {}],
    ["of a property that the others lack", "SELECT ?n { SERVICE <ages> { ?p :age ?n } }", {}],
    ["of another class", "SELECT ?p { SERVICE <s1> { ?d a :Dog ; :owner ?p } }", {}],
    ["of what no other endpoint has", "SELECT * { SERVICE <alone> { ?s :colour ?c } }", {}],
  ])("%s", (_name, text, place) => {
    expect(notesOf(text, place)).toEqual([]);
  });
});
