import { beforeAll, describe, expect, it } from "vitest";
import {
  createDescriber,
  type DescribeOptions,
  type DescribeTarget,
} from "../../../../src/registry/descriptions/compute/describer.ts";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { systemClock } from "../../../../src/clock.ts";
import { compareWithTruth } from "../../../support/compare-with-truth.ts";
import { describedUnits, type Triple } from "../../../support/described-data.ts";
import { type DataTruth, truthOf } from "../../../support/void-truth.ts";
import { createPolicyAsker, endpointUrl, type Policy, type PolicyAsker } from "./policy-asker.ts";
import type { VoidDescription } from "../../../../src/registry/descriptions.ts";

const shape = { seed: 5, triples: 700, classes: 8, maxProperties: 12 };
const instant = {
  ...systemClock,
  setTimeout: (run: () => void) => systemClock.setTimeout(run, 0),
};

let lines: readonly string[];
let truth: DataTruth;

beforeAll(() => {
  const triples: readonly Triple[] = [...describedUnits(shape)].flat();
  lines = triples.map((triple) => `${triple.join(" ")} .`);
  truth = truthOf(triples);
});

interface Call extends Partial<DescribeOptions> {
  readonly target?: Partial<DescribeTarget>;
  /** 0: as an endpoint that is too large to be read. */
  readonly readBytes?: number;
}

async function describeWith(
  asker: PolicyAsker,
  { target, readBytes = 0, ...options }: Call = {},
): Promise<VoidDescription> {
  const describer = createDescriber({ asker, clock: instant, pauseMs: 0, checkpointEvery: 1, readBytes });
  const asked = { endpoint: { url: endpointUrl }, ...target };
  return (await describer.describe(asked, { signal: new AbortController().signal, ...options })).description;
}

function shouldBeTrue(description: VoidDescription): void {
  const { wrongExact, wrongBounds, wrongComplete, invented } = compareWithTruth(description, truth);
  expect({ wrongExact, wrongBounds, wrongComplete, invented }).toEqual({
    wrongExact: [],
    wrongBounds: [],
    wrongComplete: [],
    invented: [],
  });
}

const limit = 200;
const tight = 50;
const policies: Readonly<Record<string, Policy>> = {
  "cuts at 100 rows": { rowCap: 100 },
  "cuts at 100 rows and says so": { rowCap: 100, capMarked: true },
  "cuts at 37 rows": { rowCap: 37 },
  "does not count": { noCount: true },
  "does not count and cuts": { noCount: true, rowCap: 100 },
  "knows no VALUES": { noValues: true },
  "knows neither": { noValues: true, noCount: true },
  "is busy now and then": { busyEvery: 4 },
  "times out": { workLimit: limit, beyond: "timeout" },
  fails: { workLimit: limit, beyond: "failure" },
  "stops and says so": { workLimit: limit, beyond: "marked" },
  "stops silently": { workLimit: limit, beyond: "first-solutions" },
  "sees some triples only": { workLimit: limit, beyond: "some-triples" },
  "counts too little": { workLimit: limit, beyond: "scaled" },
  "refuses DISTINCT": { distinct: "refused" },
  "refuses COUNT(DISTINCT)": { distinct: "count-refused" },
  "ignores DISTINCT": { distinct: "ignored" },
  "estimates COUNT(DISTINCT)": { distinct: "estimated" },
  "estimates COUNT(DISTINCT) of data": { distinct: "data-estimated" },
  "estimates, and cuts": { distinct: "data-estimated", rowCap: 37 },
  "ignores DISTINCT, and times out": { distinct: "ignored", workLimit: limit, beyond: "timeout" },
  "cuts and times out": { rowCap: 100, workLimit: limit, beyond: "timeout" },
  "cuts and sees some": { rowCap: 100, workLimit: limit, beyond: "some-triples" },
};
const hardPolicies: Readonly<Record<string, Policy>> = {
  "times out soon": { workLimit: tight, beyond: "timeout" },
  "stops silently and soon": { workLimit: tight, beyond: "first-solutions" },
  "sees some triples only, soon": { workLimit: tight, beyond: "some-triples" },
  "counts too little soon": { workLimit: tight, beyond: "scaled" },
};

