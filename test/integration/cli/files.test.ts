import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FedwayError, toProblem } from "../../../src/errors/fedway-error.ts";
import { cli } from "../../support/run-cli.ts";
import { newFolder } from "../../support/scratch-folder.ts";

const snapshot = { schema: 1, endpoints: [{ id: "alpha", state: "up" }] };
const answer = (value: unknown, status = 200): Response => Response.json(value, { status });
const implausible = new FedwayError("SNAPSHOT_IMPLAUSIBLE", "It has lost 30 % of its endpoints.", {
  next: "Review it, then repeat with --reviewed.",
});

describe("fedway export", () => {
  it("publishes here when nobody holds the data folder", async () => {
    const run = await cli(["export", "--reviewed"], { fetch: () => answer(snapshot) });
    expect(run.err).toContain("No service is running");
    expect(JSON.parse(run.out)).toStrictEqual(snapshot);
    expect(run.calls.map(({ url }) => url)).toStrictEqual(["http://127.0.0.1:3000/api/snapshot?reviewed=true"]);
    expect(run).toMatchObject({ code: 0, closed: 1 });
  });

  it("asks the service that holds it, with the token", async () => {
    const holder = { pid: 1, url: "http://127.0.0.1:4000" };
    const run = await cli(["export"], { holder, adminToken: "0123456789abcdef", fetch: () => answer(snapshot) });
    expect(JSON.parse(run.out)).toStrictEqual(snapshot);
    expect(run.calls).toMatchObject([
      {
        url: "http://127.0.0.1:4000/api/snapshot",
        init: { method: "POST", headers: { Authorization: "Bearer 0123456789abcdef" } },
      },
    ]);
  });

  it("asks the service that is named", async () => {
    const run = await cli(["export", "--url", "http://127.0.0.1:9", "--reviewed"], { fetch: () => answer(snapshot) });
    expect(run.calls.map(({ url }) => url)).toStrictEqual(["http://127.0.0.1:9/api/snapshot?reviewed=true"]);
    expect(run.code).toBe(0);
  });

  it("takes a URL that ends with a slash", async () => {
    const run = await cli(["export", "--url", "http://127.0.0.1:9/fedway/"], { fetch: () => answer(snapshot) });
    expect(run.calls.map(({ url }) => url)).toStrictEqual(["http://127.0.0.1:9/fedway/api/snapshot"]);
  });

  it("says that an answer broke off, which is not an answer of another kind", async () => {
    const half = new ReadableStream({
      start(stream) {
        stream.enqueue(Buffer.from('{"schema":1,'));
        stream.error(new TypeError("terminated"));
      },
    });
    const run = await cli(["export", "--url", "http://127.0.0.1:9"], { fetch: () => new Response(half) });
    expect(run).toMatchObject({ code: 1, out: "" });
    expect(run.err).toMatch(/^ENDPOINT_UNREACHABLE: /);
    expect(run.err).not.toContain("did not answer as a Fedway service does");
  });

  it("writes into a file and says how much", async () => {
    const folder = newFolder();
    const file = join(folder, "status.json");
    const run = await cli(["export", "--output", file], { fetch: () => answer(snapshot) });
    expect(run.out).toBe("");
    expect(JSON.parse(await readFile(file, "utf8"))).toStrictEqual(snapshot);
    expect(run.err).toMatch(/status\.json: \d+ bytes\n$/u);
  });

  it("writes nothing when the snapshot is implausible", async () => {
    const folder = newFolder();
    const run = await cli(["export", "--output", join(folder, "status.json")], {
      fetch: () => answer(toProblem(implausible), 409),
    });
    expect(run).toMatchObject({ code: 1, out: "", closed: 1 });
    expect(run.err).toContain("SNAPSHOT_IMPLAUSIBLE");
    await expect(readFile(join(folder, "status.json"))).rejects.toThrow("ENOENT");
  });

  it("repeats what a service refuses", async () => {
    const run = await cli(["export", "--url", "http://127.0.0.1:9"], {
      fetch: () => answer(toProblem(implausible), 409),
    });
    expect(run.err).toContain("It has lost 30 % of its endpoints.");
    expect(run.err).toContain("--reviewed");
    expect(run).toMatchObject({ code: 1, out: "" });
  });

  it("says when no service is there, or answers something else", async () => {
    expect((await cli(["export", "--url", "http://127.0.0.1:9"])).code).toBe(1);
    const odd = await cli(["export", "--url", "http://127.0.0.1:9"], { fetch: () => new Response("<html>") });
    expect(odd.err).toContain("did not answer as a Fedway service does");
    expect(odd.code).toBe(1);
  });
});

it("fedway query reads the query from a file", async () => {
  const folder = newFolder();
  await writeFile(join(folder, "query.rq"), "DESCRIBE <urn:x:é>");
  const { calls } = await cli(["query", join(folder, "query.rq")], { fetch: () => new Response("yes") });
  expect(calls[0]?.init?.body).toBe("DESCRIBE <urn:x:é>");
});
