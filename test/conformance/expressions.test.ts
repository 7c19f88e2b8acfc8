import { expect, test } from "vitest";
import { toFedwayError } from "../../src/errors/fedway-error.ts";
import { termToText } from "../../src/results/terms.ts";
import { answerDifference, type CanonicalAnswer } from "../support/canonical-answer.ts";
import { type DifferingCall, differencesOf, ourAnswer, oxigraphAnswer } from "../support/expression-comparison.ts";
import { documentedDifferences } from "../support/expression-differences.ts";
import { type ExpressionCase, expressionCases, functionNames, placements } from "../support/expression-generator.ts";

const seed = Number(process.env["FEDWAY_EXPRESSION_SEED"] ?? 20_250_712);
const runs = Math.max(1_000, Number(process.env["FEDWAY_EXPRESSION_CASES"] ?? 1_000));

interface Ran {
  /** Undefined when the evaluation ended with an error. */
  readonly answer: CanonicalAnswer | undefined;
  readonly code?: string;
  readonly ms: number;
}

async function run({ query }: ExpressionCase): Promise<Ran> {
  const started = performance.now();
  const passed = (): number => performance.now() - started;
  try {
    return { answer: await ourAnswer(query), ms: passed() };
  } catch (error) {
    return { answer: undefined, code: toFedwayError(error).code, ms: passed() };
  }
}

const count = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1);
};
const printed = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([name, times]) => `${name} ${times}`).join(", ");

/** Some solution or triple has a value. */
const isBound = (answer: CanonicalAnswer): boolean =>
  answer.kind === "bindings"
    ? answer.rows.some((row) => row !== "")
    : answer.kind === "quads" && answer.triples.length > 0;

const shown = ({ name, args, ours, oxigraphs }: DifferingCall): string =>
  `${name}(${args.map((arg) => (arg ? termToText(arg).slice(0, 80) : "-")).join(", ")}): ours ${ours}, Oxigraph's ${oxigraphs}`;

/** Differences that no table explains, and how often each documented one was met. */
class Comparison {
  readonly unexplained: string[] = [];
  readonly explained = new Map<string, number>();
  compared = 0;
  equal = 0;

  async add(value: ExpressionCase, ours: CanonicalAnswer): Promise<void> {
    const theirs = value.isDeterministic ? oxigraphAnswer(value.query) : undefined;
    if (!theirs) return;
    this.compared++;
    const difference = answerDifference(theirs, ours);
    if (difference === undefined) {
      this.equal++;
      return;
    }
    for (const call of await differencesOf(value)) {
      const known = documentedDifferences.find(({ applies }) => applies(call));
      if (known) count(this.explained, known.name);
      else
        this.unexplained.push(
          `${shown(call)}\n${value.placement}: ${value.expression.slice(0, 300)}\n${difference.slice(0, 600)}`,
        );
    }
  }
}

test("generated expressions answer as Oxigraph does, and fail as expressions and never as queries", {
  timeout: 3_600_000,
}, async () => {
  const [functions, places, bound] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  const failures: string[] = [];
  const unhandled: unknown[] = [];
  const comparison = new Comparison();
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  let slowest = { ms: 0, query: "" };
  let answered = 0;
  for (const value of expressionCases(seed).take(runs)) {
    const { answer, code, ms } = await run(value);
    for (const name of value.functions) count(functions, name);
    count(places, value.placement);
    if (ms > slowest.ms) slowest = { ms, query: value.query };
    if (answer === undefined) {
      failures.push(`${code}: ${value.query}`);
      continue;
    }
    answered++;
    if (isBound(answer)) count(bound, value.placement);
    await comparison.add(value, answer);
  }
  await new Promise(setImmediate);
  process.off("unhandledRejection", note);
  const { compared, equal, explained, unexplained } = comparison;
  console.log(
    `${runs} expressions, seed ${seed}, ${answered} answered; slowest ${Math.round(slowest.ms)} ms: ` +
      `${slowest.query.slice(0, 300)}\n${compared} compared, ${equal} equal; documented differences: ${printed(explained)}\n` +
      `placements: ${printed(places)}\nwith a value: ${printed(bound)}\nfunctions: ${printed(functions)}`,
  );
  expect(failures.slice(0, 5)).toEqual([]);
  expect(unhandled).toEqual([]);
  expect(answered).toBe(runs);
  expect(unexplained.slice(0, 5)).toEqual([]);
  expect(compared).toBeGreaterThan(runs / 2);
  const rare = functionNames.filter((name) => (functions.get(name) ?? 0) < runs / 400);
  expect(rare).toEqual([]);
  for (const placement of placements) {
    expect(places.get(placement), placement).toBeGreaterThan(runs / 20);
    expect(bound.get(placement) ?? 0, placement).toBeGreaterThan(runs / 250);
  }
});
