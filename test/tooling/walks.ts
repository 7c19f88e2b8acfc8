/**
 * Walks and faces of the house. A walk is what runs for one request when all is warm; a face is what other rooms import of a room.
 * Prints the table of `src/README.md`; `--write` puts it there, `--check` fails where it has grown by more than 3 %, and `--files`
 * prints the files of each walk instead, with the lines and functions of each that run.
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text as bodyOf } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { join, posix } from "node:path";
import type { Store } from "oxigraph";
import type { RunningService } from "../support/running-service.ts";
import { startCoverage, type Visited } from "./coverage.ts";

const root = new URL("../../", import.meta.url).pathname;

/** The folder of `src/` that a file is in; `shards` for the benchmark factory. */
function roomOf(path: string): string {
  if (path.startsWith("shards/")) return "shards";
  const parts = path.split("/");
  return parts.length > 2 ? parts[1]! : "src";
}

/** What other rooms import of a room. */
interface Face {
  readonly names: ReadonlySet<string>;
  readonly files: ReadonlySet<string>;
}

const declared = /^(?:import|export)\s+(?:type\s+)?(\{[^}]*\}|\*(?:\s+as\s+\w+)?|\w+)\s+from\s+"(\.[^"]+)"/gmu;
const loaded = /(?:const\s+(\{[^}]*\})\s*=\s*)?await import\("(\.[^"]+)"\)/gu;

/** Faces by room: a name counts once for each file that has it. */
export function faces(): ReadonlyMap<string, Face> {
  const found = new Map<string, { names: Set<string>; files: Set<string> }>();
  const paths = ["src", "shards/src"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => posix.join(folder, name)),
  );
  for (const path of paths) {
    const source = readFileSync(join(root, path), "utf8");
    for (const [, names = "*", specifier = ""] of [...source.matchAll(declared), ...source.matchAll(loaded)]) {
      const target = posix.join(posix.dirname(path), specifier);
      const room = roomOf(target);
      if (room === roomOf(path)) continue;
      const face = found.get(room) ?? { names: new Set(), files: new Set() };
      found.set(room, face);
      face.files.add(target);
      for (const each of names.replaceAll(/[{}]/gu, "").split(",")) {
        const [name = ""] = each
          .trim()
          .replace(/^type /u, "")
          .split(/ as |:/u);
        if (name !== "") face.names.add(`${target}#${name}`);
      }
    }
  }
  return found;
}

/** One request of a walk; `n` is in it, so that no cache of texts or plans knows it. */
interface Walk {
  readonly name: string;
  /** What a child of the service does for it, which has a column of its own; `""`: the walk is in the child alone. */
  readonly child?: string;
  readonly prepare?: (n: number) => Promise<unknown>;
  readonly request: (n: number) => Promise<unknown>;
  /** A timer of the service starts it. */
  readonly isTimed?: boolean;
  /** It goes on after the answer, with pauses. */
  readonly isJob?: boolean;
}

/** The walk is what the last two requests both run; before them one warms up, but for jobs, which take long. */
const requests = 3;

const datasets = 3;
const triplesEach = 27_000;
const people = "https://people.example/";

/** 3,000 people in nine statements each; every dataset has names of its own. */
async function peopleStore(n: number): Promise<Store> {
  const oxigraph = await import("oxigraph");
  const lines: string[] = [];
  for (let i = 0; i < triplesEach / 9; i++) {
    const subject = `<${people}${n}/${i}>`;
    const say = (property: string, object: string): number =>
      lines.push(`${subject} <${people}${property}> ${object} .`);
    lines.push(
      `${subject} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <${people}${i % 3 === 0 ? "Author" : "Reader"}> .`,
    );
    say("name", `"Person ${i} of ${n}"`);
    say("town", `<${people}town/${i % 50}>`);
    say("born", `"${1900 + (i % 100)}-01-01"^^<http://www.w3.org/2001/XMLSchema#date>`);
    say("height", `${150 + (i % 50)}`);
    say("knows", `<${people}${n}/${(i + 1) % 3000}>`);
    say("likes", `<${people}${n}/${(i * 7) % 3000}>`);
    say("motto", `"Motto ${i}"@en`);
    say("code", `"${n}-${i}"`);
  }
  const store = new oxigraph.Store();
  store.load(lines.join("\n"), { format: "text/turtle" });
  return store;
}

