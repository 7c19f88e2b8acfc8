import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestedEngine } from "../support/tested-engine.ts";
import { createRandom } from "../support/random.ts";
import { createPlanner } from "../../src/plan/create-planner.ts";
import type { QueryConstruct } from "../../src/sparql/patterns.ts";
import { createSparqlClient } from "../../src/outbound/client.ts";
import { answerDifference, isNonEmpty, toAnswer } from "../support/canonical-answer.ts";
import { catalogEntry, createCatalog } from "../support/catalog-entry.ts";
import { clausePositions, type LackingQuery, lackingQueries, peopleAt } from "../support/lacking-queries.ts";
import { seenConstructs } from "../support/limited-federation.ts";
import { type LimitedEndpoint, refuse, startLimitedEndpoint } from "../support/limited-endpoint.ts";
import { toBounds } from "../support/engine-answer.ts";
import { createOracle, type Oracle } from "../support/oracle.ts";

const seed = Number(process.env["FEDWAY_DIFFERENTIAL_SEED"] ?? 20_250_812);
const rounds = Number(process.env["FEDWAY_DIFFERENTIAL_ROUNDS"] ?? 1);
const names = ["a", "b", "c"] as const;
const now = () => performance.timeOrigin + performance.now();
const client = createSparqlClient({ version: "1", allowAddresses: ["127.0.0.0/8"], retry: { limit: 0 } });
const engine = createTestedEngine({ client, maxSolutions: 100_000, now });
/** What each endpoint lacks and refuses. */
let lacks: readonly (readonly QueryConstruct[])[] = [];
let endpoints: readonly LimitedEndpoint[];
let oracle: Oracle;

beforeAll(async () => {
  const random = createRandom(seed);
  const data = names.map(() => peopleAt(random));
  endpoints = await Promise.all(
    data.map((text, index) =>
      startLimitedEndpoint({
        data: text,
        instead: ({ query }) =>
          seenConstructs(query, lacks[index] ?? []).length > 0 ? refuse("Parse error") : undefined,
      }),
    ),
  );
  oracle = createOracle(new Map(endpoints.map(({ url }, index) => [url, data[index] ?? ""])));
});

afterAll(async () => {
  await client.close();
  await Promise.all(endpoints.map((endpoint) => endpoint.close()));
});

/** Plans with what the endpoints lack, and answers. */
async function ask({ text }: LackingQuery) {
  const publicUrl = "http://fedway.example";
  const entries = names.map((name, index) => catalogEntry(name, { url: endpoints[index]?.url ?? "" }));
  const view = (id: string) => ({ lacks: new Set<string>(lacks[names.indexOf(id as "a")]) });
  const planner = createPlanner({
    catalog: createCatalog(entries, [], { publicUrl }),
    egress: "catalog",
    publicUrl,
    capabilities: { version: 1, view },
  });
  const { plan } = planner.plan({ text, strict: false, defaultGraphs: [], namedGraphs: [] });
  if (plan.kind !== "federated") throw new Error(`a ${plan.kind} plan`);
  for (const { requests } of endpoints) requests.length = 0;
  const answer = await toAnswer(await engine.execute(plan, { ...toBounds(), deadlineMs: now() + 20_000 }));
  const forbidden = endpoints.flatMap(({ requests }, index) =>
    requests.map(({ query }) => query).filter((query) => seenConstructs(query, lacks[index] ?? []).length > 0),
  );
  return { notes: plan.notes.map(({ code }) => code), answer, forbidden, asked: endpoints[0]?.requests.length ?? 0 };
}

it("clauses that their endpoint cannot evaluate have the oracle's answers", async () => {
  const random = createRandom(seed + 1);
  const queries = lackingQueries(
    endpoints.map(({ url }) => url),
    seed,
    rounds,
  );
  const failures: string[] = [];
  let nonEmpty = 0;
  let asked = 0;
  for (const query of queries) {
    // The others lack what only the engine itself could add to their plain clauses.
    const others = names
      .slice(1)
      .map(() => (["values", "subquery", "notExists", "minus"] as const).filter(() => random.chance(0.4)));
    lacks = [[query.construct], ...others];
    const expected = oracle.answer(query.text.replaceAll("SERVICE", "GRAPH"));
    if (isNonEmpty(expected)) nonEmpty++;
    const { notes, answer, forbidden, asked: requests } = await ask(query);
    asked += requests;
    const difference = answerDifference(expected, answer);
    if (difference !== undefined) failures.push(`${query.text}\n${difference}`);
    if (forbidden.length > 0) failures.push(`${query.text}\nsent all the same:\n${forbidden.join("\n")}`);
    if (seenConstructs(query.clause, [query.construct]).length === 0) failures.push(`${query.clause}\nnot refused`);
    if (!notes.includes("EVALUATED_HERE")) failures.push(`${query.text}\nnot evaluated here`);
  }
  const share = ((100 * nonEmpty) / queries.length).toFixed(1);
  console.log(
    `seed ${seed}: ${queries.length} queries, ${share} % non-empty, ${asked} requests to the limited endpoint, ${failures.length} failures`,
  );
  expect(failures.slice(0, 5).join("\n\n")).toBe("");
  expect(queries).toHaveLength(11 * clausePositions.length * 2 * rounds);
  expect(nonEmpty / queries.length).toBeGreaterThanOrEqual(0.6);
  expect(asked).toBeGreaterThanOrEqual(queries.length);
});
