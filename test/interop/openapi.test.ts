import { execFile } from "node:child_process";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newFolder } from "../support/scratch-folder.ts";
import { type Fedway, startFedway } from "../support/fedway.ts";

// The OpenAPI document as others use it: to generate a client from it, and to try everything that it promises.

const run = promisify(execFile);
const here = (path: string): string => new URL(path, import.meta.url).pathname;
const token = "a-token-of-these-tests";
const longestMs = 600_000;

let clients: string;
let fedway: Fedway;
let folder: string;

beforeAll(async () => {
  clients = (await run(here("../support/engines/fetch-clients.sh"))).stdout.trim();
  fedway = await startFedway({}, { FEDWAY_EXAMPLES: "on", FEDWAY_ADMIN_TOKEN: token, FEDWAY_RATE_LIMIT: "0" });
  folder = newFolder();
  await writeFile(join(folder, "openapi.json"), await (await fetch(`${fedway.url}/openapi.json`)).text());
}, longestMs);
afterAll(() => fedway?.close());

const query = "SELECT ?name WHERE { ?person <http://xmlns.com/foaf/0.1/name> ?name } LIMIT 2";

/** What is written by somebody who has the document only; a wrong name or type anywhere does not compile. */
const program = (url: string): string => `
import createClient from "openapi-fetch";
import type { paths, operations, components } from "./fedway.ts";

const client = createClient<paths>({ baseUrl: ${JSON.stringify(url)} });
const listed = await client.GET("/api/endpoints", { params: { query: { q: "people", limit: 1 } } });
const endpoint: components["schemas"]["Endpoint"] | undefined = listed.data?.endpoints[0];
const body: NonNullable<operations["queryTable"]["requestBody"]>["content"]["application/json"] = {
  query: ${JSON.stringify(query)},
  endpoint: endpoint?.id ?? "",
};
const { data, error } = await client.POST("/api/query", { body });
const name: components["schemas"]["Term"] | undefined = data?.rows[0]?.["name"];
const refused = await client.GET("/api/endpoints/{id}", { params: { path: { id: "nobody" } } });
const code: string | undefined = refused.error?.code;
const plan = await client.POST("/api/explain", { body });
const found = await client.POST("/api/tools/find_endpoints", { body: { question: "people" } });
const ran = await client.POST("/api/tools/run_query", { body: { query: body.query, endpoint: "people" } });
const checked = await client.POST("/api/tools/check_query", { body: { query: body.query } });
const tools = await client.GET("/api/tools", { params: { query: { profile: "small" } } });
const ready = await client.GET("/health/ready");
const run = await client.GET("/api/runs/{id}", { params: { path: { id: data?.run ?? "" } } });
console.log(JSON.stringify({
  id: endpoint?.id, rows: data?.rows.length, name, error, code, plan: plan.data?.kind, run: run.data?.status, ready: ready.data?.ready,
  tools: tools.data?.tools.length, texts: [found, ran, checked].map((answer) => answer.data?.text.split("\\n").length ?? 0),
}));
`;

const seen = {
  id: "people",
  rows: 2,
  name: expect.stringMatching(/^\p{L}+ \p{L}+$/u),
  code: "ENDPOINT_UNKNOWN",
  plan: "direct",
  run: "ok",
  ready: true,
  tools: 4,
  texts: [expect.any(Number), expect.any(Number), expect.any(Number)],
};

describe("the OpenAPI document", () => {
  it(
    "makes a client of strict TypeScript that asks, reads rows and knows its errors",
    async () => {
      const node = (name: string, ...words: readonly string[]) =>
        run(join(clients, "npm/node_modules/.bin", name), words, { cwd: folder, timeout: longestMs });
      await symlink(join(clients, "npm/node_modules"), join(folder, "node_modules"));
      await writeFile(join(folder, "package.json"), '{ "type": "module" }');
      await writeFile(join(folder, "program.ts"), program(fedway.url));
      await node("openapi-typescript", "openapi.json", "--output", "fedway.ts");
      const options = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--skipLibCheck"];
      const output = ["--target", "es2022", "--module", "nodenext", "--rewriteRelativeImportExtensions"];
      const compiled = await node("tsc", ...options, ...output, "program.ts").catch(({ stdout }) => ({ stdout }));
      expect(compiled.stdout).toBe("");
      const { stdout } = await run(process.execPath, ["program.js"], { cwd: folder, timeout: longestMs });
      expect(JSON.parse(stdout)).toEqual(seen);
    },
    longestMs,
  );

  it(
    "makes a client of Python that calls the same ten operations",
    async () => {
      const words = ["generate", "--path", "openapi.json", "--output-path", "fedway", "--meta", "none"];
      const made = await run(join(clients, "python/bin/openapi-python-client"), words, { cwd: folder });
      // Nothing of the document is left out.
      expect(made.stdout).not.toMatch(/WARNING parsing/u);
      const python = await run(join(clients, "python/bin/python"), [here("clients/generated.py"), fedway.url, query], {
        cwd: folder,
        env: { ...process.env, PYTHONPATH: folder },
      });
      expect(JSON.parse(python.stdout)).toEqual(seen);
    },
    longestMs,
  );

  it(
    "holds in all that schemathesis tries",
    async () => {
      const words = ["--config-file", here("clients/schemathesis.toml"), "run", "openapi.json", "--url", fedway.url];
      // One worker: CPython 3.11 fails with "AST constructor recursion depth mismatch" where two threads parse at once.
      const bounds = ["--max-examples", "4", "--seed", "1", "--workers", "1", "--checks", "all"];
      const { stdout } = await run(
        join(clients, "python/bin/schemathesis"),
        [...words, ...bounds, "--continue-on-failure", "--no-color"],
        { cwd: folder, timeout: longestMs, maxBuffer: 1e8, env: { ...process.env, FEDWAY_ADMIN_TOKEN: token } },
      ).catch(({ stdout: report }) => ({ stdout: String(report) }));
      const [, failures = ""] = /(=+ (?:FAILURES|ERRORS) =+.*?)(?:=+ WARNINGS =|=+ SUMMARY =)/su.exec(stdout) ?? [];
      expect(failures).toBe("");
      expect(stdout).toMatch(/Selected: (\d+)\/\1\n\s+Tested: \1\n/u);
      expect(stdout).toMatch(/(\d+) generated, \1 passed/u);
    },
    longestMs,
  );
});
