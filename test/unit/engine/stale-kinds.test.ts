import { afterEach, describe, expect, it } from "vitest";
import { answerDifference } from "../../support/canonical-answer.ts";
import { type ChangingMembers, openChangingMembers, verifyMs } from "../../support/changing-members.ts";

// Numbers are added up, ordered and grouped at members because of the kind of values that descriptions state. The data change
// to other kinds, and no count with them: the first answer after the interval must be right, and the member described anew.

const xsd = (text: string | number, type: string): string => `"${text}"^^<http://www.w3.org/2001/XMLSchema#${type}>`;
const subject = (member: number, number: number): string => `<http://m${member}.example/s${number}>`;
const triple = (member: number, number: number, value: string): string =>
  `${subject(member, number)} <http://v.example/v> ${value}`;

const dataOf = (member: number): ReadonlySet<string> =>
  new Set(Array.from({ length: 40 }, (_, number) => triple(member, number, xsd(number + member * 40, "integer"))));

/** What the first value of the first member becomes. */
const changes = [
  ["a decimal", xsd("0.5", "decimal")],
  ["a double", xsd("0.5E0", "double")],
  ["a text", '"0"'],
  ["an IRI", "<http://x.example/zero>"],
  ["a blank node", "_:zero"],
] as const;

const queries = [
  ["SUM", (group: string) => `SELECT (SUM(?v) AS ?a) { ${group} }`],
  ["MIN and MAX", (group: string) => `SELECT (MIN(?v) AS ?a) (MAX(?v) AS ?b) { ${group} }`],
  ["ORDER BY, LIMIT", (group: string) => `SELECT ?s { ${group} } ORDER BY ?v LIMIT 3`],
] as const;

let members: ChangingMembers | undefined;
afterEach(() => members?.close());

describe.each([true, false])("over a federation: %s", (over) => {
  describe.each(queries)("%s over integers, of which one has become", (aggregate, ask) => {
    // Which of a number and a text comes first is left to engines.
    it.each(changes.filter(([name]) => aggregate === "SUM" || name !== "a text"))("%s", async (_name, value) => {
      const opened = await openChangingMembers([0, 1].map(dataOf), true);
      members = opened;
      const group = "?s <http://v.example/v> ?v";
      const text = ask(over ? group : opened.urls.map((url) => `{ SERVICE <${url}> { ${group} } }`).join(" UNION "));
      const before = await opened.ask(text, over);
      expect(answerDifference(opened.expected(text), before.answer)).toBeUndefined();
      expect(before.asked.every((query) => /SELECT \((?:SUM|MIN)\(|ORDER BY/u.test(query))).toBe(true);
      opened.triplesAt(0).delete(triple(0, 0, xsd(0, "integer")));
      opened.triplesAt(0).add(triple(0, 0, value));
      opened.changed(0);
      await opened.clock.advance(verifyMs + 1);
      const after = await opened.ask(text, over);
      expect(answerDifference(opened.expected(text), after.answer)).toBeUndefined();
      expect(after.verified.get(opened.urls[0] ?? "")).toBe(1);
    });
  });
});
