import { beforeAll, describe, expect, it } from "vitest";
import { createDescriber, type DescribeOptions } from "../../../../src/registry/descriptions/compute/describer.ts";
import { systemClock } from "../../../../src/clock.ts";
import { compareWithTruth } from "../../../support/compare-with-truth.ts";
import { describedUnits } from "../../../support/described-data.ts";
import { type DataTruth, truthOf } from "../../../support/void-truth.ts";
import { createPolicyAsker, type Policy, type PolicyAsker } from "./policy-asker.ts";
import type { VoidDescription } from "../../../../src/registry/descriptions.ts";
import { schemaView } from "../../../../src/registry/schema.ts";

const shape = { seed: 5, triples: 700, classes: 8, maxProperties: 12 };
const instant = { ...systemClock, setTimeout: (run: () => void) => systemClock.setTimeout(run, 0) };
const graphs = ["http://graphs.example/a", "http://graphs.example/b", "http://graphs.example/c"] as const;

/** The graphs hold disjoint thirds of the data, or two of them also share some; the default graph is empty. */
let apart: readonly string[];
let overlapping: readonly string[];
let truth: DataTruth;

beforeAll(() => {
  const triples = [...describedUnits(shape)].flat();
  truth = truthOf(triples);
  apart = triples.map((triple, at) => `${triple.join(" ")} <${graphs[at % 3]}> .`);
  const again = triples.filter((_, at) => at % 5 === 1).map((triple) => `${triple.join(" ")} <${graphs[0]}> .`);
  overlapping = [...apart, ...again];
});

async function describeWith(
  asker: PolicyAsker,
  options: Partial<DescribeOptions> = {},
  readBytes = 10_000_000,
): Promise<VoidDescription> {
  const describer = createDescriber({ asker, clock: instant, pauseMs: 0, checkpointEvery: 1, readBytes });
  const target = { endpoint: { url: "http://endpoint.example/sparql" } };
  return (await describer.describe(target, { signal: new AbortController().signal, ...options })).description;
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

const sizesOf = (lines: readonly string[], graph: string): number =>
  new Set(lines.filter((line) => line.endsWith(`<${graph}> .`))).size;

describe("data in named graphs only", () => {
  it.each(["apart", "overlapping"] as const)("that lie %s: their union is described exactly", async (how) => {
    const lines = how === "apart" ? apart : overlapping;
    const description = await describeWith(createPolicyAsker(lines));
    shouldBeTrue(description);
    expect(compareWithTruth(description, truth)).toMatchObject({ exactShare: 1, recall: 1 });
    expect(description).toMatchObject({ unfinished: false, unknown: [], triples: { value: truth.triples } });
    expect(description.namedGraphs?.complete).toBe(true);
    const listed = description.namedGraphs?.list.map(({ graph, triples }) => [graph, triples?.value, triples?.status]);
    expect(listed?.toSorted()).toEqual(graphs.map((graph) => [graph, sizesOf(lines, graph), "exact"]));
  });

  it.each([10_000_000, 0])(
    "a default graph with data is described, and the graphs beside it are listed",
    async (most) => {
      const lines = [...overlapping, "<http://x.example/s> <http://x.example/p> <http://x.example/o> ."];
      const description = await describeWith(createPolicyAsker(lines), {}, most);
      expect(description.namedGraphs).toBeUndefined();
      expect(description.triples).toMatchObject({ value: 1, status: "exact" });
      const { list, complete } = description.graphsBeside ?? {};
      const sizes = list?.map(({ graph, triples }) => [graph, triples?.value, triples?.status]);
      expect(sizes?.toSorted()).toEqual(graphs.map((graph) => [graph, sizesOf(lines, graph), "exact"]));
      expect({ complete, unknown: description.unknown }).toEqual({ complete: true, unknown: [] });
      const text = schemaView(description, { detail: "summary", maxTokens: 2_000 }).text;
      expect(text).toContain(`graphs beside the default graph, not counted here: ${list?.[0]?.graph} (`);
    },
  );

  it("no graph has data: there is nothing", async () => {
    const description = await describeWith(createPolicyAsker([]));
    expect(description).toMatchObject({ triples: { value: 0, status: "exact" }, classesComplete: true, unknown: [] });
    expect(description.namedGraphs).toBeUndefined();
  });

  it("of very many graphs some are listed, and all are counted", async () => {
    const many = Array.from({ length: 620 }, (_, at) => [
      `<http://x.example/${at}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://x.example/C> <urn:g:${at}> .`,
      `<http://x.example/${at}> <http://x.example/p> "${at}" <urn:g:${at}> .`,
    ]).flat();
    const asker = createPolicyAsker(many);
    const description = await describeWith(asker);
    expect(description.namedGraphs?.list).toHaveLength(500);
    expect(description.namedGraphs?.complete).toBe(false);
    expect(description.unknown).toContainEqual(expect.objectContaining({ what: "graph list" }));
    expect(description.triples).toMatchObject({ value: 1240, status: "exact" });
    expect(description.classPartitions).toMatchObject([{ entities: { value: 620, status: "exact" } }]);
    expect(asker.queries.length).toBeLessThan(110);
  });

  const policies: Readonly<Record<string, Policy>> = {
    "cuts at 100 rows": { rowCap: 100 },
    "does not count": { noCount: true },
    "knows no VALUES": { noValues: true },
    "times out": { workLimit: 300, beyond: "timeout" },
    "stops silently": { workLimit: 300, beyond: "first-solutions" },
    "sees some triples only": { workLimit: 300, beyond: "some-triples" },
    "counts too little": { workLimit: 300, beyond: "scaled" },
    "refuses DISTINCT": { distinct: "refused" },
    "refuses COUNT(DISTINCT)": { distinct: "count-refused" },
    "ignores DISTINCT": { distinct: "ignored" },
    "estimates COUNT(DISTINCT)": { distinct: "estimated" },
    "estimates COUNT(DISTINCT) of data": { distinct: "data-estimated" },
  };
  it.each(Object.entries(policies))("of an endpoint that %s: nothing wrong is said", async (_name, policy) => {
    const description = await describeWith(createPolicyAsker(overlapping, policy));
    shouldBeTrue(description);
    expect(compareWithTruth(description, truth).recall).toBeGreaterThanOrEqual(0.95);
    for (const { graph, triples } of description.namedGraphs?.list ?? []) {
      const size = sizesOf(overlapping, graph);
      if (triples?.status === "exact") expect(triples.value).toBe(size);
      else expect(triples?.value ?? 0).toBeLessThanOrEqual(size);
    }
  });

  it("in small portions: the same comes out", async () => {
    const asker = createPolicyAsker(overlapping);
    let known: VoidDescription | undefined;
    for (let runs = 0; runs < 12 && known?.unfinished !== false; runs++)
      known = await describeWith(asker, { budget: { requests: 30 }, ...(known && { known }) });
    expect(known?.unfinished).toBe(false);
    if (known) shouldBeTrue(known);
    expect(known?.namedGraphs?.list).toHaveLength(3);
  });
});
