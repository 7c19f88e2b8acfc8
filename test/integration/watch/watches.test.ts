import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually, until } from "../../support/eventually.ts";
import { cli } from "../../support/run-cli.ts";
import { type RunningService, startService } from "../../support/running-service.ts";
import { newFolder } from "../../support/scratch-folder.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";

interface WatchAnswer {
  readonly id: string;
  readonly name: string;
  readonly query?: string;
  readonly endpoint?: string;
  readonly everyMinutes: number;
  readonly state: string;
  readonly drifts: Readonly<Record<string, { summary: string; evidence: string[]; found: boolean; repair?: string }>>;
  readonly results: readonly { status: string; size: number; run?: string; why?: string; drifts?: string[] }[];
}

const peopleWith = (property: string): string =>
  Array.from(
    { length: 4 },
    (_, at) =>
      `<http://e.org/${at}> a <http://e.org/ns#Person> .\n<http://e.org/${at}> <http://e.org/ns#${property}> "P${at}" .`,
  )
    .join("\n")
    .replaceAll(" a ", " <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ");

const named = "PREFIX e: <http://e.org/ns#> SELECT ?person ?name { ?person a e:Person ; e:name ?name }";
const token = "a-token-of-these-tests";
let people: SparqlTestServer;
let service: RunningService;
let folder: string;

beforeAll(async () => {
  people = await startSparqlTestServer(peopleWith("name"));
  folder = newFolder();
  await writeFile(join(folder, "everybody.rq"), `#+ summary: Everybody\n# endpoint: people\n${named}\n`);
  await writeFile(join(folder, "nowhere.rq"), `# endpoint: nowhere\n${named}\n`);
  const env = { FEDWAY_MONITOR: "on", FEDWAY_ADMIN_TOKEN: token, FEDWAY_WATCH: folder };
  service = await startService({ people: people.url, remote: "https://sparql.example.org/" }, env);
  await eventually(async () => expect(await health()).toBe("up"));
});

afterAll(async () => {
  await service.close();
  await people.close();
});

const health = async (): Promise<string> => {
  const response = await fetch(`${service.url}/api/endpoints/people/availability`);
  return ((await response.json()) as { state: string }).state;
};

