import { sample } from "fast-check";
import { expect, test } from "vitest";
import { createRandom } from "../support/random.ts";
import type { QueryConstruct } from "../../src/sparql/patterns.ts";
import { answerDifference } from "../support/canonical-answer.ts";
import { createLimitedFederation, seenConstructs } from "../support/limited-federation.ts";
import { expectedAnswer, isInformative, isTotallyOrdered } from "../support/oracle.ts";
import { generatedCases } from "../support/query-generator.ts";
import { nTriplesAt, type GeneratedCase } from "../support/query-generator-data.ts";
import { printQuery } from "../support/query-generator-syntax.ts";
import { withoutAlternatives } from "../support/query-without-service.ts";
import { toAnswer } from "../support/canonical-answer.ts";

const seed = Number(process.env["FEDWAY_DIFFERENTIAL_SEED"] ?? 20_250_811);
const runs = Math.max(150, Number(process.env["FEDWAY_DIFFERENTIAL_CASES"] ?? 150));
const random = createRandom(seed);
const federation = createLimitedFederation();

/** What the generator's SERVICE clauses use. */
const constructs: readonly QueryConstruct[] = [
  "values",
  "aggregates",
  "minus",
  "subquery",
  "optional",
  "valuesUndef",
  "notExists",
];

interface Outcome {
  readonly kind: string;
  readonly evaluatedHere: boolean;
  readonly difference: string | undefined;
  readonly forbidden: readonly string[];
}

/** One query whose endpoints each lack some constructs: how it was planned and answered, and what went out in vain. */
async function outcome(value: GeneratedCase, text: string): Promise<Outcome> {
  const members = federation.urls.map((_, index) => ({
    data: nTriplesAt(value.data, index),
    lacks: constructs.filter(() => random.chance(0.6)),
  }));
  federation.setMembers(members);
  const plan = federation.plan(text);
  const notes = plan.kind === "rejected" ? [] : plan.notes.map(({ code }) => code);
  const evaluatedHere = notes.includes("EVALUATED_HERE");
  if (plan.kind !== "federated") return { kind: plan.kind, evaluatedHere, difference: undefined, forbidden: [] };
  const expected = expectedAnswer(value, federation.urls);
  const difference = await federation
    .result(plan)
    .then((result) => toAnswer(result, isTotallyOrdered(value.query)))
    .then((answer) => answerDifference(expected, answer))
    .catch((error: unknown) => `failed: ${error instanceof Error ? error.message : String(error)}`);
  const forbidden = members.flatMap(({ lacks }, index) =>
    federation.received(index).filter((sent) => seenConstructs(sent, lacks).length > 0),
  );
  return { kind: plan.kind, evaluatedHere, difference, forbidden };
}

test(`${runs} generated queries over endpoints that lack constructs`, async () => {
  const counts = { federated: 0, informative: 0, evaluatedHere: 0, direct: 0 };
  const failures: string[] = [];
  for (const { data, query } of sample(generatedCases(), { seed, numRuns: runs })) {
    const value = { data, query: withoutAlternatives(query) };
    const text = printQuery(value.query, { keyword: "SERVICE", endpoints: federation.urls });
    const { kind, evaluatedHere, difference, forbidden } = await outcome(value, text);
    if (kind !== "federated") {
      counts.direct++;
      continue;
    }
    counts.federated++;
    if (evaluatedHere) counts.evaluatedHere++;
    if (isInformative(value.query, expectedAnswer(value, federation.urls))) counts.informative++;
    if (difference !== undefined) failures.push(`${text}\n${difference}`);
    if (forbidden.length > 0) failures.push(`${text}\nsent all the same:\n${forbidden.join("\n")}`);
  }
  console.log(`seed ${seed}: ${JSON.stringify(counts)}, ${failures.length} differences`);
  expect(failures.slice(0, 5).join("\n\n")).toBe("");
  expect(counts.evaluatedHere).toBeGreaterThanOrEqual(runs * 0.2);
  expect(counts.informative / counts.federated).toBeGreaterThanOrEqual(0.6);
});
