import { expect, it } from "vitest";
import { createTestedEngine } from "../../support/tested-engine.ts";
import type { SparqlClient } from "../../../src/outbound/sparql-request.ts";
import { toBounds, toFederatedPlan } from "../../support/engine-answer.ts";

const members = 1_200;
const keys = 300;
const subject = (index: number): string => `http://items.example/${index}`;

/** Members of which the first has all subjects, and each one label for those that it is asked for and has. */
function createMembers() {
  let requests = 0;
  const client: SparqlClient = {
    async query({ endpoint, query }) {
      requests++;
      const own = Number(endpoint.url.split("/").at(-1));
      const asked = [...query.matchAll(/items\.example\/(\d+)>/gu)].map(([, index]) => Number(index));
      const isFirst = query.includes("urn:all");
      const found = isFirst ? (own === 0 ? [...Array(keys).keys()] : []) : asked.filter((index) => index === own);
      const row = (index: number) => ({
        s: { type: "uri", value: subject(index) },
        [isFirst ? "n" : "label"]: { type: "literal", value: String(index) },
      });
      const vars = ["s", isFirst ? "n" : "label"];
      const body = Buffer.from(JSON.stringify({ head: { vars }, results: { bindings: found.map(row) } }));
      const end = { decodedBytes: body.length, wireBytes: body.length };
      const head = { status: 200, mediaType: "application/sparql-results+json", contentEncoding: "identity" };
      return { ...head, body, end: Promise.resolve(end), whole: end, requests: 1 };
    },
  };
  return { client: client, requests: () => requests };
}

it("what is learned of 1,200 members is known when they are asked again", async () => {
  const { client, requests } = createMembers();
  const engine = createTestedEngine({ client, maxSolutions: 1_000_000, now: () => performance.now() });
  const query = "SELECT ?s ?label { ?s <urn:all> ?n . ?s <urn:label> ?label }";
  const urls = Array.from({ length: members }, (_, index) => ({ url: `http://member.example/${index}` }));
  const plan = { ...toFederatedPlan("SELECT * {}"), query, skeleton: query, over: { members: urls } };
  const run = async (): Promise<number> => {
    const result = await engine.execute(plan, toBounds());
    if (result.kind !== "bindings") return 0;
    let rows = 0;
    for await (const row of result.rows) rows += Math.sign(row.size);
    return rows;
  };
  expect(await run()).toBe(keys);
  const before = requests();
  expect(await run()).toBe(keys);
  // One request a member for the subjects, and one with all of them as keys.
  expect(requests() - before).toBeLessThanOrEqual(2 * members);
});
