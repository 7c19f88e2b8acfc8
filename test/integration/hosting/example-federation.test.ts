import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createExampleFederation, type ExampleFederation } from "../../../src/hosting/examples/example-federation.ts";
import { ask } from "./endpoint-under-test.ts";

let federation: ExampleFederation;
beforeAll(async () => {
  federation = await createExampleFederation({
    limits: { timeoutMs: 5_000, memoryMb: 64, maxAnswerBytes: 10_000_000, maxQueue: 10 },
  });
});
afterAll(() => federation.close());

describe("the example federation", () => {
  it("hosts five endpoints", () => {
    const sizes = Object.fromEntries([...federation.endpoints].map(([id, { triples }]) => [id, triples]));
    expect(sizes).toEqual({ museums: 6781, people: 7180, places: 2040, library: 4065, weather: 1400 });
  });
  for (const [id, triples] of Object.entries({
    museums: 6781,
    people: 7180,
    places: 2040,
    library: 4065,
    weather: 1400,
  })) {
    it(`answers for ${id}`, async () => {
      const endpoint = federation.endpoints.get(id);
      if (endpoint === undefined) throw new Error(`no ${id}`);
      expect(await ask(endpoint, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")).toBe(`n\r\n${triples}\r\n`);
    });
  }
});
