import { afterAll, describe, expect, it } from "vitest";
import { EndpointPool } from "../../../src/hosting/endpoint-pool.ts";
import { createExampleFederation } from "../../../src/hosting/example-federation.ts";
import { ask, limits } from "../../support/endpoint-under-test.ts";

const pool = new EndpointPool(limits);
const federation = createExampleFederation(pool, 64);
afterAll(() => pool.close());

describe("the example federation", () => {
  for (const [id, triples] of Object.entries({
    museums: 6781,
    people: 7180,
    places: 2040,
    library: 4065,
    weather: 1400,
  })) {
    it(`answers for ${id}`, async () => {
      expect(federation.size).toBe(5);
      const endpoint = federation.get(id);
      if (endpoint === undefined) throw new Error(`no ${id}`);
      expect(await ask(endpoint, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")).toBe(`n\r\n${triples}\r\n`);
    });
  }
});
