import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { createMonitoredFolder, type MonitoredService } from "./monitored-service.ts";
import { newFolder } from "./scratch-folder.ts";
import { startSparqlTestServer } from "./sparql-test-server.ts";

// Writes test/fixtures/data-folder.json: what a service leaves in its data folder when it is killed in the middle of a job.
// Run by hand, with Node 24, in the version whose folder is to be read by later ones: node test/support/write-data-folder.ts FILE

const [target = ""] = process.argv.slice(2);
const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const data = `<http://a.example/1> ${type} <http://a.example/Book> .
<http://a.example/1> <http://a.example/title> "One" .
<http://a.example/2> ${type} <http://a.example/Book> .`;

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    if (await holds()) return;
    await sleep(200);
  }
  throw new Error(`never: ${what}`);
}

const stateOf = async (service: MonitoredService, id: string): Promise<string> =>
  (await service.json<{ state: string }>(`/api/jobs/${encodeURIComponent(id)}`)).state;

async function change(service: MonitoredService, method: string, path: string, body?: object): Promise<void> {
  const { status, body: answer } = await service.change(method, path, body);
  if (status >= 300) throw new Error(`${method} ${path} is ${status}: ${JSON.stringify(answer)}`);
}

async function ask(service: MonitoredService, path: string): Promise<string> {
  return (await service.json<{ id: string }>(path, { method: "POST" })).id;
}

const [alpha, slow] = [await startSparqlTestServer(data), await startSparqlTestServer(data)];
const dataDir = newFolder();
const files = {
  alpha: alpha.url,
  slow: slow.url,
  broken: "http://127.0.0.1:9/sparql",
  removed: "http://127.0.0.1:9/removed",
};
const folder = await createMonitoredFolder(files);
const service = await folder.start({ FEDWAY_DATA_DIR: dataDir });
const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
await change(service, "DELETE", "/api/endpoints/removed");
await change(service, "PATCH", "/api/endpoints/alpha", { title: "Alpha, changed" });
await change(service, "POST", "/api/endpoints", { id: "added", title: "Added", url: "http://127.0.0.1:9/added" });
await change(service, "POST", "/api/endpoints/alpha/maintenance", { to: inAnHour, reason: "Moving" });
const done = [
  await ask(service, "/api/endpoints/alpha/describe"),
  await ask(service, "/api/endpoints/alpha/capabilities"),
];
for (const id of done) await until(`${id} is done`, async () => (await stateOf(service, id)) === "done");
await until("an incident is open", async () =>
  (await service.incidents()).some(({ endpoint }) => endpoint === "broken"),
);
slow.setFault({ kind: "hang" });
const running = await ask(service, "/api/endpoints/slow/describe");
await until("a job runs", async () => (await stateOf(service, running)) === "running");

const database = new DatabaseSync(join(dataDir, "store.db"), { readOnly: true });
const rows = (table: string): unknown => database.prepare(`SELECT * FROM ${table}`).all();
const tables = ["documents", "points", "counters", "leases", "sequence"];
const dump = {
  atMs: Date.now(),
  files,
  done,
  running,
  pragmas: { ...database.prepare("PRAGMA user_version").get(), ...database.prepare("PRAGMA application_id").get() },
  schema: database.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").all(),
  rows: Object.fromEntries(tables.map((table) => [table, rows(table)])),
};
database.close();
writeFileSync(target, `${JSON.stringify(dump, null, 1)}\n`);
await service.close();
await Promise.all([alpha.close(), slow.close()]);
