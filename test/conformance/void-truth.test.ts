import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compareWithTruth } from "../support/compare-with-truth.ts";
import { describedUnits } from "../support/described-data.ts";
import { createEndpointDescriber, type EndpointDescriber } from "../support/endpoint-describer.ts";
import { type EngineStatistics, enginePolicies } from "../support/simulated-engine/policy.ts";
import {
  type SimulatedEngine,
  type SimulatedEngines,
  startSimulatedEngines,
} from "../support/simulated-engine/start-engines.ts";
import { truthOf } from "../support/void-truth.ts";
import type { VoidDescription } from "../../src/registry/descriptions.ts";

const shape = { seed: 20_240_601, triples: 1_000, classes: 8, maxProperties: 12 };
const truth = truthOf([...describedUnits(shape)].flat());
const policies = enginePolicies(shape.triples);

let simulated: SimulatedEngines;
/** Asks for facts, whatever the size of the data. */
let describer: EndpointDescriber;
/** Reads data of this size whole, where the engine allows it. */
let reader: EndpointDescriber;

beforeAll(async () => {
  simulated = await startSimulatedEngines(shape, policies);
  describer = createEndpointDescriber({ ...simulated.clock, readBytes: 0 });
  reader = createEndpointDescriber(simulated.clock);
});

afterAll(async () => {
  await describer?.close();
  await reader?.close();
  await simulated?.close();
});

function engineNamed(name: string): SimulatedEngine {
  const engine = simulated.engines.find(({ policy }) => policy.name === name);
  if (engine === undefined) throw new Error(`no engine ${name}`);
  return engine;
}

/** What shows that a description had to get past an engine's policy. */
const met: Readonly<Record<string, keyof EngineStatistics>> = {
  "low-cap": "capped",
  "low-cap-header": "capped",
  "time-500": "overLimit",
  "time-503": "overLimit",
  "partial-header": "overLimit",
  "partial-206": "overLimit",
  "partial-silent": "overLimit",
  "partial-instant": "overLimit",
  "empty-header": "overLimit",
  bursts: "throttled",
  "no-count": "refused",
  "no-count-low-cap": "refused",
  "no-values": "refused",
  dying: "deaths",
  hostile: "overLimit",
};

/** Describes an engine to the end; one that dies meanwhile is brought back. What is said in between is true too. */
async function described({ url, policy, revive }: SimulatedEngine): Promise<VoidDescription> {
  let alive = policy.diesAfter === undefined;
  const { description, runs } = await describer.describeToTheEnd(url, {
    async betweenRuns(unfinished) {
      noLies(unfinished);
      if (!alive) await revive();
      alive = true;
    },
  });
  if (policy.diesAfter !== undefined) expect(runs).toBeGreaterThan(1);
  return description;
}

function noLies(description: VoidDescription): void {
  const { wrongExact, wrongBounds, wrongComplete, invented } = compareWithTruth(description, truth);
  expect({ wrongExact, wrongBounds, wrongComplete, invented }).toEqual({
    wrongExact: [],
    wrongBounds: [],
    wrongComplete: [],
    invented: [],
  });
}

describe("a computed description", () => {
  it.each(policies.map(({ name }) => name))("of the engine %s is true and has what agents need", async (name) => {
    const engine = engineNamed(name);
    const description = await described(engine);
    const { recall, precision } = compareWithTruth(description, truth);
    noLies(description);
    expect(recall).toBeGreaterThanOrEqual(0.95);
    expect(precision).toBe(1);
    const sign = met[name];
    if (sign !== undefined) expect((await engine.statistics())[sign], sign).toBeGreaterThan(0);
  });

  it.each(policies.filter(({ diesAfter }) => diesAfter === undefined).map(({ name }) => name))(
    "of the engine %s is true when the data are read",
    async (name) => {
      const { description } = await reader.describeToTheEnd(engineNamed(name).url, { betweenRuns: noLies });
      const { recall, precision } = compareWithTruth(description, truth);
      noLies(description);
      expect(recall).toBeGreaterThanOrEqual(0.95);
      expect(precision).toBe(1);
      // No question for facts has as many rows.
      if (name === "high-cap") expect((await engineNamed(name).statistics()).capped).toBeGreaterThan(0);
    },
  );

  it("has true lists before anything is verified", async () => {
    const complete: string[] = [];
    for (const engine of simulated.engines.filter(({ policy }) => policy.diesAfter === undefined)) {
      const { policy, url } = engine;
      const description = await describer.describe(url, { onlyLists: true });
      noLies(description);
      if (description.propertiesComplete) complete.push(policy.name);
    }
    // All that answer such queries whole, and no other.
    const sound = /^(?:plain|low-cap|low-cap-header|high-cap|bursts|no-values|distinct-.*|slow)$/u;
    expect(complete).toEqual(policies.map(({ name }) => name).filter((name) => sound.test(name)));
  });

  it("of an engine without limits is exact", async () => {
    const description = await described(engineNamed("plain"));
    const { exactShare, completeLists, lists } = compareWithTruth(description, truth);
    expect(exactShare).toBeGreaterThanOrEqual(0.9);
    expect(completeLists / lists).toBeGreaterThanOrEqual(0.9);
    expect(description.unfinished).toBe(false);
  });
});
