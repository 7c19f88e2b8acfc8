import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type BuiltService, runCommand, startBuiltService } from "../support/built-program.ts";
import { until } from "../support/eventually.ts";
import { newFolder } from "../support/scratch-folder.ts";

// The tools of agents as a program: for people on the command line, for MCP clients over standard input and output.

let service: BuiltService;
beforeAll(async () => {
  service = await startBuiltService({ FEDWAY_MCP_TOKEN: "a-token-of-these-tests" });
});
afterAll(async () => {
  await service?.stop();
});

type Mode = "legacy" | { readonly pin: string };

/** The tools and one answer, as a client of `fedway mcp` gets them; everything else on its standard output would be an error. */
async function useStdio(mode: Mode, words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ["dist/cli/main.js", "mcp", ...words],
    env: { PATH: process.env["PATH"] ?? "", FEDWAY_DATA_DIR: newFolder(), ...env },
    stderr: "pipe",
  });
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const errors: unknown[] = [];
  Object.assign(client, { onerror: (error: unknown) => void errors.push(error) });
  await client.connect(transport);
  const { tools } = await client.listTools();
  // JSON may hold U+2028, at which lines do not end.
  const question = "people\u2028";
  const { structuredContent } = await client.callTool({ name: "find_endpoints", arguments: { question } });
  const { contents } = await client.readResource({ uri: "fedway://skill" });
  await client.close();
  expect(JSON.stringify(contents)).toContain("run_");
  const [, first] = /"id":"([^"]*)"/.exec(JSON.stringify(structuredContent)) ?? [];
  return { tools: tools.map(({ name }) => name), first, errors };
}

describe("fedway mcp", () => {
  it.each<[string, Mode]>([
    ["2026-07-28", { pin: "2026-07-28" }],
    ["2025", "legacy"],
  ])("serves a client of revision %s, here and at a running service", async (_name, mode) => {
    const here = await useStdio(mode, ["--profile", "small"]);
    expect(here).toMatchObject({ first: "people", errors: [] });
    expect(here.tools).toHaveLength(4);
    const token = { FEDWAY_MCP_TOKEN: "a-token-of-these-tests" };
    const there = await useStdio(mode, ["--url", service.url, "--profile", "paper"], token);
    expect(there).toMatchObject({ first: "people", errors: [] });
    expect(there.tools).toEqual(["get_void_descriptions", "run_sparql_query"]);
  });

  it("describes the hosted endpoints", async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: ["dist/cli/main.js", "mcp"],
      env: { PATH: process.env["PATH"] ?? "", FEDWAY_DATA_DIR: newFolder(), FEDWAY_MONITOR: "off" },
      stderr: "pipe",
    });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    onTestFinished(() => client.close());
    const question = "Which painters were born in Icelandic cities?";
    const found = async (): Promise<string> =>
      JSON.stringify(await client.callTool({ name: "find_endpoints", arguments: { question } }));
    await until(async () => (await found()).includes("examples (federation of 5 endpoints)"));
    await until(async () => !(await found()).includes("being described"));
  });

  it("tells a client that the token is wrong", async () => {
    await expect(useStdio("legacy", ["--url", service.url])).rejects.toThrow("status 401");
  });
});

describe("fedway find and terms", () => {
  it.each([
    ["here", () => []],
    ["at a service", () => ["--url", service.url]],
  ] as const)("answer %s", async (_where, at) => {
    const found = await runCommand(["find", "people", "--limit", "1", ...at()]);
    expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining("people (") });
    expect(found.stdout).toMatch(/\nnext: fedway query --endpoint people /);
    const terms = await runCommand(["terms", "zzyzx quuxly", "--json", ...at()]);
    expect(JSON.parse(terms.stdout)).toMatchObject({ total: 0 });
    const wrong = await runCommand(["terms", "x", "--kind", "verb", ...at()]);
    expect(wrong).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("kind must be") });
  });

  it("exit with 1 for a query that is not valid", async () => {
    const at = ["--url", service.url];
    expect(await runCommand(["check", "SELECT * { ?s ?p ?o", ...at])).toMatchObject({ code: 1 });
    const good = await runCommand(["check", "SELECT * { SERVICE <people> { ?s ?p ?o } }", ...at]);
    expect(good).toMatchObject({ code: 0, stdout: expect.stringContaining("valid; direct") });
  });

  it("have help with examples", async () => {
    for (const name of ["find", "terms", "check", "mcp"]) {
      const { code, stdout } = await runCommand([name, "--help"]);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/Examples:\n {2}\$ fedway/)]);
    }
  });
});
