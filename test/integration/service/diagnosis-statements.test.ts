import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "../../../src/app.ts";
import type { Problem, Statement } from "../../../src/errors/fedway-error.ts";
import { federationTurtle } from "../../support/catalog-folder.ts";
import { type EmptyCase, generateWorld, type Place, type World } from "../../support/empty-queries.ts";
import { startEndpoints, type TestEndpoints } from "../../support/federation-harness.ts";
import { openService } from "../../support/running-service.ts";

const names = ["m0", "m1", "m2"];
const [worlds, queries] = [5, 45];

let endpoints: TestEndpoints;
let app: App;

beforeAll(async () => {
  endpoints = await startEndpoints({ m0: "", m1: "", m2: "" });
  app = await openService(endpoints.urls, {}, { "all.ttl": federationTurtle("all", 'fedway:member "m0", "m1", "m2"') });
});
afterAll(async () => {
  await app.close();
  await endpoints.close();
});

async function diagnosed({ query: text, endpoint, federation }: EmptyCase): Promise<Problem | null> {
  const signal = new AbortController().signal;
  const place = { endpointId: endpoint, federationId: federation, defaultGraphs: [], namedGraphs: [] };
  const request = { text, ...place, strict: false, partial: false, signal };
  return (await app.queries.table({ ...request, maxRows: 100, explainEmpty: true })).diagnosis;
}

/** The place that a claim names. */
function placeOf(text: string): Place {
  return text.startsWith("m") ? { endpoint: text } : { federation: "all" };
}

interface Judged {
  readonly statement: Statement;
  readonly world: World;
  /** Values of the rows of each question, by the data. */
  readonly values: readonly (readonly string[])[];
}

const hasRows = (world: World, pattern: string, place: string): boolean =>
  pattern.includes("…") || world.rows(`SELECT * WHERE { ${pattern} } LIMIT 1`, placeOf(place)).length > 0;

/** Each way to make a claim: the signs of the answers that it needs, and whether it is so by the data. */
const judges: readonly (readonly [
  claim: RegExp,
  signs: string,
  isSo?: (groups: readonly string[], judged: Judged) => boolean,
])[] = [
  [/^(?<pattern>.+) and \d+ more has no solutions .+, which has not even the terms$/s, "0*"],
  [/^(?<pattern>.+) has no solutions (?:at|over) .+ with the rest of the query$/s, "0"],
  [
    /^(?<pattern>.+) has no solutions (?:at|over) (?:any member of the federation|the members of the federation|(?<place>\S+?))(?:, not even alone|, which has not even the terms)?$/s,
    "0*",
    ([pattern = "", place = "all"], { world }) => pattern.includes("…") || !hasRows(world, pattern, place),
  ],
  [
    /^(?<value>.+) does not occur in (?<pattern>.+) at (?:any member of the federation|(?<place>\S+))$/s,
    "0",
    ([, pattern = "", place = "all"], { world }) => pattern.includes("…") || !hasRows(world, pattern, place),
  ],
  [/^with .+ instead of .+ the query has some \(.+\)$/s, "+"],
  [/^nor do (?:at least )?(?<count>\d+) more of the patterns$/, "0*", ([n], { values }) => values.length === Number(n)],
  [
    /^all values there: (?<shown>.+)$/s,
    "+",
    ([shown = ""], { values: [found = []] }) => found.every((value) => shown.includes(value)),
  ],
  [/^.+ occurs in the place of .+$/s, "+"],
  [/^the query then has solutions$/, "+"],
  [/^.+ holds for nothing$/s, "0"],
  [/^its conditions exclude each other$/, "0+*"],
  [/^The query has solutions without .+$/s, "+"],
  [/^The (?:query|group) has no solutions, though it has some without .+$/s, "0+*"],
  [/^The patterns have no solutions with .+ and the FILTERs before it, though they have some without it$/s, "0+"],
  [/^The patterns as far as .+ have no solutions, though those before it have some$/s, "0+"],
  [
    /^(?:The values of )?\?\w+ (?:is|are not written alike \(.+?\):) (?<one>.+?) in .+, but (?<other>.+?) in .+$/s,
    "0+*",
    ([one = "", other = ""], { values: [, left = [], right = []] }) =>
      left.some((value) => one.includes(value)) && right.some((value) => other.includes(value)),
  ],
  [/^.+ and \?\w+ have values on both sides that are the same, but not together$/, "0+*"],
  [/^at m\d the query has solutions$/, "+"],
  [/^The clause .+ has no solutions$/s, "0"],
  [/^its patterns have some alone$/, "+*"],
  [/^The patterns of the query have solutions$/, "+"],
  [/^.+ leaves none of them$/s, "0"],
  [/^without it the query has (?<count>\d+) rows?$/, "+", ([n = ""], { values: [found = []] }) => found[0] === n],
  [
    /^the (?:largest|smallest) .+ is (?<end>.+)$/s,
    "+",
    ([end = ""], { values: [[value = ""] = []] }) => end.includes(value),
  ],
  [/^\?\w+ is xsd:\w+, which .+ cannot be compared with$/s, "+"],
];

/** What is wrong with a statement by the data; undefined when nothing is. */
function faultOf(statement: Statement, world: World): string | undefined {
  const { claim, evidence } = statement;
  const answers = evidence.map(({ query, endpoint, federation }) => world.rows(query, { endpoint, federation }));
  const unlike = evidence.findIndex(({ count }, at) => answers[at]?.length !== count);
  if (unlike >= 0) return `${answers[unlike]?.length} rows by the data: ${JSON.stringify(evidence[unlike])}`;
  const judge = judges.find(([pattern]) => pattern.test(claim));
  if (judge === undefined) return "a claim that no judge knows";
  const [pattern, signs, isSo] = judge;
  const seen = evidence.map(({ count }) => (count > 0 ? "+" : "0")).join("");
  const needed = signs.endsWith("*") ? signs.slice(0, -1).padEnd(seen.length, signs.at(-2)) : signs;
  if (seen !== needed) return `answers ${seen} instead of ${needed}`;
  const values = answers.map((rows) =>
    rows.flatMap((row) =>
      row
        .values()
        .map(({ value }) => value)
        .toArray(),
    ),
  );
  const groups = Object.values(pattern.exec(claim)?.groups ?? {});
  return isSo === undefined || isSo(groups, { statement, world, values }) ? undefined : "not so by the data";
}

it("is explained by statements that hold against the data, each with its questions", async () => {
  const faults: string[] = [];
  let [statements, diagnoses, named] = [0, 0, 0];
  for (let seed = 1; seed <= worlds; seed++) {
    const world = generateWorld(seed, names.map(endpoints.url));
    for (const [name, text] of Object.entries(world.data)) endpoints.setData(name, text);
    for (const one of world.cases(queries)) {
      const problem = await diagnosed(one);
      if (problem === null || !problem.code.startsWith("EMPTY_")) continue;
      diagnoses += 1;
      if (problem.code !== "EMPTY_UNDECIDED" && problem.statements) named += 1;
      for (const statement of problem.statements ?? []) {
        statements += 1;
        expect(`${problem.detail} ${problem.next}`).toContain(statement.claim);
        const fault = faultOf(statement, world);
        if (fault !== undefined) faults.push(`${statement.claim}\n  ${fault}\n  ${JSON.stringify(one)}`);
      }
    }
  }
  expect(faults).toEqual([]);
  expect(statements).toBeGreaterThan(300);
  // As many as were named before statements carried evidence: all of them.
  expect(named).toBe(diagnoses);
  expect(diagnoses).toBeGreaterThan(0.9 * worlds * queries);
});
