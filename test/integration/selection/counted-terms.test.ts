import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { SparqlRequest } from "../../../src/outbound/sparql-request.ts";
import { answerDifference } from "../../support/canonical-answer.ts";
import { type ChangingMembers, openChangingMembers, verifyMs } from "../../support/changing-members.ts";

// Members of which no triple was read, but the terms of each property were counted: apart, they compute what they would send.

const integer = (value: number): string => `"${value}"^^<http://www.w3.org/2001/XMLSchema#integer>`;
const subject = (folder: string, number: number): string => `<http://x.example/${folder}/${number}>`;

/** Things in these folders, each with a number and a maker. */
const thingsIn = (...folders: readonly string[]): Set<string> =>
  new Set(
    folders.flatMap((folder) =>
      Array.from({ length: 120 }, (_, number) => [
        `${subject(folder, number)} <urn:size> ${integer(number % 50)}`,
        `${subject(folder, number)} <urn:maker> <http://makers.example/${number % 5}>`,
      ]).flat(),
    ),
  );

const count = "SELECT (COUNT(*) AS ?n) { ?x <urn:size> ?size }";
const queries = [
  count,
  "SELECT (COUNT(*) AS ?n) (SUM(?size) AS ?sum) { ?x <urn:size> ?size ; <urn:maker> ?m }",
  "SELECT ?m (AVG(?size) AS ?mean) { ?x <urn:size> ?size ; <urn:maker> ?m } GROUP BY ?m",
  "SELECT ?x ?size { ?x <urn:size> ?size } ORDER BY DESC(?size) ?x LIMIT 3",
  "SELECT ?x ?m { ?x <urn:size> 7 ; <urn:maker> ?m }",
  "SELECT * { ?x <urn:size> 7 }",
  `SELECT * { ${subject("b", 7)} ?p ?o }`,
];

async function withMembers(
  data: readonly ReadonlySet<string>[],
  test: (members: ChangingMembers) => Promise<void>,
  onSent?: (request: SparqlRequest) => void,
): Promise<void> {
  const members = await openChangingMembers(data, "counted", undefined, undefined, { ...(onSent && { onSent }) });
  try {
    await members.settle();
    await test(members);
  } finally {
    await members.close();
  }
}

/** Asks all queries, which must be answered rightly. */
async function shouldBeRight(members: ChangingMembers): Promise<ReadonlyMap<string, number>> {
  const requests = new Map<string, number>();
  for (const text of queries) {
    const asked = await members.ask(text, true);
    expect(
      answerDifference(members.expected(text), asked.answer),
      `${text}\n${asked.asked.join("\n")}`,
    ).toBeUndefined();
    requests.set(text, asked.bytes);
    await members.settle();
  }
  return requests;
}

it.each([
  ["folders", [thingsIn("a"), thingsIn("b")]],
  ["folders that differ in case, and by an escape", [thingsIn("a", "B"), thingsIn("b", "%61")]],
])("compute numbers where they are: %s", (_, data) =>
  withMembers(data, async (members) => {
    const apart = await shouldBeRight(members);
    expect(apart.get(count)).toBeLessThan(1_000);
  }),
);

it.each([
  ["one begins with the prefix of the other", [thingsIn("a"), thingsIn("a/b", "b")]],
  ["one folder is at both", [thingsIn("a", "b"), thingsIn("b", "c")]],
])("send rows where %s", (_, data) =>
  withMembers(data, async (members) => {
    const sent = await shouldBeRight(members);
    expect(sent.get(count)).toBeGreaterThan(1_000);
  }),
);

describe("are asked anew when a member", () => {
  const foreign: Readonly<Record<string, (triples: Set<string>) => void>> = {
    "has what another one has": (triples) => void triples.add(`${subject("a", 7)} <urn:size> ${integer(7)}`),
    "has another thing of its": (triples) => void triples.add(`${subject("a", 500)} <urn:size> ${integer(7)}`),
    "has what another one has in the place of its own": (triples) => {
      triples.delete(`${subject("b", 7)} <urn:size> ${integer(7)}`);
      triples.add(`${subject("a", 7)} <urn:size> ${integer(7)}`);
    },
    "has a blank node": (triples) => void triples.add(`_:b <urn:size> ${integer(49)}`),
    "has another kind of number": (triples) =>
      void triples.add(`${subject("b", 3)} <urn:size> "49.5"^^<http://www.w3.org/2001/XMLSchema#decimal>`),
    "has a text for a maker": (triples) => void triples.add(`${subject("b", 3)} <urn:maker> "http://makers.example/1"`),
  };

  it.each(Object.entries(foreign))("%s", (_, change) =>
    withMembers([thingsIn("a"), thingsIn("b")], async (members) => {
      await shouldBeRight(members);
      change(members.triplesAt(1));
      members.changed(1);
      // Of another number of triples the first question after an interval hears; of the same number, the patterns that wait.
      for (const text of queries) {
        await members.clock.advance(verifyMs + 1);
        await members.ask(text, true);
        await members.settle();
      }
      await shouldBeRight(members);
    }),
  );

  it("has more before the answer, where that is a number", () =>
    withMembers([thingsIn("a"), thingsIn("b")], async (members) => {
      await shouldBeRight(members);
      foreign["has what another one has"]?.(members.triplesAt(1));
      members.changed(1);
      await members.clock.advance(verifyMs + 1);
      const { answer } = await members.ask(count, true);
      expect(answerDifference(members.expected(count), answer)).toBeUndefined();
    }));

  it("has more before the answer, where looking for it takes too long but counting does not", () =>
    withMembers(
      [thingsIn("a"), thingsIn("b")],
      async (members) => {
        await members.ask(count, true);
        foreign["has what another one has"]?.(members.triplesAt(1));
        members.changed(1);
        await members.clock.advance(verifyMs + 1);
        const { answer } = await members.ask(count, true);
        expect(answerDifference(members.expected(count), answer)).toBeUndefined();
      },
      ({ query }) => {
        if (query.includes("STRSTARTS")) throw new FedwayError("ENDPOINT_TIMEOUT", "It did not answer in time.");
      },
    ));

  it("has a thing whose member was not asked for it", () =>
    withMembers([thingsIn("a"), thingsIn("b")], async (members) => {
      const text = `SELECT * { ${subject("a", 500)} <urn:size> ?size }`;
      members.triplesAt(1).add(`${subject("a", 500)} <urn:size> ${integer(7)}`);
      members.changed(1);
      const { answer } = await members.ask(text, true);
      expect(answerDifference(members.expected(text), answer)).toBeUndefined();
    }));
});
