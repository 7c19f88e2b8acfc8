import { afterAll, expect, it } from "vitest";
import { createEndpointDescriber } from "../../../support/endpoint-describer.ts";
import { startSparqlTestServer } from "../../../support/sparql-test-server.ts";

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const describer = createEndpointDescriber();
afterAll(() => describer.close());

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
    const description = await describer.describe(server.url, { onlyLists: true });
    const { records, classPartitions, propertyPartitions, unfinished } = description;
    const { classesComplete, propertiesComplete } = description;
    expect(records).toHaveLength(8);
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
  ["6,000 triples, 20 classes: what selection needs", 2_000, 20, { budget: { requests: 4 } }, 4, 1_000_000],
  ["6,000 triples, 20 classes: everything", 2_000, 20, {}, 8, 1_000_000],
  ["6,000 triples, 500 classes: everything", 2_000, 500, {}, 9, 1_200_000],
  ["24,000 triples, 20 classes: everything", 8_000, 20, {}, 60, 200_000],
  ["30,000 triples, 500 classes: everything", 10_000, 500, {}, 80, 3_000_000],
])("%s takes few requests and bytes", async (_name, count, classes, call, mostRequests, mostBytes) => {
  const server = await startSparqlTestServer(instances(count, classes));
  try {
    const { cost, triples, propertiesComplete, classesComplete, ...description } = await describer.describe(
      server.url,
      call,
    );
    expect({ triples, propertiesComplete, classesComplete }).toMatchObject({
      triples: { value: 3 * count, status: "exact" },
      propertiesComplete: true,
      classesComplete: true,
    });
    expect(description.unknown.filter(({ why }) => why !== "budget")).toEqual([]);
    const probed = description.records.flatMap(({ query }) => /VALUES \?a0|COUNT\(DISTINCT \?x\)/u.exec(query) ?? []);
    expect(probed.length).toBeLessThanOrEqual(4);
    expect(cost.requests).toBeLessThanOrEqual(mostRequests);
    expect(cost.bytes).toBeLessThanOrEqual(mostBytes);
  } finally {
    await server.close();
  }
});
