import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BuiltService, runCommand, startBuiltService } from "../support/built-program.ts";

let service: BuiltService;
beforeAll(async () => {
  service = await startBuiltService();
});
afterAll(async () => {
  await service.stop();
});

/** An example of the README; it works on any port. */
const example = (name: string): Promise<string> =>
  readFile(new URL(`../../catalog/examples/queries/${name}.rq`, import.meta.url), "utf8");

const ask = (query: string, headers: Record<string, string> = {}, path = "/sparql") =>
  fetch(`${service.url}${path}`, { method: "POST", headers, body: new URLSearchParams({ query }) });

interface Run {
  readonly status: string;
  readonly plan: string;
  readonly rows: number;
  readonly sources: readonly { readonly endpoint: string; readonly requests: number; readonly status: string }[];
}

async function runOf(response: Response): Promise<Run> {
  const id = response.headers.get("fedway-run");
  return (await (await fetch(`${service.url}/api/runs/${id}`)).json()) as Run;
}

describe("the README's queries", () => {
  it("the first joins three endpoints", async () => {
    const response = await ask(await example("1-three-endpoints"), { accept: "text/csv" });
    const lines = (await response.text()).trim().split("\r\n");
    expect(lines[0]).toBe("name,born,city,works");
    expect(lines[1]).toBe("Einar Þorsteinsson,1902-02-17,Rauðafjörður,6");
    expect(lines).toHaveLength(13);
    const run = await runOf(response);
    expect(run).toMatchObject({ status: "ok", plan: "federated", rows: 12 });
    expect(run.sources.map(({ endpoint }) => endpoint).toSorted()).toEqual(["museums", "people", "places"]);
  });

  it("the second gives the same without any SERVICE", async () => {
    const accept = { accept: "text/csv" };
    const named = await (await ask(await example("1-three-endpoints"), accept)).text();
    const response = await ask(await example("2-one-dataset"), accept, "/federations/examples/sparql");
    expect(await response.text()).toBe(named);
    expect(await runOf(response)).toMatchObject({ status: "ok", plan: "federated", rows: 12 });
  });

  it("the third says what is wrong and where", async () => {
    const response = await ask(await example("3-open-group"));
    expect(response.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    expect(await response.json()).toMatchObject({ status: 400, code: "QUERY_SYNTAX", where: { line: 6, column: 1 } });
  });
});

describe("one upstream request", () => {
  const people = () => `${service.url}/hosted/people/sparql`;
  it("for a single SERVICE", async () => {
    const response = await ask(`SELECT * { SERVICE <${people()}> { ?s ?p ?o } } LIMIT 3`);
    await response.text();
    expect((await runOf(response)).sources).toMatchObject([{ endpoint: "people", requests: 1, status: "ok" }]);
  });
  it("for two adjacent SERVICEs of one endpoint", async () => {
    const response = await ask(
      `SELECT * { SERVICE <${people()}> { ?s ?p ?o } SERVICE <${people()}> { ?s ?q ?r } } LIMIT 3`,
    );
    await response.text();
    expect(await runOf(response)).toMatchObject({ plan: "direct", sources: [{ endpoint: "people", requests: 1 }] });
  });
});

describe("operations", () => {
  it("metrics count what happened", async () => {
    const before = await metric("fedway_run_seconds_count", 'plan="direct",status="ok"');
    await (await ask(`SELECT * { SERVICE <${service.url}/hosted/people/sparql> { ?s ?p ?o } } LIMIT 1`)).text();
    expect(await metric("fedway_run_seconds_count", 'plan="direct",status="ok"')).toBe(before + 1);
  });

  it("logs hold no query literals", async () => {
    await (await ask(`SELECT * { SERVICE <${service.url}/hosted/people/sparql> { ?s ?p "a-secret-literal" } }`)).text();
    await (await ask(`SELECT * { SERVICE <${service.url}/hosted/people/sparql> { ?s ?p "another-secret } }`)).text();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(service.log()).toContain('"status":200');
    expect(service.log()).not.toContain("secret");
  });

  it("SIGTERM lets an answer under way end and exits with 0", async () => {
    const own = await startBuiltService();
    const slow = fetch(`${own.url}/sparql`, {
      method: "POST",
      body: new URLSearchParams({
        query: `SELECT (COUNT(*) AS ?n) { SERVICE <${own.url}/hosted/people/sparql> { ?a ?p ?x . ?b ?p ?y FILTER(?x = ?y) } }`,
      }),
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const stopped = own.stop();
    const response = await slow;
    expect([200, 504]).toContain(response.status);
    await response.text();
    expect(await stopped).toBe(0);
  });

  it("a wrong variable stops the start with its name", async () => {
    await expect(startBuiltService({ FEDWAY_TIMEOUT: "1" })).rejects.toThrow(/FEDWAY_TIMEOUT/);
  });

  async function metric(name: string, labels: string): Promise<number> {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    const line = text.split("\n").find((candidate) => candidate.startsWith(`${name}{${labels}}`));
    return Number(line?.split(" ").at(-1) ?? 0);
  }
});

describe("the command line", () => {
  it.each([[["--help"]], [["serve", "--help"]], [["query", "--help"]], [["explain", "--help"]]])("%j", async (args) => {
    const { code, stdout } = await runCommand(args);
    expect(code).toBe(0);
    expect(stdout).toContain("Usage: fedway");
  });

  it("--version", async () => {
    expect(await runCommand(["--version"])).toMatchObject({ code: 0, stdout: "0.1.0\n" });
  });

  it("queries a running service", async () => {
    const { code, stdout } = await runCommand([
      "query",
      `SELECT ?n { SERVICE <${service.url}/hosted/people/sparql> { ?p <http://xmlns.com/foaf/0.1/name> ?n } } ORDER BY ?n LIMIT 1`,
      "--url",
      service.url,
      "--format",
      "csv",
    ]);
    expect({ code, lines: stdout.trim().split("\r\n").length }).toEqual({ code: 0, lines: 2 });
  });

  it("ends with an error when its catalogue cannot be read", async () => {
    const { code, stderr } = await runCommand(["query", "ASK {}"], { FEDWAY_CATALOG: "/nonexistent" });
    expect({ code: code !== 0, stderr }).toEqual({ code: true, stderr: expect.stringContaining("/nonexistent") });
    const refused = await runCommand(["query", "ASK {}"], { FEDWAY_ALLOW_ADDRESSES: "300.0.0.0/8" });
    expect(refused.code).not.toBe(0);
  });

  it("explains in its own process, and shows the place of a mistake", async () => {
    const file = "catalog/examples/queries/1-three-endpoints.rq";
    const explained = await runCommand(["explain", file]);
    expect(explained.code).toBe(0);
    for (const id of ["places", "people", "museums"]) expect(explained.stdout).toContain(id);
    const failed = await runCommand(["query", "catalog/examples/queries/3-open-group.rq"]);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toMatch(/LIMIT 5.*\^/s);
  });
});