describe("a description of an endpoint that", () => {
  it("has no limits is exact and complete, in few queries", async () => {
    const asker = createPolicyAsker(lines);
    const description = await describeWith(asker);
    const { exactShare, completeLists, lists, recall } = compareWithTruth(description, truth);
    shouldBeTrue(description);
    expect({ exactShare, recall, incomplete: lists - completeLists }).toEqual({
      exactShare: 1,
      recall: 1,
      incomplete: 0,
    });
    expect(description).toMatchObject({ unfinished: false, unknown: [], classesComplete: true });
    expect(asker.queries.length).toBeLessThan(75);
    expect(description.cost.requests).toBe(asker.queries.length);
    expect(description.records).toHaveLength(asker.queries.length);
  });

  it.each(Object.entries(policies))("%s is true and has nearly all facts", async (_name, policy) => {
    const description = await describeWith(createPolicyAsker(lines, policy));
    shouldBeTrue(description);
    expect(compareWithTruth(description, truth).recall).toBeGreaterThanOrEqual(0.95);
  });

  it.each(Object.entries(hardPolicies))("%s is true", async (_name, policy) => {
    const description = await describeWith(createPolicyAsker(lines, policy), { budget: { requests: 400 } });
    shouldBeTrue(description);
    expect(description.classPartitions.length).toBeGreaterThan(0);
  });

  it.each(["cuts at 100 rows", "knows no VALUES", "is busy now and then"])("%s is exact all the same", async (name) => {
    const description = await describeWith(createPolicyAsker(lines, policies[name]));
    expect(compareWithTruth(description, truth).exactShare).toBeGreaterThanOrEqual(0.95);
  });

  it.each([
    "refuses DISTINCT",
    "refuses COUNT(DISTINCT)",
    "ignores DISTINCT",
    "estimates COUNT(DISTINCT)",
    "estimates COUNT(DISTINCT) of data",
  ])("%s counts triples and instances exactly all the same, and says what it cannot count", async (name) => {
    const description = await describeWith(createPolicyAsker(lines, policies[name]));
    const exact = { status: "exact" } as const;
    expect(description).toMatchObject({ triples: exact, classes: exact, properties: exact, classesComplete: true });
    expect(description.classPartitions.every(({ entities }) => entities?.status === "exact")).toBe(true);
    expect(compareWithTruth(description, truth).completeLists).toBe(compareWithTruth(description, truth).lists);
    expect(description.unknown.map(({ what }) => what)).toContainEqual(expect.stringContaining("COUNT(DISTINCT)"));
  });

  it("goes on after a restart without believing COUNT(DISTINCT) again", async () => {
    const asker = createPolicyAsker(lines, { distinct: "data-estimated" });
    let known: VoidDescription | undefined;
    for (let runs = 0; runs < 12 && known?.unfinished !== false; runs++)
      known = await describeWith(asker, { budget: { requests: 25 }, ...(known && { known }) });
    expect(known?.unfinished).toBe(false);
    if (known) shouldBeTrue(known);
  });

  it.each(["does not count", "knows neither"])("%s has no complete lists", async (name) => {
    const description = await describeWith(createPolicyAsker(lines, policies[name]));
    expect(compareWithTruth(description, truth)).toMatchObject({ completeLists: 0, recall: 1 });
    expect(description.unknown).toContainEqual(expect.objectContaining({ why: "refused" }));
  });

  it("is empty says that there is nothing", async () => {
    const description = await describeWith(createPolicyAsker([]));
    expect(description).toMatchObject({
      triples: { value: 0, status: "exact" },
      classes: { value: 0, status: "exact" },
      classPartitions: [],
      classesComplete: true,
      unfinished: false,
    });
  });

  it("cannot be reached says nothing", async () => {
    const description = await describeWith(createPolicyAsker(lines, { diesAfter: 0 }));
    expect(description).toMatchObject({ classPartitions: [], classesComplete: false, unfinished: true });
    expect(description.triples).toBeUndefined();
    expect(description.records.every(({ outcome }) => outcome === "failed")).toBe(true);
  });
});