function queryIn({ headers }: IncomingMessage, { searchParams }: URL, body: string): string {
  const isForm = headers["content-type"]?.startsWith("application/x-www-form-urlencoded") ?? false;
  return searchParams.get("query") ?? (isForm ? (new URLSearchParams(body).get("query") ?? "") : body);
}

function answerQuery(store: Store, query: string, response: ServerResponse): void {
  const isGraph = /^\s*(?:(?:PREFIX|BASE)\s[^\n]*\n\s*)*(?:CONSTRUCT|DESCRIBE)/iu.test(query);
  const type = isGraph ? "application/n-triples" : "application/sparql-results+json";
  try {
    const found = store.query(query, { results_format: type });
    response.writeHead(200, { "content-type": type }).end(found as string);
  } catch (error) {
    response.writeHead(400, { "content-type": "text/plain" }).end(String(error));
  }
}

/** Endpoints of ours in this process, by path: what they run is none of `src/`. */
async function startEndpoints() {
  const stores = new Map<string, Store>();
  for (let n = 0; n < datasets; n++) stores.set(`/d${n}`, await peopleStore(n));
  const broken = new Set<string>();
  const waiting: (() => void)[] = [];
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "http://localhost");
    const query = queryIn(request, url, await bodyOf(request));
    if (url.pathname === "/hook") {
      response.writeHead(204).end();
      waiting.shift()?.();
    } else if (broken.has(url.pathname)) response.writeHead(503).end("busy");
    else if (query === "") response.writeHead(404).end();
    else answerQuery(stores.get(url.pathname) ?? stores.get("/d0")!, query, response);
  }
  const server = createServer((request, response) => void answer(request, response));
  const { listening } = await import("../support/listening.ts");
  return {
    ...(await listening(server)),
    broken,
    message: (): Promise<void> => new Promise((resolve) => waiting.push(resolve)),
  };
}
type Endpoints = Awaited<ReturnType<typeof startEndpoints>>;

async function good(response: Response): Promise<string> {
  const body = await response.text();
  if (!response.ok) throw new Error(`${response.url} is ${response.status}: ${body.slice(0, 500)}`);
  return body;
}

const post = (url: string, body: object): Promise<Response> => {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
};

const person = (n: number): string => `<${people}0/${n}>`;

async function startJob({ url }: RunningService, path: string, body: object = {}): Promise<void> {
  await good(await post(url + path, body));
}

/** Waits for the jobs of walks. @throws Error for one that has not done its work: its walk would be short */
async function jobsDone({ url }: RunningService): Promise<void> {
  for (;;) {
    const answer = await good(await fetch(`${url}/api/jobs?limit=1000`));
    const { jobs } = JSON.parse(answer) as {
      readonly jobs: readonly { readonly kind: string; readonly state: string }[];
    };
    const ours = jobs.filter(({ kind }) => kind === "describe-endpoint" || kind === "build-shards");
    const ended = ours.filter(({ state }) => state !== "waiting" && state !== "running");
    if (ended.length < 2 * (requests - 1)) await sleep(500);
    else if (ended.every(({ state }) => state === "done")) return;
    else throw new Error(answer);
  }
}

/** The walks over a service that only answers requests. */
function requestWalks(service: RunningService, endpoints: Endpoints, inputs: string): readonly Walk[] {
  const at = (n: number): string => `SERVICE <${endpoints.origin}/d${n}>`;
  const one = (n: number): string =>
    `SELECT ?name ?town WHERE { ${at(0)} { ${person(n)} <${people}name> ?name ; <${people}town> ?town } }`;
  const two = (n: number): string =>
    `SELECT ?town ?code WHERE { ${at(0)} { ${person(n)} <${people}town> ?town } ${at(1)} { ?other <${people}town> ?town ; <${people}code> ?code } }`;
  const select = (query: string): Promise<string> => service.query(query).then(good);
  const call = (name: string, given: object): Promise<string> =>
    post(`${service.url}/mcp`, {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: given },
    }).then(good);
  return [
    { name: "a", request: (n) => select(one(n)) },
    { name: "b", child: "evaluator", request: (n) => select(two(n)) },
    { name: "c", request: (n) => call("run_query", { query: one(n + requests) }) },
    {
      name: "d",
      isJob: true,
      request: (n) => startJob(service, `/api/endpoints/d${n}/describe`),
    },
    {
      name: "f",
      child: "",
      isJob: true,
      async prepare(n) {
        const folder = join(inputs, String(n));
        cpSync(join(root, "shards/example"), folder, { recursive: true });
        const [spec, queries] = [join(folder, "spec.json"), join(folder, "queries.json")];
        const described = JSON.parse(readFileSync(spec, "utf8")) as object;
        writeFileSync(spec, JSON.stringify({ ...described, dataset: `harbour-${n}` }));
        // A tenth of them: each is answered twice, in the same way.
        const all = JSON.parse(readFileSync(queries, "utf8")) as readonly object[];
        writeFileSync(queries, JSON.stringify(all.filter((_, index) => index % 10 === 0)));
      },
      request: (n) => startJob(service, "/api/shards", { file: `${n}/spec.json` }),
    },
  ];
}

