import { describe, expect, it } from "vitest";
import type { ProbeOutcome } from "../../../src/registry/capabilities/capabilities.ts";
import type { ScorePart, WindowSummary } from "../../../src/monitor/monitor.ts";
import { type ScoreInput, scoreOf } from "../../../src/monitor/score.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { sampleDescription } from "../../support/sample-description.ts";
import type { Capabilities } from "../../../src/registry/capabilities.ts";

const window = (name: WindowSummary["window"], more: Partial<WindowSummary> = {}): WindowSummary => ({
  window: name,
  probes: 0,
  good: 0,
  faults: {},
  ...more,
});

const probed = (name: WindowSummary["window"], good: number, probes: number): WindowSummary =>
  window(name, { probes, good, uptime: good / probes });

const verdicts = (...given: readonly ProbeOutcome["verdict"][]): Capabilities => {
  const names = ["values", "aggregates", "minus", "subquery", "optional"] as const;
  const constructs = Object.fromEntries(given.map((verdict, at) => [names[at], { verdict, durationMs: 1 }]));
  return {
    endpoint: "http://people.example/sparql",
    probedAt: "2026-01-01T00:00:00.000Z",
    reachable: true,
    constructs,
    methods: [],
    formats: [],
  };
};

const nothing: ScoreInput = {
  entry: catalogEntry("people"),
  windows: [],
  capabilities: undefined,
  description: undefined,
};

function shouldScore(name: ScorePart["name"], input: Partial<ScoreInput>, wanted: Partial<ScorePart>): void {
  const part = scoreOf({ ...nothing, ...input }).parts.find((one) => one.name === name);
  expect({ points: part?.points, why: part?.why }).toEqual({ points: wanted.points, why: wanted.why });
}

describe("reachable is", () => {
  it.each([
    ["unknown before the first probe", [window("30d")], undefined, "It has not been probed yet."],
    ["uptime", [probed("30d", 99, 100)], 39.6, "99 of 100 probes of the last 30 days were good (99 %)."],
    [
      "of 30 days",
      [probed("24h", 0, 4), probed("30d", 4, 4), probed("90d", 1, 4)],
      40,
      "4 of 4 probes of the last 30 days were good (100 %).",
    ],
    [
      "of 90 days when that is all there is",
      [window("30d"), probed("90d", 1, 2)],
      20,
      "1 of 2 probes of the last 90 days were good (50 %).",
    ],
    [
      "of 7 days without longer windows",
      [probed("7d", 1, 1)],
      40,
      "1 of 1 probe of the last 7 days were good (100 %).",
    ],
    [
      "never rounded up to 100 %",
      [probed("30d", 9999, 10_000)],
      40,
      "9,999 of 10,000 probes of the last 30 days were good (99.9 %).",
    ],
    ["0 when nothing was good", [probed("30d", 0, 3)], 0, "0 of 3 probes of the last 30 days were good (0 %)."],
  ] as const)("%s", (_, windows, points, why) => {
    shouldScore("reachable", { windows }, { ...(points !== undefined && { points }), why });
  });
});

describe("correct is", () => {
  it.each([
    ["unknown without probes", undefined, undefined, "None of its answers has been checked yet."],
    ["unknown for what has no constructs", verdicts(), undefined, "None of its answers has been checked yet."],
    [
      "unknown when it was not reachable",
      { ...verdicts("failed"), reachable: false },
      undefined,
      "It could not be reached when its answers were to be checked.",
    ],
    ["all", verdicts("right", "right"), 25, "2 of 2 constructs gave the right answer."],
    [
      "a share",
      verdicts("right", "wrong", "refused", "failed", "right"),
      10,
      "2 of 5 constructs gave the right answer (1 wrong, 1 refused, 1 failed).",
    ],
    ["none", verdicts("wrong"), 0, "0 of 1 construct gave the right answer (1 wrong)."],
  ] as const)("%s", (_, capabilities, points, why) => {
    shouldScore("correct", { capabilities }, { ...(points !== undefined && { points }), why });
  });
});

describe("described counts", () => {
  const complete = { ...sampleDescription, classesComplete: true, propertiesComplete: true };
  const lists = "complete list of classes, complete list of properties";
  const bare = {
    ...complete,
    classPartitions: [],
    propertyPartitions: [],
    classesComplete: false,
    propertiesComplete: false,
  };
  const { triples: _, description: __, license: ___, ...empty } = bare;
  it.each([
    ["a title", nothing, 2, `There: title; missing: description, licence, homepage, VoID description, ${lists}.`],
    [
      "the entry's texts",
      {
        entry: catalogEntry("people", {
          description: "x",
          license: "http://l.example/",
          homepage: "http://h.example/",
        }),
      },
      8,
      `There: title, description, licence, homepage; missing: VoID description, ${lists}.`,
    ],
    [
      "no blank text",
      { entry: catalogEntry("people", { title: " ", description: "" }) },
      0,
      `There: nothing; missing: title, description, licence, homepage, VoID description, ${lists}.`,
    ],
    [
      "the publisher's texts",
      { description: complete },
      18,
      `There: title, description, licence, VoID description, ${lists}; missing: homepage.`,
    ],
    [
      "triples as a description",
      { description: bare },
      12,
      `There: title, description, licence, VoID description; missing: homepage, ${lists}.`,
    ],
    [
      "no empty description",
      { description: empty },
      2,
      `There: title; missing: description, licence, homepage, VoID description, ${lists}.`,
    ],
  ] as const)("%s", (____, input, points, why) => {
    shouldScore("described", input, { points, why });
  });
});

describe("fast is", () => {
  it.each([
    [undefined, undefined, "No probe of the last 7 days was good."],
    [1, 15, "90 % of the good probes of the last 7 days took at most 1 ms."],
    [300, 15, "90 % of the good probes of the last 7 days took at most 300 ms."],
    [1732.05, 7.5, "90 % of the good probes of the last 7 days took at most 1732 ms."],
    [10_000, 0, "90 % of the good probes of the last 7 days took at most 10000 ms."],
    [60_000, 0, "90 % of the good probes of the last 7 days took at most 60000 ms."],
  ])("by a p90 of %s ms %s points", (p90Ms, points, why) => {
    const windows = [window("7d", p90Ms === undefined ? {} : { p90Ms }), window("24h", { p90Ms: 5 })];
    shouldScore("fast", { windows }, { ...(points !== undefined && { points }), why });
  });
});

describe("a score", () => {
  it("is out of the parts that are known", () => {
    const { points, parts } = scoreOf({ ...nothing, windows: [probed("30d", 1, 2)] });
    expect(parts.map((part) => [part.name, part.points, part.outOf])).toEqual([
      ["reachable", 20, 40],
      ["correct", undefined, 25],
      ["described", 2, 20],
      ["fast", undefined, 15],
    ]);
    expect(points).toBe(36.7);
  });

  it("of everything is 100", () => {
    const more = { description: "x", license: "http://l.example/", homepage: "http://h.example/" };
    const score = scoreOf({
      entry: catalogEntry("people", more),
      windows: [probed("30d", 3, 3), { ...probed("7d", 3, 3), p90Ms: 20 }],
      capabilities: verdicts("right"),
      description: { ...sampleDescription, classesComplete: true, propertiesComplete: true },
    });
    expect(score.points).toBe(100);
    expect(score.parts.map(({ measurement }) => measurement)).toEqual([
      "/api/endpoints/people/availability",
      "/api/endpoints/people/capabilities",
      "/api/endpoints/people/void",
      "/api/endpoints/people/availability",
    ]);
  });
});
