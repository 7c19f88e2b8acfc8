import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newFolder } from "../support/scratch-folder.ts";
import { startToolCallingModel } from "../support/tool-calling-model.ts";
import { type Fedway, startFedway } from "../support/fedway.ts";

// The programs of deploy/guide/agent-frameworks.md as they stand there, with the real frameworks and a scripted model.

const run = promisify(execFile);
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const longestMs = 600_000;
const guide = readFileSync(here("../../deploy/guide/agent-frameworks.md"), "utf8");

let clients: string;
let fedway: Fedway;
let model: Awaited<ReturnType<typeof startToolCallingModel>>;
let folder: string;
beforeAll(async () => {
  clients = (await run(here("../support/engines/fetch-clients.sh"))).stdout.trim();
  model = await startToolCallingModel();
  fedway = await startFedway({}, { FEDWAY_EXAMPLES: "on" });
  folder = newFolder();
  await symlink(join(clients, "npm/node_modules"), join(folder, "node_modules"));
}, longestMs);
afterAll(async () => {
  await fedway?.close();
  await model?.close();
});

/** The program under a heading of the guide, for this service. */
function programOf(heading: string): string {
  const [, program] =
    new RegExp(`^## ${heading}\n.*?^\`\`\`(?:python|javascript)[^\n]*\n(.*?)^\`\`\``, "ms").exec(guide) ?? [];
  if (program === undefined) throw new Error(`the guide has no program under ${heading}`);
  return program.replaceAll("http://127.0.0.1:3000", fedway.url);
}

async function outputOf(program: string, isPython = true): Promise<string> {
  const file = join(folder, isPython ? "program.py" : "program.mjs");
  await writeFile(file, program);
  const [command, words] = isPython ? [join(clients, "frameworks/bin/python"), [file]] : [process.execPath, [file]];
  const chosen = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "unused", MODEL: "scripted" };
  const env = { ...process.env, ...chosen, LANGSMITH_TRACING: "false", DO_NOT_TRACK: "1" };
  return (await run(command, words, { cwd: folder, env, timeout: longestMs })).stdout;
}

it.each(["LangChain", "LlamaIndex", "OpenAI Agents SDK", "Vercel AI SDK"])(
  "%s hands on the tools to its model, and what they say",
  async (heading) => {
    model.asked.length = 0;
    const output = await outputOf(programOf(heading), heading !== "Vercel AI SDK");
    expect(output).toMatch(/The tool said: .*Andr\S+ Berm/s);
    const [{ tools = [] } = {}] = model.asked;
    expect(tools.map((tool) => tool.function?.name)).toEqual(expect.arrayContaining(["find_endpoints", "run_query"]));
  },
  longestMs,
);

it.each(["Plain MCP", "Without MCP"])(
  "%s lists tools and calls one",
  async (heading) => {
    const output = await outputOf(programOf(heading));
    expect(output).toMatch(/'find_endpoints'.*'run_query'.*status: ok.*Andr\S+ Berm/s);
  },
  longestMs,
);

it(
  "LangChain reads every resource that is listed",
  async () => {
    const lines = programOf("LangChain").split("\n");
    const client = lines.find((line) => line.includes("client = "))?.trim() ?? "";
    const program = `import asyncio
from langchain_mcp_adapters.client import MultiServerMCPClient
async def main():
    ${client}
    print([blob.mimetype for blob in await client.get_resources("fedway")])
asyncio.run(main())`;
    expect(await outputOf(program)).toContain("text/markdown");
  },
  longestMs,
);
