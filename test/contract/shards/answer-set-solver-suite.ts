import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { AnswerSetSolver } from "../../../shards/src/rules/answer-set-solver.ts";

/** A pigeonhole problem: nothing to find, and nothing provable in the time that a test has. */
const endless = `pigeon(1..14). hole(1..13). { in(P,H) : hole(H) } = 1 :- pigeon(P). :- in(P,H), in(Q,H), P < Q.`;
/** The same with a way out that costs 1: a model at once, no proof that there is none without it. */
const endlessOptimum = `pigeon(1..14). hole(1..13). { out }. { in(P,H) : hole(H) } = 1 :- pigeon(P), not out.
  :- in(P,H), in(Q,H), P < Q. #minimize { 1 : out }. #show out/0. #heuristic out. [1, true]`;

async function failure(promise: Promise<unknown>): Promise<FedwayError> {
  const thrown: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof FedwayError)) throw new Error(`no FedwayError but ${String(thrown)}`);
  return thrown;
}

/** What every adapter of the port promises. */
export function answerSetSolverSuite(create: () => AnswerSetSolver, createTiny: () => AnswerSetSolver): void {
  let solver: AnswerSetSolver;
  beforeAll(() => {
    solver = create();
  });
  afterAll(() => solver.close());

  test("the best answer set comes last, proven", async () => {
    const result = await solver.solve("1 { a; b }. #minimize { 2 : a; 1 : b }.");
    expect(result).toMatchObject({ ended: "complete", optimal: true, unsatisfiable: false, costs: [1] });
    expect(result.models).toEqual([{ atoms: ["b"], costs: [1] }]);
    expect(result.lowerBound).toEqual([1]);
    const { totalSeconds, searchSeconds } = result.clock ?? expect.unreachable("no clock");
    expect(searchSeconds).toBeLessThanOrEqual(totalSeconds);
  });
  test("levels of priority, highest first", async () => {
    const { costs } = await solver.solve("1 { a; b }. #minimize { 2@1 : a; 1@2 : a; 3@1 : b }.");
    expect(costs).toEqual([0, 3]);
  });
  test("without optimisation nothing counts as optimal", async () => {
    const result = await solver.solve("a.");
    expect(result).toMatchObject({ ended: "complete", optimal: false, unsatisfiable: false, costs: [] });
    expect(result.models).toEqual([{ atoms: ["a"], costs: [] }]);
  });
  test("keeps as many models as wanted", async () => {
    const { models } = await solver.solve("{ a; b }.", { keepModels: 10 });
    expect(models.map(({ atoms }) => atoms.join(" ")).toSorted()).toEqual(["", "a", "a b", "b"]);
  });
  test("an impossible program is no error", async () => {
    const result = await solver.solve("a. :- a.");
    expect(result).toMatchObject({ models: [], ended: "complete", optimal: false, unsatisfiable: true });
  });
  test("strings come back as they were", async () => {
    const { models } = await solver.solve(String.raw`name("a \"b\" \\ ü \n").`);
    expect(models[0]?.atoms).toEqual([String.raw`name("a \"b\" \\ ü \n")`]);
  });
  test("a program of 3 MB is solved, one that is larger than the memory allows is an error", async () => {
    const facts = Array.from({ length: 180_000 }, (_, number) => `fact(${1_000_000 + number},77).`).join("\n");
    const program = `${facts} 1 { a; b }. #minimize { 2 : a; 1 : b }. #show a/0. #show b/0.`;
    expect(program.length).toBeGreaterThan(2_900_000);
    expect((await solver.solve(program)).models[0]?.atoms).toEqual(["b"]);
    const tiny = createTiny();
    const error = await failure(tiny.solve(`${facts} ${facts} ${facts}`));
    expect(error.code).toBe("SOLVER_FAILED");
    expect(error.message).toMatch(/its program has \d+ bytes, \d+ are allowed/u);
    await tiny.close();
  });
  test("a program that is not well-formed gives the solver's words", async () => {
    const error = await failure(solver.solve("a :- b("));
    expect(error.code).toBe("SOLVER_FAILED");
    expect(error.message).toContain("syntax error, unexpected EOF");
    expect((await solver.solve("a.")).models).toHaveLength(1);
  });
  test("an option that does not exist is an error", async () => {
    expect((await failure(solver.solve("a.", { options: ["--no-such-option"] }))).code).toBe("SOLVER_FAILED");
  });
  test("a deadline ends a search without result, and the next program is solved", async () => {
    const result = await solver.solve(endless, { timeoutMs: 300 });
    expect(result).toMatchObject({ models: [], ended: "deadline", optimal: false, unsatisfiable: false });
    expect(result.clock).toBeUndefined();
    expect((await solver.solve("a.")).ended).toBe("complete");
  });
  test("a deadline gives the best model so far", async () => {
    // As long as this machine takes for the first model, which comes at once on an idle one.
    let timeoutMs = 250;
    let result = await solver.solve(endlessOptimum, { timeoutMs, options: ["--heuristic=Domain"] });
    while (result.models.length === 0) {
      expect(result.ended).toBe("deadline");
      timeoutMs *= 2;
      result = await solver.solve(endlessOptimum, { timeoutMs, options: ["--heuristic=Domain"] });
    }
    expect(result).toMatchObject({ ended: "deadline", optimal: false, costs: [1] });
    expect(result.models[0]?.atoms).toEqual(["out"]);
  });
  test("a core-guided search gives its bound", async () => {
    // Ended by conflicts, not by a clock.
    const options = { options: ["--opt-strategy=usc", "--solve-limit=1000"] };
    const { lowerBound } = await solver.solve(`${endlessOptimum} 1 { x; y }. #minimize { 7@2 : x; 8@2 : y }.`, options);
    expect(lowerBound?.[0]).toBe(7);
  });
  test("its own limit ends a search without losing the thread", async () => {
    const result = await solver.solve(endless, { options: ["--solve-limit=100"] });
    expect(result).toMatchObject({ ended: "limit", optimal: false, unsatisfiable: false });
  });
  test("a signal ends the search, and one that is aborted already does not start it", async () => {
    const controller = new AbortController();
    const search = solver.solve(endless, { signal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    expect((await search).ended).toBe("aborted");
    expect((await solver.solve("a.", { signal: controller.signal })).models).toEqual([]);
  });
  test("the event loop ticks while it searches", async () => {
    let ticks = 0;
    const enough = new AbortController();
    const timer = setInterval(() => {
      ticks += 1;
      if (ticks === 10) enough.abort();
    }, 5);
    // Where it did not tick, the search would end by its deadline.
    const { ended } = await solver.solve(endless, { timeoutMs: 60_000, signal: enough.signal });
    clearInterval(timer);
    expect(ended).toBe("aborted");
  });
  test("programs wait for each other and all are answered", async () => {
    const results = await Promise.all(["a.", "b.", ":- .", "c."].map((program) => solver.solve(program)));
    expect(results.map(({ models }) => models[0]?.atoms)).toEqual([["a"], ["b"], undefined, ["c"]]);
  });
  test("memory is bounded, and a program that needs too much is an error", async () => {
    const tiny = createTiny();
    const error = await failure(tiny.solve("n(1..4000). p(X,Y) :- n(X), n(Y)."));
    expect(error.code).toBe("SOLVER_FAILED");
    expect(error.message).toContain("more than its memory of 48 MiB");
    expect((await tiny.solve("a.")).models).toHaveLength(1);
    await tiny.close();
  });
  test("closing ends what is under way", async () => {
    const closed = create();
    const search = failure(closed.solve(endless));
    await sleep(100);
    await closed.close();
    expect((await search).code).toBe("CANCELLED");
    expect((await failure(closed.solve("a."))).code).toBe("CANCELLED");
  });
}