/** The walk over a service that watches one endpoint. */
const incidentWalk = (endpoints: Endpoints): Walk => ({
  name: "e",
  isTimed: true,
  async prepare() {
    const closed = endpoints.broken.delete("/d0") && endpoints.message();
    await closed;
  },
  async request() {
    endpoints.broken.add("/d0");
    await endpoints.message();
  },
});

/** What a process runs for a walk, by file. */
interface Column {
  readonly title: string;
  readonly visited: Visited;
}

const both = (one: Visited, other: Visited): Visited =>
  new Map([...one].map(([file, places]) => [file, places.intersection(other.get(file) ?? new Set())]));

async function measure(coverage: Coverage, walk: Walk): Promise<readonly Column[]> {
  const seen: (readonly [Visited, Visited])[] = [];
  for (let n = walk.isJob === true ? 1 : 0; n < requests; n++) {
    await walk.prepare?.(n);
    const request = (): Promise<unknown> => walk.request(n);
    const { isJob = false, isTimed: timers = false, child } = walk;
    seen.push(await coverage.visited({ request, isJob, timers, inChild: child === "" }));
  }
  const [here, there] = seen.slice(-2).reduce((one, other) => [both(one[0], other[0]), both(one[1], other[1])]);
  const { name, child } = walk;
  if (child === "") return [{ title: name, visited: there }];
  const column = { title: name, visited: here };
  return child === undefined ? [column] : [column, { title: `${name}: ${child}`, visited: there }];
}

async function measureAll(): Promise<readonly Column[]> {
  const coverage = startCoverage();
  const endpoints = await startEndpoints();
  // What is loaded from here on is counted.
  const { startService } = await import("../support/running-service.ts");
  const { newFolder } = await import("../support/scratch-folder.ts");
  const data = newFolder();
  const columns: Column[] = [];
  const urls = Object.fromEntries(Array.from({ length: datasets }, (_, n) => [`d${n}`, `${endpoints.origin}/d${n}`]));
  const service = await startService(urls, { FEDWAY_DATA_DIR: data, FEDWAY_TIMEOUT_MS: "600000" });
  for (const walk of requestWalks(service, endpoints, join(data, "shards-input"))) {
    columns.push(...(await measure(coverage, walk)));
  }
  await jobsDone(service);
  await service.close();
  const watching = await startService(
    { d0: `${endpoints.origin}/d0` },
    { ...watchful, FEDWAY_WEBHOOKS: `${endpoints.origin}/hook` },
  );
  columns.splice(-1, 0, ...(await measure(coverage, incidentWalk(endpoints))));
  await watching.close();
  await endpoints.close();
  coverage.close();
  rmSync(data, { recursive: true, force: true });
  return columns;
}
type Coverage = ReturnType<typeof startCoverage>;

const watchful = {
  FEDWAY_MONITOR: "on",
  FEDWAY_PROBE_EVERY_MS: "3000",
  FEDWAY_PROBE_JITTER: "0",
  FEDWAY_INCIDENT_AFTER: "1",
  FEDWAY_RECOVERED_AFTER: "1",
  FEDWAY_WEBHOOK_SECRET: "correct-horse-battery-staple",
  FEDWAY_WEBHOOK_GROUP_MS: "0",
};

/** Rows and columns as texts, the first of each their titles. */
type Table = readonly (readonly string[])[];

const figure = (value: number): string => value.toLocaleString("en");
const placesOf = (visited: Visited, kind: "F" | "L"): readonly (readonly [file: string, places: number])[] =>
  [...visited]
    .map(([file, places]): [string, number] => [file, [...places].filter((place) => place.startsWith(kind)).length])
    .filter(([, places]) => places > 0);
const sum = (counted: readonly (readonly [string, number])[]): number => counted.reduce((all, [, one]) => all + one, 0);

