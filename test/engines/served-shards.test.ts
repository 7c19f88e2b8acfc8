import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { openPackage } from "../../shards/src/package/open-package.ts";
import { baseUrl, fault, makePackage, packagedQueries, throughComunica } from "../support/benchmark-package.ts";
import { type FusekiCommand, fusekiProgram, startFuseki, startFusekiCommand } from "../support/engines/fuseki.ts";
import { startNginx } from "../support/engines/nginx.ts";
import { freePort } from "../support/listening.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { openSpelledWorkspace } from "../support/spelled-dataset.ts";

// Somebody without Fedway hosts a package by its compose file. There is no Docker here: its commands and its paths are used as
// they are, but for ports and folders.

interface Compose {
  readonly services: Readonly<Record<string, { readonly command: readonly string[] }>>;
  readonly configs: { readonly paths: { readonly content: string } };
}

let folder: string;
let url: string;
let compose: Compose;
const started: { stop(): Promise<void> }[] = [];
beforeAll(async () => {
  ({ folder } = await makePackage((await openSpelledWorkspace()).folder));
  compose = parse(await readFile(join(folder, "compose.yaml"), "utf8"), { merge: true }) as Compose;
  let { content } = compose.configs.paths;
  for (const [name, { command }] of Object.entries(compose.services)) {
    if (name === "proxy") continue;
    const fuseki = await startFusekiCommand(hereOf(command));
    started.push(fuseki);
    content = content.replace(`http://${name}:3030;`, `http://127.0.0.1:${fuseki.port};`);
  }
  const [first] = (await openPackage(folder)).endpoints;
  const readyPath = `${new URL(first?.url ?? "").pathname}?query=ASK%20%7B%7D`;
  const runDir = newFolder();
  const port = await freePort();
  const template = join(runDir, "template.conf");
  const paths = content.replace("listen 80;", "listen 127.0.0.1:${PORT};");
  await writeFile(template, `daemon off; pid nginx.pid; events {}\nhttp { access_log off;\n${paths}}\n`);
  started.push(await startNginx({ template: pathToFileURL(template), values: {}, runDir, port, readyPath }));
  url = `http://127.0.0.1:${port}`;
}, 240_000);
afterAll(() => Promise.all(started.map((each) => each.stop())));

/** The command with the folder of the package for that of the container. */
const hereOf = (command: readonly string[]): FusekiCommand => {
  const [java, heap, flag, jar, port, file, name, ...more] = command;
  expect([java, flag, port, more]).toEqual(["java", "-jar", "--port=3030", []]);
  expect(file).toMatch(/^--file=\/shards\//u);
  return {
    jar: basename(jar ?? ""),
    heap: heap ?? "",
    args: [(file ?? "").replace("/shards/", `${join(folder, "build/shards")}/`), name ?? ""],
  };
};

const asked = async (endpoint: string, query: string, accept: string): Promise<string> =>
  (await fetch(`${endpoint}?query=${encodeURIComponent(query)}`, { headers: { accept } })).text();

it("names the jar that the tests run, with its checksum", async () => {
  const { jar } = await fusekiProgram();
  const text = await readFile(join(folder, "compose.yaml"), "utf8");
  expect(text).toContain(
    `${createHash("sha256")
      .update(await readFile(jar))
      .digest("hex")}  /opt/${basename(jar)}`,
  );
});

it("serves each shard at its URL with the terms of its file", async () => {
  const { endpoints, manifest } = await openPackage(folder);
  let triples = 0;
  for (const endpoint of endpoints) {
    const file = await readFile(join(folder, "build/shards", `${endpoint.id}.nt`), "utf8");
    const served = await asked(
      endpoint.url.replace(baseUrl, url),
      "CONSTRUCT WHERE { ?s ?p ?o }",
      "application/n-triples",
    );
    expect(served.trim().split("\n").toSorted(), endpoint.id).toEqual(file.trim().split("\n").toSorted());
    triples += file.trim().split("\n").length;
  }
  expect(triples).toBe(manifest.data.triples);
});

it("answers the gold queries with the gold answers", async () => {
  const ask = throughComunica({ url });
  const faults: string[] = [];
  for (const query of await packagedQueries(folder)) {
    const found = await fault(query, query.gold, ask);
    if (found !== undefined) faults.push(`${query.id} ${found}`);
  }
  expect(faults).toEqual([]);
}, 120_000);

it.each([
  ["tdb2", { triples: 486, unchanged: 404, matches: 2 }],
  ["values", { triples: 496, unchanged: 496, matches: 3 }],
  ["terms", { triples: 496, unchanged: 496, matches: 2 }],
] as const)(
  "a Fuseki with %s has the triples and spellings that the README says",
  async (store, expected) => {
    const { endpoints } = await openPackage(folder);
    const texts = await Promise.all(
      endpoints.map(({ id }) => readFile(join(folder, "build/shards", `${id}.nt`), "utf8")),
    );
    const lines = texts.join("").trim().split("\n");
    const fuseki = await startFuseki({ data: texts.join(""), store });
    started.push(fuseki);
    const served = await asked(fuseki.url, "CONSTRUCT WHERE { ?s ?p ?o }", "application/n-triples");
    const kept = new Set(served.trim().split("\n"));
    const seven = 'SELECT ?s { ?s ?p "007"^^<http://www.w3.org/2001/XMLSchema#integer> }';
    const rows = (await asked(fuseki.url, seven, "text/csv")).trim().split("\r\n");
    const unchanged = lines.filter((line) => kept.has(line)).length;
    expect({ triples: kept.size, unchanged, matches: rows.length - 1 }).toEqual(expected);
    expect(lines).toHaveLength(496);
  },
  120_000,
);
