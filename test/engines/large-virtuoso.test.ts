import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../support/engines/engine.ts";
import { startVirtuoso } from "../support/engines/virtuoso.ts";
import { eventually, until } from "../support/eventually.ts";
import { entryTurtle, problemOf, startService } from "../support/running-service.ts";
import { newFolder } from "../support/scratch-folder.ts";

// What operators of large Virtuosos need: accounts of `/sparql-auth`, and default graphs.

const password = 'p4ss: word, "1"';
const graphs = {
  "http://example.org/g1": '<urn:a> <urn:p> "one" . <urn:c> <urn:q> "both" .\n',
  "http://example.org/g2": '<urn:a> <urn:p> "two" . <urn:b> <urn:p> "two" .\n<urn:c> <urn:q> "both" .\n',
};
const credentials = join(newFolder(), "credentials.json");
const write = (user: string, secret: string): Promise<void> =>
  writeFile(credentials, JSON.stringify({ private: { type: "digest", user, password: secret } }), { mode: 0o600 });

let virtuoso: Engine;
let service: Awaited<ReturnType<typeof startService>>;

const withGraphs = (id: string, ...names: readonly string[]): string =>
  entryTurtle(id, virtuoso.url).replace(
    /\.$/u,
    names.map((name) => `; <https://w3id.org/fedway/ns#defaultGraph> <http://example.org/${name}> `).join("") + ".",
  );

beforeAll(async () => {
  virtuoso = await startVirtuoso({ graphs, users: { fedway: password } });
  await write("fedway", password);
  service = await startService(
    { private: `${virtuoso.url}-auth`, open: virtuoso.url },
    { FEDWAY_CREDENTIALS: credentials },
    { "one.ttl": withGraphs("one", "g1"), "both.ttl": withGraphs("both", "g1", "g2") },
  );
});
afterAll(async () => {
  await service?.close();
  await virtuoso?.stop();
});

const objects = "SELECT ?s ?o { ?s <urn:p> ?o } ORDER BY ?s ?o";
const ask = (id: string, query: string, accept = "text/csv"): Promise<Response> =>
  service.query(query, { path: `/endpoints/${id}/sparql`, accept });
/** The lines of a CSV answer without its head. */
const rows = async (response: Response): Promise<readonly string[]> => {
  expect(response.status).toBe(200);
  return (await response.text()).trim().split("\r\n").slice(1).toSorted();
};

const afterJob = async (id: string, kind: "describe" | "capabilities"): Promise<void> => {
  const started = await fetch(`${service.url}/api/endpoints/${id}/${kind}`, { method: "POST" });
  const { id: job }: { id: string } = JSON.parse(await started.text());
  await until(async () => (await (await fetch(`${service.url}/api/jobs/${job}`)).text()).includes('"state":"done"'));
};
const voidOf = async (id: string): Promise<string> => {
  await afterJob(id, "describe");
  return (await fetch(`${service.url}/api/endpoints/${id}/void`, { headers: { accept: "text/turtle" } })).text();
};

describe("an account of /sparql-auth", () => {
  it("opens it to queries and federated queries", async () => {
    const all = ["urn:a,one", "urn:a,two", "urn:b,two"];
    expect(await rows(await ask("private", objects))).toEqual(all);
    const joined = "SELECT ?s ?o { SERVICE <private> { ?s <urn:p> ?o } SERVICE <open> { ?s <urn:p> ?o } }";
    expect(await rows(await service.query(joined, { accept: "text/csv" }))).toEqual(all);
  });
  it("whose password is wrong is refused, in words that say what to do", async () => {
    await write("fedway", "another");
    await eventually(async () => {
      const problem = await problemOf(await ask("private", `${objects} LIMIT 9`));
      expect(problem).toMatchObject({ code: "ENDPOINT_REFUSED", upstreamStatus: 401 });
      expect(problem.next).toBe('Correct the credentials of "private" in the file that FEDWAY_CREDENTIALS names.');
    });
    await write("fedway", password);
    await eventually(async () => expect((await ask("private", objects)).status).toBe(200));
  });
});

describe("default graphs of a Virtuoso", () => {
  it("are asked by direct and by federated queries", async () => {
    expect(await rows(await ask("open", objects))).toEqual(["urn:a,one", "urn:a,two", "urn:b,two"]);
    expect(await rows(await ask("one", objects))).toEqual(["urn:a,one"]);
    expect(await rows(await ask("both", objects))).toEqual(["urn:a,one", "urn:a,two", "urn:b,two"]);
    const joined = "SELECT ?s ?o { SERVICE <private> { ?s <urn:p> ?o } SERVICE <one> { ?s <urn:p> ?o } }";
    expect(await rows(await service.query(joined, { accept: "text/csv" }))).toEqual(["urn:a,one"]);
  });
  it("give way to FROM, which Virtuoso itself would add to them", async () => {
    const asked = objects.replace("{", "FROM <http://example.org/g2> {");
    expect(await rows(await ask("one", asked))).toEqual(["urn:a,two", "urn:b,two"]);
    const body = new URLSearchParams({ query: asked });
    const url = `${virtuoso.url}?default-graph-uri=${encodeURIComponent("http://example.org/g1")}`;
    const own = await fetch(url, { method: "POST", body, headers: { accept: "text/csv" } });
    expect((await own.text()).trim().split("\n")).toHaveLength(1 + 3);
  });
  it("are described without the other graphs, and a triple of two of them once", async () => {
    expect(await voidOf("one")).toMatch(/void:triples 2\b/u);
    expect(await voidOf("both")).toMatch(/void:triples 4\b/u);
  });
});

describe("what a Virtuoso does, although its entry names no engine,", () => {
  it("is seen in its data: its system graphs are not described", async () => {
    const text = await voidOf("open");
    expect(text).toContain("urn:q");
    expect(text).not.toContain("openlinksw");
  });
  it("is probed: prefixes that need no declaration, which other members get with one", async () => {
    await afterJob("open", "capabilities");
    const capabilities: unknown = JSON.parse(
      await (await fetch(`${service.url}/api/endpoints/open/capabilities`)).text(),
    );
    expect(capabilities).toMatchObject({ predefinedPrefixes: { bif: "bif:", sioc: "http://rdfs.org/sioc/ns#" } });
    const page = await fetch(`${service.url}/endpoints/open`);
    expect(await page.text()).toMatch(/Known without PREFIX.*sioc/su);
    const answer = await ask("open", "SELECT ?o { <urn:a> <urn:p> ?o FILTER(STR(sioc:x) != ?o) }");
    expect(answer.headers.get("fedway-notes")).toContain("PREFIXES_FILLED_IN");
    expect(await rows(answer)).toEqual(["one", "two"]);
  });
});
