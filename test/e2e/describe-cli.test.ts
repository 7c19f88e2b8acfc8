import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCommand, startProgram } from "../support/built-program.ts";
import { startBookServer } from "../support/book-server.ts";
import { newFolder } from "../support/scratch-folder.ts";

// `fedway describe` by what it prints, its exit code and the requests that reach the endpoint.

const server = await startBookServer();
const unfinished = 'fedway:unfinished "true"';
const env = { FEDWAY_ALLOW_ADDRESSES: "127.0.0.0/8" };
const describing = (...options: readonly string[]) => runCommand(["describe", server.url, ...options], env);

describe("a budget", () => {
  it("of requests is kept; an unfinished description is written, and a success with --partial only", async () => {
    const budget = ["--no-retrieve", "--max-requests", "6"];
    const failed = await describing(...budget);
    expect(server.requests).toHaveLength(6);
    expect(server.requests.every(({ query }) => query !== undefined)).toBe(true);
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining(unfinished) });
    expect(failed.stdout).toContain("urn:x:Book");
    expect(failed.stderr).toContain("unfinished: a larger --max-requests or --timeout may find more");
    expect(await describing(...budget, "--partial")).toMatchObject({ code: 0 });
  });

  it("of requests holds for the search for the publisher's description, too", async () => {
    expect(await describing("--max-requests", "2")).toMatchObject({ code: 1 });
    expect(server.requests.length).toBeLessThanOrEqual(2);
  });

  it("of time ends the run while an answer is awaited", async () => {
    server.setFault({ kind: "hang" });
    const { code, stdout, stderr } = await describing("--timeout", "300");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("next: fedway probe http://127.0.0.1");
    expect(server.requests.every(({ aborted }) => aborted)).toBe(true);
  });
});

it.each([[[]], [["--partial"]]])(
  "interrupted with %j, it writes the findings so far and ends with 130",
  async (more) => {
    // After the list of classes has been found.
    server.setFault({ kind: "hang" }, Number.POSITIVE_INFINITY, 6);
    const command = [process.execPath, "dist/cli/main.js", "describe", server.url, "--no-retrieve", ...more];
    const program = startProgram(command, { ...env, FEDWAY_DATA_DIR: newFolder(), FEDWAY_ADMIN_TOKEN: "off" });
    await program.until(() => server.requests[6]);
    program.process.kill("SIGINT");
    expect(await program.ended).toBe(130);
    expect(program.log()).toContain("Interrupted: the description is unfinished.");
    expect(program.output.stdout).toContain(unfinished);
    expect(program.output.stdout).toContain("urn:x:Book");
  },
);

it("an endpoint that refuses every query is an error", async () => {
  server.setFault({ kind: "status", status: 403 });
  expect(await describing()).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("none of the") });
});

describe("what is written", () => {
  it("is a short text with --summary, which names the endpoint's own address", async () => {
    const { code, stdout } = await describing("--summary");
    expect(code).toBe(0);
    expect(stdout).toContain(`, ${server.url}\n`);
    expect(stdout).toMatch(/^triples: 2$/m);
    expect(stdout).toMatch(/^.*Book.* \(1\): .*title/m);
    expect(stdout.split("\n").length).toBeLessThan(30);
  });

  it("is the whole description with --json: the run, its schema and its VoID, into a file with --output", async () => {
    const file = join(newFolder(), "books.json");
    expect(await describing("--json", "--output", file)).toMatchObject({ code: 0, stdout: "" });
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({
      classes: 1,
      properties: 2,
      unfinished: false,
      cost: { requests: expect.any(Number) },
      schema: {
        truncated: false,
        json: { endpoint: server.url, classes: [{ iri: "urn:x:Book", entities: { value: 1, status: "exact" } }] },
      },
      void: expect.arrayContaining([expect.objectContaining({ "@id": expect.any(String) })]),
    });
    expect(await describing("--json", "--view", "planner")).toMatchObject({ code: 2, stdout: "" });
  });
});

it("the entry of a command that was killed is gone with the next one, and the next start", async () => {
  server.setFault({ kind: "hang" });
  const own = { ...env, FEDWAY_DATA_DIR: newFolder(), FEDWAY_ADMIN_TOKEN: "off" };
  const program = startProgram([process.execPath, "dist/cli/main.js", "describe", server.url], own);
  await program.until(() => server.requests[0]);
  program.process.kill("SIGKILL");
  await program.ended;
  const { code, stdout } = await runCommand(["endpoints", "list", "--json"], own);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.not.stringContaining("once-") });
});
