import * as fc from "fast-check";
import oxigraph from "oxigraph";
import { describe, expect, it } from "vitest";
import { createQueryContainer } from "../../../src/agent/container/container.ts";
import { type AskedStep, stepNames } from "../../../src/agent/container/read-step.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createPlanner } from "../../../src/plan/create-planner.ts";
import { describedModels } from "../../support/described-models.ts";
import { toPlanDescription } from "../../../src/query/explain.ts";
import { describedUnits, unitText } from "../../support/described-data.ts";
import { truthfulDescription } from "../../support/truthful-description.ts";
import { truthOf } from "../../support/void-truth.ts";
import { toCatalog, toEntry } from "../plan/plan-cases.ts";

const units = [...describedUnits({ seed: 4, triples: 1_500, classes: 6, maxProperties: 12, blankNodes: false })];
const description = truthfulDescription(truthOf(units.flat()));
const store = new oxigraph.Store();
store.load(units.map((unit) => unitText(unit)).join(""), { format: "application/n-triples" });

interface Bounds {
  /** Questions that the endpoint answers before it fails. */
  readonly answers?: number;
}

/** Both endpoints have the same data. */
function open({ answers = Number.POSITIVE_INFINITY }: Bounds = {}) {
  const catalog = { ...toCatalog([toEntry("a"), toEntry("b")]), membersOf: () => [] };
  const planner = createPlanner({ catalog, egress: "catalog", publicUrl: "http://fedway.example" });
  const clock = { nowMs: 1, asked: 0 };
  const container = createQueryContainer({
    catalog,
    models: describedModels({
      descriptions: [
        ["a", description],
        ["b", description],
      ],
    }).models,
    queries: { explain: (request) => toPlanDescription(planner.plan(request).plan) },
    ask: async ({ text, maxRows }) => {
      if (clock.asked++ >= answers) throw new FedwayError("ENDPOINT_TIMEOUT", "too slow");
      return rowsOf(text.replaceAll(/SERVICE <[ab]> /g, "")).slice(0, maxRows);
    },
    now: () => clock.nowMs,
  });
  /** As the endpoint is asked for a whole query of the container. */
  const run = (query: string): number => {
    const { plan } = planner.plan({ text: query, strict: false, defaultGraphs: [], namedGraphs: [] });
    if (plan.kind !== "direct") throw new Error(`not valid: ${query}`);
    return rowsOf(plan.query).length;
  };
  return { container, clock, run, planner };
}

function rowsOf(text: string): readonly string[][] {
  const answer: unknown = store.query(text);
  return Array.isArray(answer)
    ? answer.map((row: Map<string, { toString(): string }>) => [...row.values()].map(String))
    : [];
}

const call = { owner: "me", signal: new AbortController().signal };
const refusal = (code: string) => expect.objectContaining({ code });

describe("a query container", () => {
  it("keeps no step after which the query is invalid or finds nothing, whatever is asked", async () => {
    const step: fc.Arbitrary<AskedStep> = fc.record({
      step: fc.constantFrom(...stepNames),
      choice: fc.option(fc.integer({ min: 0, max: 25 }), { nil: undefined }),
      value: fc.option(
        fc.constantFrom(
          "> 20",
          "= text 5",
          "contains text",
          "!= 3",
          "desc",
          "count > 1",
          "avg",
          "count distinct",
          "= ?x1",
          "< 2012",
          "'\"\\",
          "\n",
          ">",
        ),
        { nil: undefined },
      ),
    });
    let [kept, refused] = [0, 0];
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 12 }), async (steps) => {
      const { container, run } = open();
      const { handle } = await container.open(["a"], call);
      await container.step(handle, { step: "class", choice: 1 }, call);
      for (const each of steps) {
        const before = await container.look(handle, call);
        try {
          const { query, open: inner } = await container.step(handle, each, call);
          if (query !== before.query) kept++;
          if (query !== "" || inner === undefined) expect(run(query)).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toEqual(refusal("STEP_REFUSED"));
          refused++;
          expect((await container.look(handle, call)).query).toBe(before.query);
        }
      }
    });
    await fc.assert(property, { numRuns: 15, seed: 16 });
    expect(kept).toBeGreaterThan(15);
    expect(refused).toBeGreaterThan(15);
  });

  it("says that it does not know where the endpoint does not answer", async () => {
    const { container } = open({ answers: 0 });
    const { handle } = await container.open(["a"], call);
    const answer = await container.step(handle, { step: "class", choice: 1 }, call);
    expect(answer).toMatchObject({
      rows: null,
      notes: ["Whether the query finds anything could not be decided in time."],
    });
  });

  it("shows its query, its rows and the values of a column, and takes steps back", async () => {
    const { container, run } = open();
    const { handle, lists } = await container.open(["a"], call);
    expect(lists[0]?.items[0]).toMatch(/^1\. /u);
    const first = await container.step(handle, { step: "class", choice: 1 }, call);
    expect(first.rows).toBe(run(first.query));
    expect(first.query).toContain("SERVICE <a>");
    await container.step(handle, { step: "property", choice: 1 }, call);
    const { notes } = await container.step(handle, { step: "filter", choice: 2 }, call);
    expect(notes[0]).toMatch(/^Values of \?\w+: /u);
    expect((await container.undo(handle, call)).query).toBe(first.query);
  });

  it("finds paths to classes at another endpoint, and asks each for what it has", async () => {
    const { container, planner } = open();
    const { handle } = await container.open(["a", "b"], call);
    const { lists } = await container.step(handle, { step: "class", choice: 1 }, call);
    const paths = lists.find(({ step }) => step === "path")?.items ?? [];
    expect(paths.length).toBeGreaterThan(3);
    const queries: string[] = [];
    for (const choice of [1, 2, 3, 4]) {
      const { query, rows } = await container.step(handle, { step: "path", choice }, call);
      expect(rows).toBeGreaterThan(0);
      queries.push(query);
      await container.undo(handle, call);
    }
    const across = queries.filter((query) => query.includes("SERVICE <a>") && query.includes("SERVICE <b>"));
    expect(across.length).toBeGreaterThan(0);
    for (const text of across) {
      const { plan } = planner.plan({ text, strict: false, defaultGraphs: [], namedGraphs: [] });
      expect(plan.kind).toBe("federated");
    }
  });

  it("belongs to who opened it, for half an hour, and the oldest of many goes", async () => {
    const { container, clock } = open();
    const handles: string[] = [];
    for (let count = 0; count < 21; count++) handles.push((await container.open(["a"], call)).handle);
    const [oldest = "", second = ""] = handles;
    await expect(container.look(oldest, call)).rejects.toEqual(refusal("DRAFT_UNKNOWN"));
    await expect(container.look(second, { ...call, owner: "you" })).rejects.toEqual(refusal("DRAFT_UNKNOWN"));
    await container.look(second, call);
    clock.nowMs += 30 * 60_000 + 1;
    await expect(container.look(second, call)).rejects.toEqual(refusal("DRAFT_UNKNOWN"));
  });
});
