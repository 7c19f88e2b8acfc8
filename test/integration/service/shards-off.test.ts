import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Problem } from "../../../src/errors/fedway-error.ts";
import { shardCommands } from "../../../src/app/plugins.ts";
import { type RunningService, startService } from "../../support/running-service.ts";
import { cli } from "../../support/run-cli.ts";

describe("without the benchmark factory", () => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startService({}, { FEDWAY_SHARDS: "off", FEDWAY_EXAMPLES: "on" });
  });
  afterAll(() => service.app.close());

  it.each([
    ["GET", "/api/shards"],
    ["POST", "/api/shards"],
    ["GET", "/api/shards/harbour/report"],
    ["GET", "/shards/harbour/base/sparql?query=ASK%7B%7D"],
  ])("%s %s says that shards are off", async (method, path) => {
    const response = await fetch(service.url + path, { method });
    const { code, detail, next } = (await response.json()) as Problem;
    expect({ status: response.status, code, detail, next }).toEqual({
      status: 404,
      code: "SHARDS_UNKNOWN",
      detail: "Shards are switched off (FEDWAY_SHARDS=off).",
      next: "Start without FEDWAY_SHARDS=off.",
    });
  });

  it("leaves their routes out of the API's documentation and says so in readiness", async () => {
    const { paths, tags } = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
      paths: Record<string, unknown>;
      tags: readonly { name: string }[];
    };
    expect(Object.keys(paths).length).toBeGreaterThan(50);
    expect(Object.keys(paths).filter((path) => path.includes("shards"))).toEqual([]);
    expect(tags.map(({ name }) => name)).not.toContain("Shards");
    const { checks } = (await (await fetch(`${service.url}/health/ready`)).json()) as { checks: { shards: unknown } };
    expect(checks.shards).toEqual({ ok: true, detail: "off" });
  });

  it("answers queries", async () => {
    const answer = await service.query("SELECT (COUNT(*) AS ?n) { SERVICE <people> { ?s ?p ?o } }");
    expect(answer.status).toBe(200);
  });

  it("has no commands, and says so", async () => {
    const off = await shardCommands(true, () => {
      throw new Error("no configuration is read");
    });
    const { code, err } = await cli(["shards", "build", "spec.json", "--dry-run"], { plugins: [off] });
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("Shards are switched off") });
  });
});
