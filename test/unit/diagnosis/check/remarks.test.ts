import { describe, expect, it } from "vitest";
import { createRemarks } from "../../../../src/diagnosis/check/remarks.ts";
import { createPlanner, type PlanRequest } from "../../../../src/plan/create-planner.ts";
import { notesIfEmpty } from "../../../../src/plan/passes.ts";
import type { PlanNote } from "../../../../src/plan/query-plan.ts";
import { describedModels } from "../../../support/described-models.ts";
import { classPartition, descriptionOf, propertyPartition } from "../../../support/synthetic-catalog.ts";
import { toCatalog, toEntry } from "../../plan/plan-cases.ts";

const foaf = "http://xmlns.com/foaf/0.1/";
const ex = "http://vocabulary.example/";
const catalog = toCatalog(
  [toEntry("people"), toEntry("works"), toEntry("unseen")],
  [{ id: "both", title: "both", members: ["people", "works"], memberKeywords: [] }],
);

function planner() {
  const { models, finder: terms } = describedModels({ entries: catalog.entries });
  const named = propertyPartition(`${foaf}name`, { triples: 20 });
  const people = descriptionOf({
    classPartitions: [classPartition(`${foaf}Person`, 10, [named])],
    propertyPartitions: [named, propertyPartition(`${ex}born`, { triples: 9 })],
    classesComplete: true,
    propertiesComplete: true,
  });
  models.setDescription("people", { ...people, finishedAt: "2026-01-02T03:04:05Z" });
  const works = descriptionOf({ propertyPartitions: [named], classesComplete: false, propertiesComplete: true });
  models.setDescription("works", { ...works, finishedAt: "2026-01-01T00:00:00Z" });
  const remarks = createRemarks(terms, catalog);
  return createPlanner({ catalog, egress: "catalog", publicUrl: "http://fedway.example", terms, remarks });
}

const prefixes = `PREFIX foaf: <${foaf}> PREFIX ex: <${ex}> `;
const ofPeople = "by the description of 2026-01-02 03:04.";

/** Notes on an empty answer. */
function notesOn(text: string, more: Partial<PlanRequest> = {}): readonly PlanNote[] {
  const request = { text: prefixes + text, strict: false, defaultGraphs: [], namedGraphs: [], ...more };
  const { plan } = planner().plan(request);
  if (plan.kind === "rejected") throw plan.reason;
  expect(plan.notes.map(({ code }) => code)).not.toContain("TERM_UNKNOWN");
  return notesIfEmpty(plan);
}

describe("of an empty answer it is said, with the date of the description, that an endpoint has no such term", () => {
  it.each([
    [
      "SELECT * { SERVICE <people> { ?s foaf:nme ?n ; a foaf:Persn } }",
      {},
      [
        `\`people\` has no foaf:nme, ${ofPeople} Did you mean foaf:name?`,
        `\`people\` has no foaf:Persn, ${ofPeople} Did you mean foaf:Person?`,
      ],
    ],
    // Steps of paths, but not of negated ones.
    [
      "SELECT * { ?s foaf:name/^ex:x ?n ; !(ex:y) ?o ; a/ex:z* ?c ; ?p ?v }",
      { endpointId: "people" },
      [`\`people\` has no ex:x, ${ofPeople}`, `\`people\` has no ex:z, ${ofPeople}`],
    ],
    [
      "SELECT * { ?s <https://vocabulary.example/born> ?o }",
      { endpointId: "people" },
      [`\`people\` has no <https://vocabulary.example/born>, ${ofPeople} Did you mean ex:born?`],
    ],
    // Of what may be missing in the description, or is not described, nothing.
    ["SELECT * { SERVICE <works> { ?s a foaf:Person } SERVICE <unseen> { ?s ex:x ?y } }", {}, []],
    [
      "SELECT * { SERVICE <people> { ?s ex:x ?n } SERVICE <works> { ?s ex:born ?n } }",
      {},
      [`\`people\` has no ex:x, ${ofPeople}`, "`works` has no ex:born, by the description of 2026-01-01 00:00."],
    ],
    [
      "SELECT * { ?s ex:x ?n ; ex:brn ?b }",
      { federationId: "both" },
      [
        "None of the 2 endpoints has ex:x, by the descriptions of 2026-01-01 00:00 or later.",
        "None of the 2 endpoints has ex:brn, by the descriptions of 2026-01-01 00:00 or later. Did you mean ex:born?",
      ],
    ],
  ] as const)("%s", (text, place, expected) =>
    expect(notesOn(text, place).map(({ message }) => message)).toEqual(expected),
  );
});

it("each note shows the questions that descriptions answer, with their date", () => {
  const by = "description";
  const ofTerm = (query: string) => [
    { endpoint: "works", query, count: 0, time: "2026-01-01T00:00:00Z", by },
    { endpoint: "people", query, count: 0, time: "2026-01-02T03:04:05Z", by },
  ];
  const notes = notesOn("SELECT * { ?s ex:x ?n }", { federationId: "both" });
  expect(notes.map(({ statements }) => statements)).toEqual([
    [{ claim: "None of the 2 endpoints has ex:x", evidence: ofTerm(`SELECT * WHERE { ?s <${ex}x> ?o }`) }],
  ]);
  const [{ statements } = {}] = notesOn("SELECT * { SERVICE <people> { ?s a foaf:Persn } }");
  expect(statements?.[0]?.evidence.map(({ query, count }) => [query, count])).toEqual([
    [`SELECT * WHERE { ?s a <${foaf}Persn> }`, 0],
  ]);
});
