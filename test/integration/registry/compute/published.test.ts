import { beforeAll, describe, expect, it } from "vitest";
import { createDescriber } from "../../../../src/registry/descriptions/compute/describer.ts";
import { createVoidRetriever } from "../../../../src/registry/descriptions/void-retriever.ts";
import { systemClock } from "../../../../src/clock.ts";
import { compareWithTruth } from "../../../support/compare-with-truth.ts";
import { describedUnits } from "../../../support/described-data.ts";
import { asRetrieved, goneTerms, listsOnly, scaled, withGoneTerms } from "../../../support/published-description.ts";
import { truthfulDescription } from "../../../support/truthful-description.ts";
import { truthOf } from "../../../support/void-truth.ts";
import { createPolicyAsker, endpointUrl, type Policy, type PolicyAsker } from "./policy-asker.ts";
import { descriptionQuads, type VoidDescription } from "../../../../src/registry/descriptions.ts";

const triples = [...describedUnits({ seed: 5, triples: 800, classes: 8, maxProperties: 12 })].flat();
const truth = truthOf(triples);
const lines = triples.map((triple) => `${triple.join(" ")} .`);
const whole: VoidDescription = { ...truthfulDescription(truth), endpoint: endpointUrl };
const instant = { ...systemClock, setTimeout: (run: () => void) => systemClock.setTimeout(run, 0) };

/** Looks for the publisher's description, then describes the endpoint; counts all its requests. */
async function describedWith(published?: VoidDescription, policy: Policy = {}) {
  const document = published && [...descriptionQuads(published, { view: "agent", variant: "extended" })];
  const asker = createPolicyAsker(lines, { ...policy, ...(document && { document }) });
  const { signal } = new AbortController();
  const endpoint = { url: endpointUrl };
  const found = await createVoidRetriever({ asker, clock: systemClock }).retrieve({ endpoint }, { signal });
  return { found, ...(await describedFrom(found.description, asker)) };
}

/** Describes the endpoint, with claims that passed. */
async function describedFrom(known: VoidDescription | undefined, asker: PolicyAsker) {
  const { description } = await createDescriber({ asker, clock: instant, pauseMs: 0, readBytes: 0 }).describe(
    { endpoint: { url: endpointUrl } },
    { signal: new AbortController().signal, ...(known && { known }) },
  );
  const { wrongExact, wrongBounds, wrongComplete, statements, ...compared } = compareWithTruth(description, truth);
  expect({ wrongExact, wrongBounds, wrongComplete }).toEqual({ wrongExact: [], wrongBounds: [], wrongComplete: [] });
  return { ...compared, description, exact: statements.exact, requests: asker.queries.length };
}

let alone: Awaited<ReturnType<typeof describedWith>>;

beforeAll(async () => {
  alone = await describedWith();
});

describe("a description that its publisher wrote", () => {
  it.each([
    ["lists of classes and properties", listsOnly(whole), 5],
    ["everything", whole, 15],
  ])("saves requests when it is right in %s", async (_what, published, saved) => {
    const { found, exact, requests, description } = await describedWith(published);
    expect(found.step).toBe("endpoint");
    expect({ exact, unknown: description.unknown }).toEqual({ exact: alone.exact, unknown: [] });
    expect(requests).toBeLessThanOrEqual(alone.requests - saved);
  });

  it("with a class and a property that are gone changes no fact, and is told", async () => {
    const { exact, invented, completeLists, requests, description } = await describedWith(withGoneTerms(whole));
    expect({ exact, invented, completeLists }).toEqual({
      exact: alone.exact,
      invented: [],
      completeLists: alone.completeLists,
    });
    expect(description.unknown.map(({ what, why }) => [what, why])).toEqual([
      [`class <${goneTerms.class}> of the publisher's description`, "contradicted"],
      [`property <${goneTerms.property}> of the publisher's description`, "contradicted"],
    ]);
    expect(requests).toBeLessThanOrEqual(alone.requests - 15);
  });

  it.each([0.5, 3])("with counts %f times as large is not used", async (factor) => {
    const { found, exact } = await describedWith(scaled(whole, factor));
    expect(found).toMatchObject({ contradicted: [{ reason: expect.stringMatching(/^The data contradict it/u) }] });
    expect([found.description, exact]).toEqual([undefined, alone.exact]);
  });

  it.each<[string, Policy]>([
    ["cuts rows", { rowCap: 100 }],
    ["times out", { workLimit: 160, beyond: "timeout" }],
    ["sees some triples only", { workLimit: 160, beyond: "some-triples" }],
    ["stops silently", { workLimit: 160, beyond: "first-solutions" }],
    ["counts too little", { workLimit: 160, beyond: "scaled" }],
    ["does not count", { noCount: true }],
  ])("makes nothing untrue exact at an endpoint that %s", async (_name, policy) => {
    const { exact } = await describedWith(undefined, policy);
    for (const published of [whole, withGoneTerms(whole)]) {
      const described = await describedWith(published, policy);
      expect(described.exact).toBeGreaterThanOrEqual(exact);
      expect(described.recall).toBe(1);
    }
  });

  it.each<[string, VoidDescription, Policy]>([
    ["sees some triples only", truthfulDescription(truthOf(triples.slice(0, 480))), { beyond: "some-triples" }],
    ["counts too little", scaled(whole, 0.6), { beyond: "scaled" }],
  ])("by asking an endpoint that %s is no proof of what that answers", async (_name, published, { beyond }) => {
    for (const workLimit of [40, 120, 400]) {
      const asker = createPolicyAsker(lines, { workLimit, ...(beyond && { beyond }) });
      await describedFrom(asRetrieved(published), asker);
    }
  });
});
