import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { countTokens } from "gpt-tokenizer";
import type { App } from "../../../src/app.ts";
import { toolProfiles } from "../../../src/agent/tool.ts";
import { startService } from "../../support/running-service.ts";
import { newFolder } from "../../support/scratch-folder.ts";

const run = promisify(execFile);
const here = (path: string): string => new URL(path, import.meta.url).pathname;
const endpoint = "people";
const query = "SELECT ?p ?name WHERE { ?p <http://xmlns.com/foaf/0.1/name> ?name } LIMIT 50";

/** One line of the table; undefined where a server has nothing of the kind. */
interface Row {
  readonly server: string;
  readonly tools: string;
  readonly schema?: string | undefined;
  readonly rows?: string | undefined;
}

const number = (text: string | undefined): string => (text === undefined ? "-" : String(countTokens(text)));

/**
 * Tokens (o200k) that a model reads: the list of tools, the schema of an example endpoint, and 50 rows of two columns, at
 * Fedway and at other MCP servers for SPARQL that ask the same endpoint through it.
 */
export async function runToolsBench({ quick }: { readonly quick: boolean }): Promise<void> {
  const service = await startService({}, { FEDWAY_EXAMPLES: "on" });
  try {
    await described(service.url);
    const toolbox: App["toolbox"] = (profile) => service.app.toolbox(profile);
    const caller = { signal: new AbortController().signal, owner: "bench" };
    const schema = await toolbox().call("describe_endpoint", { endpoint }, caller);
    const answer = await toolbox().call(
      "run_query",
      {
        query: `SELECT ?p ?name WHERE { SERVICE <${endpoint}> { ?p <http://xmlns.com/foaf/0.1/name> ?name } } LIMIT 50`,
      },
      caller,
    );
    if (schema.problem ?? answer.problem) throw new Error(`${schema.text}\n${answer.text}`);
    const own = toolProfiles.map((profile): Row => {
      const { tools } = toolbox(profile);
      const listed = tools.map(({ name, description, input }) => ({ name, description, parameters: input }));
      return {
        server: `fedway, ${profile} (${tools.length} tools)`,
        tools: JSON.stringify(listed),
        schema: schema.text,
        rows: answer.text,
      };
    });
    const others = quick ? [] : await otherServers(service.url);
    print([...own, ...others]);
  } finally {
    await service.close();
  }
}

async function described(url: string): Promise<void> {
  const headers = { "Content-Type": "application/json" };
  await fetch(`${url}/api/endpoints/${endpoint}/describe`, { method: "POST", headers, body: "{}" });
  const deadline = AbortSignal.timeout(60_000);
  while (!(await fetch(`${url}/api/endpoints/${endpoint}/void`, { signal: deadline })).ok) await sleep(100);
}

interface Others {
  readonly "mcp-sparql": { readonly tools: string; readonly rows: Readonly<Record<string, string>> };
  readonly "sparql-llm": { readonly tools: string; readonly schema: string };
}

async function otherServers(url: string): Promise<readonly Row[]> {
  const { stdout: folder } = await run(here("../../support/engines/fetch-mcp-servers.sh"));
  const args = [here("mcp-servers.py"), `${url}/endpoints/${endpoint}/sparql`, query];
  // sparql-llm leaves a vector database in the folder that it is started in.
  const { stdout } = await run(join(folder.trim(), "bin/python"), args, { maxBuffer: 1e8, cwd: newFolder() });
  const found: Others = JSON.parse(stdout);
  const tools = (json: string): number => (JSON.parse(json) as unknown[]).length;
  const { "mcp-sparql": mcpSparql, "sparql-llm": sparqlLlm } = found;
  return [
    ...Object.entries(mcpSparql.rows).map(
      ([format, rows]): Row => ({
        server: `mcp-sparql, ${format} (${tools(mcpSparql.tools)} tools)`,
        tools: mcpSparql.tools,
        rows,
      }),
    ),
    { server: `sparql-llm (${tools(sparqlLlm.tools)} tools)`, ...sparqlLlm },
  ];
}

function print(rows: readonly Row[]): void {
  const line = (cells: readonly string[]): string =>
    cells.map((cell, at) => (at === 0 ? cell.padEnd(30) : cell.padStart(12))).join("");
  const lines = rows.map(({ server, tools, schema, rows: answer }) =>
    line([server, number(tools), number(schema), number(answer)]),
  );
  process.stdout.write(`${[line(["tokens", "tool list", "schema", "50 rows"]), ...lines].join("\n")}\n`);
}
