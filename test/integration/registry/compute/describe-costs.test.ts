import { afterAll, expect, it } from "vitest";
import { createEndpointDescriber } from "../../../support/endpoint-describer.ts";
import { startSparqlTestServer } from "../../../support/sparql-test-server.ts";
import type { VoidDescription } from "../../../../src/registry/descriptions.ts";

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const describer = createEndpointDescriber();
/** Reads no data whole. */
const asking = createEndpointDescriber({ readBytes: 0 });
afterAll(() => Promise.all([describer.close(), asking.close()]));

/** Instances with three triples each, evenly of so many classes with a property of their own each. */
function instances(count: number, classes: number): string {
  const lines = Array.from({ length: count }, (_, at) => {
    const own = `http://x.example/${at % classes}`;
    return [
      `<http://x.example/s${at}> <${rdfType}> <${own}/C> .`,
      `<http://x.example/s${at}> <${own}/p> "${at}" .`,
      `<http://x.example/s${at}> <http://x.example/next> <http://x.example/s${at + 1}> .`,
    ];
  });
  return lines.flat().join("\n");
}

it("a few requests list and count what selection goes by, before anything is verified", async () => {
  const server = await startSparqlTestServer(instances(10_000, 500));
  try {
    const description = await asking.describe(server.url, { onlyLists: true });
    const { records, classPartitions, propertyPartitions, unfinished } = description;
    const { classesComplete, propertiesComplete } = description;
    expect(records).toHaveLength(7);
    expect({ unfinished, classesComplete, propertiesComplete }).toEqual({
      unfinished: true,
      classesComplete: true,
      propertiesComplete: true,
    });
    const counts = [
      ...classPartitions.map(({ entities }) => entities),
      ...propertyPartitions.map(({ triples }) => triples),
    ];
    expect(counts).toHaveLength(500 + 502);
    expect(counts.every((count) => count?.status === "lowerBound")).toBe(true);
  } finally {
    await server.close();
  }
});

it.each([
  ["6,000 triples, 20 classes: what selection needs", 2_000, 20, { budget: { requests: 6 } }],
  ["6,000 triples, 500 classes: everything", 2_000, 500, {}],
  ["27,000 triples, 20 classes: everything", 9_000, 20, {}],
  ["30,000 triples, 500 classes: everything", 10_000, 500, {}],
])("%s takes at most 11 requests, and fewer bytes than the data as N-Triples", async (_name, count, classes, call) => {
  const data = instances(count, classes);
  const server = await startSparqlTestServer(data);
  try {
    const { cost, unknown, ...description } = await describer.describe(server.url, call);
    expect(description).toMatchObject({
      triples: { value: 3 * count, status: "exact" },
      propertiesComplete: true,
      classesComplete: true,
    });
    expect(unknown.filter(({ why }) => why !== "budget")).toEqual([]);
    expect(cost.requests).toBeLessThanOrEqual(11);
    expect(cost.bytes).toBeLessThanOrEqual(data.length);
  } finally {
    await server.close();
  }
});

/** Without the requests that they came by, and without lists of objects that are no longer known to be complete after a cut. */
const factsOf = ({ triples, classPartitions, propertyPartitions, unknown }: VoidDescription): string =>
  JSON.stringify({ triples, classPartitions, propertyPartitions, unknown }, (name, value: unknown) =>
    name === "record" || name === "objectsComplete" ? undefined : value,
  );

it("a run keeps to its bytes, and the next ones ask only for what is missing", async () => {
  const server = await startSparqlTestServer(instances(10_000, 500));
  try {
    const atOnce = await asking.describe(server.url);
    expect(atOnce).toMatchObject({ unfinished: false, unknown: [], triples: { value: 30_000, status: "exact" } });
    const bytes = atOnce.cost.bytes / 3;
    const spent: number[] = [];
    const { description, runs } = await asking.describeToTheEnd(server.url, {
      budget: { bytes },
      betweenRuns: ({ cost }) => void spent.push(cost.bytes),
    });
    expect(factsOf(description) === factsOf(atOnce)).toBe(true);
    expect(runs).toBeGreaterThan(2);
    expect(description.cost.bytes).toBeLessThan(2 * atOnce.cost.bytes);
    for (const [run, sum] of spent.entries()) expect(sum).toBeLessThanOrEqual((run + 1) * bytes);
  } finally {
    await server.close();
  }
});
