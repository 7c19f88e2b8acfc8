import { expect, test } from "vitest";
import { toFedwayError } from "../../src/errors/fedway-error.ts";
import { engineAnswer } from "../support/engine-answer.ts";
import { type ExpressionCase, expressionCases, functionNames, placements } from "../support/expression-generator.ts";

const seed = Number(process.env["FEDWAY_EXPRESSION_SEED"] ?? 20_250_712);
const runs = Math.max(2_000, Number(process.env["FEDWAY_EXPRESSION_CASES"] ?? 2_000));
/** One case; far beyond what any takes, so that only what hangs is ended. */
const timeoutMs = 60_000;

interface Ran {
  /** Undefined when the evaluation ended with an error. */
  readonly lines: readonly string[] | undefined;
  readonly code?: string;
  readonly ms: number;
}

async function run({ query }: ExpressionCase): Promise<Ran> {
  const started = performance.now();
  const passed = (): number => performance.now() - started;
  try {
    return { lines: await engineAnswer(query, undefined, timeoutMs), ms: passed() };
  } catch (error) {
    return { lines: undefined, code: toFedwayError(error).code, ms: passed() };
  }
}

const count = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1);
};
const printed = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([name, times]) => `${name} ${times}`).join(", ");

test("generated expressions fail as expressions and never as queries", { timeout: 3_600_000 }, async () => {
  const [functions, places, bound] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  const failures: string[] = [];
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  let slowest = { ms: 0, query: "" };
  let answered = 0;
  for (const value of expressionCases(seed).take(runs)) {
    const { lines, code, ms } = await run(value);
    for (const name of value.functions) count(functions, name);
    count(places, value.placement);
    if (ms > slowest.ms) slowest = { ms, query: value.query };
    if (lines === undefined) failures.push(`${code}: ${value.query}`);
    else answered++;
    if (lines?.some((line) => !/(?:^|\s)-(?:\s|$)/.test(line))) count(bound, value.placement);
  }
  await new Promise(setImmediate);
  process.off("unhandledRejection", note);
  console.log(
    `${runs} expressions, seed ${seed}, ${answered} answered; slowest ${Math.round(slowest.ms)} ms: ` +
      `${slowest.query.slice(0, 300)}\nplacements: ${printed(places)}\nwith a row in which all is bound: ` +
      `${printed(bound)}\nfunctions: ${printed(functions)}`,
  );
  expect(failures.slice(0, 5)).toEqual([]);
  expect(unhandled).toEqual([]);
  expect(answered).toBe(runs);
  const rare = functionNames.filter((name) => (functions.get(name) ?? 0) < runs / 400);
  expect(rare).toEqual([]);
  for (const placement of placements) {
    expect(places.get(placement), placement).toBeGreaterThan(runs / 20);
    expect(bound.get(placement) ?? 0, placement).toBeGreaterThan(runs / 250);
  }
});
