import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startService } from "../../support/running-service.ts";

// MCP as its official client speaks it, in the revision of 2026 and the older ones.

let service: Awaited<ReturnType<typeof startService>>;
const open: Client[] = [];

beforeAll(async () => {
  service = await startService({}, { FEDWAY_EXAMPLES: "on" });
});
afterAll(async () => {
  for (const client of open) await client.close();
  await service?.close();
});

type Mode = "legacy" | "auto" | { readonly pin: string };

async function connect(mode: Mode, path = "/mcp"): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(service.url + path)));
  open.push(client);
  return client;
}

describe.each<[string, Mode]>([
  ["2026-07-28", { pin: "2026-07-28" }],
  ["2025", "legacy"],
])("revision %s", (_name, mode) => {
  it("lists tools, calls one, reads resources and gives the prompt", async () => {
    const client = await connect(mode);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["find_endpoints", "describe_endpoint", "search_terms", "run_query"]);
    const called = await client.callTool({ name: "find_endpoints", arguments: { question: "people", limit: "2" } });
    expect(called.isError).toBeFalsy();
    expect(JSON.stringify(called.content)).toContain("people");
    expect(called.structuredContent).toMatchObject({ endpoints: [{ id: "people" }, {}] });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain("fedway://endpoints/people/schema");
    const skill = await client.readResource({ uri: "fedway://skill" });
    expect(JSON.stringify(skill.contents)).toContain("run_query");
    const prompt = await client.getPrompt({ name: "answer_question", arguments: { question: "Who?" } });
    expect(JSON.stringify(prompt.messages)).toContain("Question: Who?");
  });

  it("answers what a model can mend as the answer of a tool", async () => {
    const client = await connect(mode);
    for (const [name, given, code] of [
      ["find_endpoint", {}, "TOOL_UNKNOWN"],
      ["find_endpoints", {}, "REQUEST_INVALID"],
      ["describe_endpoint", { endpoint: "nobody" }, "ENDPOINT_UNKNOWN"],
      ["run_query", { query: "SELECT" }, "QUERY_SYNTAX"],
      ["run_query", { cursor: "x:5" }, "RESULT_UNKNOWN"],
      ["search_terms", { query: "x".repeat(1 << 20) }, "REQUEST_INVALID"],
    ] as const) {
      const { isError, structuredContent, content } = await client.callTool({ name, arguments: given });
      expect([name, isError, structuredContent]).toMatchObject([name, true, { status: "failed", diagnosis: { code } }]);
      expect(JSON.stringify(content).length).toBeLessThan(900);
    }
  });
});