describe("an endpoint with few triples", () => {
  const readBytes = 10_000_000;

  it("is described in 12 requests from all of them", async () => {
    const asker = createPolicyAsker(lines);
    const description = await describeWith(asker, { readBytes });
    shouldBeTrue(description);
    const { lists } = compareWithTruth(description, truth);
    expect(compareWithTruth(description, truth)).toMatchObject({ exactShare: 1, recall: 1, completeLists: lists });
    expect(description).toMatchObject({ unfinished: false, unknown: [], languages: [...truth.languages].toSorted() });
    expect(asker.queries.length).toBeLessThanOrEqual(12);
    const { triples, cost } = await describeWith(createPolicyAsker(lines), { readBytes, budget: { requests: 5 } });
    expect({ triples, requests: cost.requests }).toMatchObject({ triples: { status: "exact" }, requests: 5 });
  });

  it("says the same as by queries", async () => {
    const facts = ({ records: _records, cost: _cost, ...description }: VoidDescription) =>
      JSON.parse(
        JSON.stringify(description, (name, value: unknown) =>
          ["record", "startedAt", "finishedAt", "namespaces"].includes(name) ? undefined : value,
        ),
      ) as unknown;
    const read = await describeWith(createPolicyAsker(lines), { readBytes });
    const asked = await describeWith(createPolicyAsker(lines));
    expect(facts(read)).toEqual(facts(asked));
    // Namespaces of things: those of vocabularies are in all data sets that use them.
    const ofThings = new Set(lines.flatMap((line) => /^<([^>]*[/#])/u.exec(line)?.[1] ?? []));
    expect(new Set(read.namespaces)).toEqual(ofThings);
    expect(asked.namespaces.filter((each) => !ofThings.has(each))).toEqual([]);
  });

  it.each(Object.entries({ ...policies, ...hardPolicies }))("%s is true", async (_name, policy) => {
    const asker = createPolicyAsker(lines, policy);
    shouldBeTrue(await describeWith(asker, { readBytes, budget: { requests: 400 } }));
  });

  it.each(["cuts at 100 rows", "stops and says so"])("%s: says that reading it was stopped", async (name) => {
    const description = await describeWith(createPolicyAsker(lines, policies[name]), { readBytes });
    const what = expect.stringMatching(/^all triples in one answer/u) as string;
    expect(description.unknown).toContainEqual(expect.objectContaining({ what, why: "partial" }));
  });
});

describe("one answer without rows", () => {
  const isPart = (query: string): boolean => /^SELECT \?c \(COUNT.*VALUES \?c .*\?s \?p \?o/u.test(query);

  it("to a part that is asked again leaves the other facts exact, and is told", async () => {
    const asker = createPolicyAsker(lines);
    let isOver = false;
    const failing: PolicyAsker = {
      ...asker,
      queries: asker.queries,
      async ask(asking) {
        const answer = await asker.ask(asking);
        if (isOver || !isPart(asking.query)) return answer;
        isOver = true;
        return { ...answer, rows: [] };
      },
    };
    const description = await describeWith(failing);
    expect(isOver).toBe(true);
    shouldBeTrue(description);
    expect(compareWithTruth(description, truth).exactShare).toBeGreaterThan(0.99);
    const what = expect.stringContaining("different when asked again") as string;
    expect(description.unknown).toContainEqual(expect.objectContaining({ what, why: "partial" }));
  });
});

it("a class whose properties are never answered leaves all others exact, and is named", async () => {
  const asker = createPolicyAsker(lines);
  const heavy = [...truth.classPartitions].toSorted(([, one], [, other]) => other.triples - one.triples)[0]?.[0] ?? "";
  const failing: PolicyAsker = {
    ...asker,
    queries: asker.queries,
    async ask(asking) {
      const isAll = !/VALUES|\?s a </u.test(asking.query);
      if (
        /\?s \?p \?o/u.test(asking.query) &&
        /\?c|\?s a/u.test(asking.query) &&
        (isAll || asking.query.includes(`<${heavy}>`))
      )
        throw new FedwayError("ENDPOINT_FAILED", "on purpose", { upstreamStatus: 500 });
      return asker.ask(asking);
    },
  };
  const description = await describeWith(failing);
  shouldBeTrue(description);
  const { classPartitions, unknown, classesComplete, unfinished } = description;
  expect({ classesComplete, unfinished }).toEqual({ classesComplete: true, unfinished: false });
  for (const { class: iri, entities, properties, propertiesComplete } of classPartitions) {
    expect(entities?.status).toBe("exact");
    expect(propertiesComplete).toBe(iri !== heavy);
    if (iri === heavy) expect(properties.flatMap(({ triples }) => triples ?? [])).toEqual([]);
    else expect(properties.every(({ triples }) => triples?.status === "exact")).toBe(true);
  }
  expect(unknown).toContainEqual(expect.objectContaining({ what: `properties of <${heavy}>`, why: "failed" }));
  expect(unknown.every(({ what }) => what.includes(heavy))).toBe(true);
});

it("data that grow meanwhile: the description says so", async () => {
  const grown = [...lines, ...lines.map((line) => line.replace(/(?<=^<[^>]+)>/u, "-again>"))];
  const [before, after] = [createPolicyAsker(lines), createPolicyAsker(grown)];
  const growing: PolicyAsker = {
    ...before,
    ask: (asking) => (before.queries.length < 30 ? before : after).ask(asking),
  };
  const description = await describeWith(growing);
  const what = expect.stringMatching(/^the data changed meanwhile: \d+ triples, then \d+$/u) as string;
  expect(description.unknown).toContainEqual(expect.objectContaining({ what, why: "partial" }));
});

describe("a run that ends early", () => {
  it.each([3, 8, 17, 30])("after %i requests goes on from its description", async (diesAfter) => {
    const asker = createPolicyAsker(lines, { diesAfter });
    const first = await describeWith(asker);
    shouldBeTrue(first);
    expect(first.unfinished).toBe(true);
    asker.revive();
    const before = asker.queries.length;
    const second = await describeWith(asker, { known: structuredClone(first) });
    shouldBeTrue(second);
    expect(second.unfinished).toBe(false);
    expect(compareWithTruth(second, truth)).toMatchObject({ recall: 1, exactShare: 1 });
    expect(asker.queries.length - before).toBeLessThan(82 - diesAfter);
  });

  it("goes on in small portions to the same end", async () => {
    const asker = createPolicyAsker(lines);
    let description = await describeWith(asker, { budget: { requests: 25 } });
    let runs = 1;
    for (; description.unfinished && runs < 20; runs++) {
      shouldBeTrue(description);
      description = await describeWith(asker, { known: structuredClone(description), budget: { requests: 25 } });
    }
    expect(description.unfinished).toBe(false);
    expect(compareWithTruth(description, truth)).toMatchObject({ recall: 1, exactShare: 1 });
    expect(runs).toBeGreaterThan(2);
  });

  it("asks nothing of what is finished", async () => {
    const asker = createPolicyAsker(lines);
    const known = await describeWith(asker);
    const before = asker.queries.length;
    const again = await describeWith(asker, { known });
    expect(asker.queries.length).toBe(before);
    expect(again.classPartitions).toEqual(known.classPartitions);
  });

  it("is cancelled by its signal, after a last checkpoint", async () => {
    const asker = createPolicyAsker(lines);
    const controller = new AbortController();
    const checkpoints: VoidDescription[] = [];
    const running = describeWith(asker, {
      signal: controller.signal,
      save: async (description) => {
        checkpoints.push(description);
        if (checkpoints.length === 10) controller.abort();
      },
    });
    await expect(running).rejects.toMatchObject({ code: "CANCELLED" });
    expect(asker.queries).toHaveLength(10);
    expect(checkpoints).toHaveLength(11);
    for (const checkpoint of checkpoints) shouldBeTrue(checkpoint);
    expect(checkpoints.at(-1)?.unfinished).toBe(true);
  });

  it("stops after five time-outs in a row", async () => {
    const asker = createPolicyAsker(lines, { workLimit: -1, beyond: "timeout" });
    const description = await describeWith(asker, { target: { rowCap: 100 } });
    expect(description.unfinished).toBe(true);
    expect(asker.queries).toHaveLength(5);
  });
});

describe("a retrieved description", () => {
  it("keeps its claims and is completed", async () => {
    const known: VoidDescription = {
      ...(await describeWith(createPolicyAsker([]))),
      source: "retrieved",
      title: "A title",
      triples: { value: 7, status: "claimed", record: 0 },
      classPartitions: [],
      classesComplete: false,
    };
    const description = await describeWith(createPolicyAsker(lines), { known });
    shouldBeTrue(description);
    expect(description).toMatchObject({ source: "mixed", title: "A title", triples: { status: "exact" } });
  });
});

it("reports progress in its own words", async () => {
  const stages = new Set<string>();
  await describeWith(createPolicyAsker(lines), { onProgress: ({ stage }) => stages.add(stage) });
  expect([...stages]).toEqual(expect.arrayContaining(["classes", "properties", "object classes", "done"]));
});