/** The figures of walks that are checked, and files of at most 25 lines. */
const totals: readonly (readonly [title: string, of: (visited: Visited) => number])[] = [
  ["files", (visited) => placesOf(visited, "L").length],
  ["functions", (visited) => sum(placesOf(visited, "F"))],
  ["lines", (visited) => sum(placesOf(visited, "L"))],
  ["files of at most 25 lines", (visited) => placesOf(visited, "L").filter(([, lines]) => lines <= 25).length],
];

function tableOf(columns: readonly Column[]): Table {
  const found = faces();
  const rooms = [...new Set([...found.keys(), ...columns.flatMap(({ visited }) => [...visited.keys()].map(roomOf))])];
  const cell = (visited: Visited, room: string): string => {
    const lines = placesOf(visited, "L").filter(([file]) => roomOf(file) === room);
    return lines.length === 0 ? "" : `${figure(sum(lines))} in ${lines.length}`;
  };
  return [
    ["", "face", ...columns.map(({ title }) => title)],
    ...totals.map(([title, of]) => [title, ""].concat(columns.map(({ visited }) => figure(of(visited))))),
    ...rooms.toSorted().map((room) => {
      const { names = new Set(), files = new Set() } = found.get(room) ?? {};
      const face = files.size === 0 ? "" : `${names.size} in ${files.size}`;
      return [`\`${room}\``, face].concat(columns.map(({ visited }) => cell(visited, room)));
    }),
  ];
}

const overview = join(root, "src/README.md");

/** As the formatter aligns it. */
function markdown(table: Table): string {
  const [titles = []] = table;
  const widths = titles.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const rule = widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  const [first = "", ...rows] = table.map((row) =>
    line(widths.map((width, column) => (row[column] ?? "")[column === 0 ? "padEnd" : "padStart"](width))),
  );
  return [first, line(rule), ...rows].join("\n");
}

const tableIn = /(?<=^## Walks and faces$[^|]*)(?:^\|.*\n)+/mu;

/** The table that the overview has. */
export function storedTable(): Table {
  const [text = ""] = tableIn.exec(readFileSync(overview, "utf8")) ?? [];
  const [titles = "", , ...rows] = text.trim().split("\n");
  return [titles, ...rows].map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((each) => each.trim()),
  );
}

/** How far a figure may be above that of the table. */
const allowed = 1.03;
const numbersIn = (cell = ""): readonly number[] => [...cell.replaceAll(",", "").matchAll(/\d+/gu)].map(Number);

/** What has grown above the table: a sentence each. */
export function grown(stored: Table, now: Table): readonly string[] {
  const [titles = [], ...rows] = stored;
  const checked = new Set<string>(totals.slice(0, 3).map(([title]) => title));
  return now.slice(1).flatMap((row) => {
    const title = row[0] ?? "";
    const old = rows.find(([name]) => name === title);
    return row.flatMap((cell, column) => {
      const isFace = titles[column] === "face";
      if (column === 0 || column >= titles.length || (!isFace && !checked.has(title))) return [];
      const limits = numbersIn(old?.[column]);
      const isGrown = numbersIn(cell).some((value, part) => value > (limits[part] ?? 0) * allowed);
      return isGrown ? [`${titles[column]}, ${title}: ${cell}, and the table has ${old?.[column] ?? "nothing"}`] : [];
    });
  });
}

/** The table with faces alone. */
export const faceTable = (): Table => tableOf([]);

function printFiles(columns: readonly Column[]): void {
  for (const { title, visited } of columns) {
    console.log(`\n${title}`);
    const functions = new Map(placesOf(visited, "F"));
    for (const [file, lines] of placesOf(visited, "L").toSorted(([one], [other]) => (one < other ? -1 : 1))) {
      console.log(
        `${figure(lines).padStart(6)} lines ${String(functions.get(file) ?? 0).padStart(4)} functions  ${file}`,
      );
    }
  }
}

async function main(mode: string | undefined): Promise<void> {
  const stored = storedTable();
  const columns = await measureAll();
  if (mode === "--files") return printFiles(columns);
  const table = tableOf(columns);
  console.log(markdown(table));
  if (mode === "--write") {
    const text = readFileSync(overview, "utf8");
    return writeFileSync(
      overview,
      text.replace(tableIn, () => `${markdown(table)}\n`),
    );
  }
  const found = grown(stored, table);
  for (const each of found) console.error(each);
  if (mode === "--check" && found.length > 0) process.exitCode = 1;
}

if (import.meta.main) await main(process.argv[2]);
