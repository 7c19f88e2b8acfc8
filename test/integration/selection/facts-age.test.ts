import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunRecord } from "../../../src/query/records.ts";
import { type ChangingMembers, openChangingMembers, verifyMs } from "../../support/changing-members.ts";

const x = (name: string): string => `<http://x.example/${name}>`;
const things = (member: number, property: string): Set<string> =>
  new Set([1, 2].map((n) => `${x(`m${member}/${n}`)} ${x(property)} "${n}"`));
const names = `SELECT * { ?s ${x("name")} ?n }`;
const codes = `SELECT * { ?s ${x("code")} ?n }`;
const dayMs = 86_400_000;

let members: ChangingMembers;
beforeAll(async () => {
  members = await openChangingMembers([things(0, "name"), things(1, "code"), things(2, "nick")], false);
});
afterAll(() => members.close());

/** Rows of an answer, the age of the facts that it rests on, and its notes on them. */
async function asked(query: string) {
  const { run, answer } = await members.ask(query, true);
  const record = (await members.record(run)) as RunRecord;
  const rows = answer.kind === "bindings" ? answer.rows.length : undefined;
  const notes = record.notes.filter(({ code }) => code === "FACTS_OLD" || code === "MEMBERS_CHANGED");
  return { status: record.status, rows, ageMs: record.facts?.ageMs, notes };
}

it("an answer has the age of its oldest fact, and a note where that is old or a member that is left out has changed within a day", async () => {
  const whole = { status: "ok", rows: 2, notes: [] };
  expect(await asked(names)).toEqual({ ...whole, ageMs: 0 });
  await members.settle();

  // As many triples as before: until it is verified again, nobody knows.
  members.triplesAt(2).delete(`${x("m2/1")} ${x("nick")} "1"`);
  members.triplesAt(2).add(`${x("m2/1")} ${x("name")} "1"`);
  members.changed(2);
  await members.clock.advance(100_000);
  expect(await asked(names)).toEqual({ ...whole, ageMs: 100_000 });
  await members.clock.advance(verifyMs);
  expect(await asked(names)).toEqual({ ...whole, ageMs: 100_000 + verifyMs });
  await members.settle();

  expect(await asked(names)).toMatchObject({ status: "ok", rows: 3 });
  const changed = { code: "MEMBERS_CHANGED", message: expect.stringContaining("left out: m2, by facts found or") };
  expect((await asked(codes)).notes).toEqual([changed]);
  await members.settle();

  await members.clock.advance(dayMs);
  const old = { code: "FACTS_OLD", message: expect.stringMatching(/by facts found or verified 24 h ago; prune=false/) };
  // A verification counts for its interval; from then on facts are as old as their description.
  expect(await asked(codes)).toEqual({ ...whole, ageMs: dayMs + 100_000 + verifyMs, notes: [old] });
  await members.settle();
  expect(await asked(codes)).toEqual({ ...whole, ageMs: 0 });
});

it("an answer of nothing asks all that are left out for their patterns, though their numbers of triples were just seen", async () => {
  const others = await openChangingMembers([things(0, "name"), things(1, "code"), things(2, "nick")], false);
  const both = `SELECT * { ?s ${x("name")} ?n ; ${x("code")} ?c }`;
  for (const query of [names, codes]) {
    await others.ask(query, true);
    await others.settle();
  }
  // With rows nobody is asked.
  expect((await others.ask(names, true)).verified.size).toBe(0);
  const { answer, verified } = await others.ask(both, true);
  expect(answer).toEqual({ kind: "bindings", rows: [] });
  expect([...verified.values()]).toEqual([1, 1, 1]);

  // As many triples as before.
  const nick = others.triplesAt(2);
  for (const n of [1, 2]) nick.delete(`${x(`m2/${n}`)} ${x("nick")} "${n}"`);
  for (const property of ["name", "code"]) nick.add(`${x("m2/1")} ${x(property)} "1"`);
  others.changed(2);
  expect((await others.ask(both, true)).answer).toMatchObject({ rows: [expect.stringContaining("m2/1")] });
  await others.close();
});