async function api<Answer = WatchAnswer>(path: string, method = "GET", body?: object): Promise<Answer> {
  const headers = { Authorization: `Bearer ${token}`, ...(body && { "Content-Type": "application/json" }) };
  const response = await fetch(`${service.url}/api/watches${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  return (response.status === 204 ? {} : await response.json()) as Answer;
}

/** Runs a watch, and waits for the run's end. */
async function run(id: string): Promise<WatchAnswer> {
  const before = (await api(`/${id}`)).results.at(-1)?.run;
  await api(`/${id}/run`, "POST");
  const isDone = ({ results }: WatchAnswer): boolean => results.at(-1)?.run !== before;
  await until(async () => isDone(await api(`/${id}`)));
  return api(`/${id}`);
}

const incidents = async () => {
  const response = await fetch(`${service.url}/api/incidents?open=true`);
  const { incidents: all } = (await response.json()) as {
    incidents: { id: string; kind?: string; summary?: string }[];
  };
  return all.filter(({ kind }) => kind === "drift");
};

it("finds a renamed property after a confirmation, with an incident, and takes the new answer for normal", async () => {
  const body = { id: "names", name: "Names", query: named, endpoint: people.url };
  expect(await api("", "POST", body)).toMatchObject({ endpoint: "people", everyMinutes: 60, state: "learning" });
  for (let at = 0; at < 3; at++) await run("names");
  expect(await api("/names")).toMatchObject({ state: "holds", results: [{ size: 4 }, { size: 4 }, { size: 4 }] });

  people.setData(peopleWith("names"));
  expect(await run("names")).toMatchObject({ state: "suspect", drifts: { term: { found: false } } });
  await run("names");
  expect(await incidents()).toEqual([]);
  const found = await run("names");
  expect(found).toMatchObject({ state: "drift", drifts: { term: { found: true } } });
  const { summary, evidence, repair } = found.drifts["term"] ?? {};
  expect(summary).toContain("http://e.org/ns#name");
  expect(evidence?.join("\n")).toMatch(/Before.*size 4.*run .*\n.*empty/);
  expect(repair).toBe(named.replace("e:name ", "e:names "));
  const [incident] = await until(async () => {
    const open = await incidents();
    return open.length > 0 ? open : undefined;
  });
  expect(incident?.summary).toBe(`Names: ${summary}`);
  const page = await (await fetch(`${service.url}/watches`)).text();
  expect(page).toContain(`href="/incidents/${incident?.id}"`);

  expect(await api("/names/accept", "POST")).toMatchObject({ state: "holds", drifts: {} });
  expect(await incidents()).toEqual([]);
  expect(await run("names")).toMatchObject({ state: "holds" });
  people.setData(peopleWith("name"));
});

it("closes an incident once the query holds again, and judges nothing of an endpoint in maintenance", async () => {
  await api("/again", "PUT", { query: named, endpoint: "people" });
  for (let at = 0; at < 3; at++) await run("again");
  people.setFault({ kind: "status", status: 500 });
  for (let at = 0; at < 3; at++) await run("again");
  expect(await api("/again")).toMatchObject({ state: "drift", drifts: { error: { found: true } } });
  await eventually(async () => expect(await incidents()).toHaveLength(1));
  people.setFault(undefined);
  for (let at = 0; at < 2; at++) await run("again");
  expect(await api("/again")).toMatchObject({ state: "holds" });
  await eventually(async () => expect(await incidents()).toEqual([]));

  const to = new Date(Date.now() + 3_600_000).toISOString();
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const url = `${service.url}/api/endpoints/people/maintenance`;
  const window = await fetch(url, { method: "POST", headers, body: JSON.stringify({ to }) });
  people.setData("");
  await api("/again/run", "POST");
  const watch = await until(async () => {
    const now = await api("/again");
    return now.state === "not run" ? now : undefined;
  });
  expect(watch).toMatchObject({
    drifts: {},
    results: expect.arrayContaining([expect.objectContaining({ why: "people is in maintenance." })]) as unknown,
  });
  // Nothing was counted.
  expect(watch.results.at(-1)).not.toHaveProperty("size");
  const { id } = (await window.json()) as { id: string };
  await fetch(`${service.url}/api/maintenance/${id}`, { method: "DELETE", headers });
  people.setData(peopleWith("name"));
});

it("watches the queries of FEDWAY_WATCH, shows texts to the operator only, and refuses what asks too often", async () => {
  const { watches } = await api<{ watches: WatchAnswer[] }>("");
  expect(watches.find(({ id }) => id === "everybody")).toMatchObject({ name: "Everybody", endpoint: "people" });
  expect(watches.some(({ id }) => id === "nowhere")).toBe(false);
  const open = await (await fetch(`${service.url}/api/watches/everybody`)).text();
  expect(open).not.toContain("e:Person");
  expect((await fetch(`${service.url}/api/watches/everybody`, { method: "DELETE" })).status).toBe(401);
  const often = { id: "often", query: named, endpoint: "remote", everyMinutes: 5 };
  expect(await api<object>("", "POST", often)).toMatchObject({ code: "REQUEST_INVALID" });
  expect(await api("", "POST", { ...often, everyMinutes: undefined })).toMatchObject({ everyMinutes: 1_440 });
  await fetch(`${service.url}/api/endpoints/remote`, {
    method: "DELETE",
    headers: { Authorization: `Bearer ${token}` },
  });
  await api("/often/run", "POST");
  await until(async () => (await api("/often")).results.length > 0);
  expect(await api("/often")).toMatchObject({ state: "not run", drifts: {} });
  const other = { query: named.replace("e:name", "e:alias"), endpoint: "people" };
  const [one, two] = [
    await api("", "POST", { ...often, id: undefined, everyMinutes: undefined }),
    await api("", "POST", other),
  ];
  expect(one.id).not.toBe(two.id);
  expect(await api<object>("", "POST", { ...other, name: "Everybody" })).toMatchObject({ code: "REQUEST_INVALID" });
  expect(await api("/everybody")).toMatchObject({ query: expect.stringContaining(named) as unknown });
  expect(await api<object>("/absent")).toMatchObject({ code: "WATCH_UNKNOWN" });
  expect(await api<object>("", "POST", { query: "SELECT", endpoint: "people" })).toMatchObject({
    code: "QUERY_SYNTAX",
  });
});

it("is a noun of the command line, also for SHACL examples", async () => {
  const examples = newFolder();
  await writeFile(
    join(examples, "examples.ttl"),
    `@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix schema: <https://schema.org/> .
    <#one> a sh:SPARQLExecutable ; rdfs:comment "Who has which name?" ; schema:target <${people.url}> ; sh:select """${named}""" .`,
  );
  const setup = {
    fetch: (url: string, init?: RequestInit) => fetch(url, init),
    adminToken: token,
    interrupted: new AbortController().signal,
  };
  const at = ["--url", service.url];
  const added = await cli(["watches", "add", examples, ...at], setup);
  expect(added).toMatchObject({ code: 0, err: "" });
  const id = added.out.trim();
  expect(id).toMatch(/^who-has-which-name-/);
  expect((await cli(["watches", "list", ...at], setup)).out).toMatch(new RegExp(`^${id} +learning\n`, "m"));
  expect(JSON.parse((await cli(["watches", "show", id, ...at], setup)).out)).toMatchObject({ endpoint: "people" });
  expect(await cli(["watches", "run", id, ...at], setup)).toMatchObject({ code: 0 });
  expect(await cli(["watches", "remove", id, ...at], setup)).toMatchObject({ code: 0, out: "removed\n" });
  expect(await cli(["watches", "show", id, ...at], setup)).toMatchObject({ code: 1 });
});
