import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BuiltService, startBuiltService } from "../support/built-program.ts";
import { createCatalogFolder } from "../support/catalog-folder.ts";
import { answers, requireProgram, type ServerProcess, startServer } from "../support/engines/server-process.ts";
import { freePort } from "../support/listening.ts";
import { linesAs, outputOf, type Reader, stepsOf } from "../support/markdown-steps.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../support/sparql-test-server.ts";

// Ten tasks of users by the guide alone: the commands and programs of each page, run in order as they stand, their output
// compared with the page's. query-from-r.md is not among them: R would be the largest package that the tests install.

const root = fileURLToPath(new URL("../..", import.meta.url));
const pageOf = (name: string): string => readFileSync(join(root, `deploy/guide/${name}.md`), "utf8");

/** A folder with the programs that the guide names: `fedway`, and the Python of the foreign clients. */
function programs(): string {
  const folder = newFolder();
  const file = join(folder, "fedway");
  writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" "${join(root, "dist/cli/main.js")}" "$@"\n`);
  chmodSync(file, 0o755);
  const clients = execFileSync(join(root, "test/support/engines/fetch-clients.sh"), { encoding: "utf8" }).trim();
  for (const [program, name] of [
    ["jq", "jq"],
    ["java", "default-jdk-headless"],
  ] as const)
    requireProgram(program, `apt-get install ${name}`);
  return [folder, join(clients, "python/bin"), process.env["PATH"]].join(":");
}

async function compare(step: ReturnType<typeof stepsOf>[number], reader: Reader): Promise<void> {
  const output = await outputOf(step, reader);
  const { shown } = step;
  if (shown === undefined) expect(output.trim()).not.toBe("");
  else if (shown.startsWith("{")) expect(JSON.parse(output)).toMatchObject(JSON.parse(shown));
  else expect(output).toMatch(linesAs(reader.here(shown)));
}

let path: string;
beforeAll(() => {
  path = programs();
});

/** Tasks that one service with its example data is enough for. */
const tasks = [
  "query-from-python",
  "query-from-javascript",
  "query-from-java",
  "explore-an-endpoint",
  "answers",
  "connect-an-agent",
  "add-an-endpoint",
  "monitoring",
  "build-a-benchmark",
  "yasgui",
  "command-line",
  "other-words",
];

describe("beside a service that was just started", () => {
  const dataDir = newFolder();
  const folder = newFolder();
  let service: BuiltService;
  let fuseki: SparqlTestServer;

  beforeAll(async () => {
    fuseki = await startSparqlTestServer('<urn:one> <http://xmlns.com/foaf/0.1/name> "One" .\n');
    const env = { FEDWAY_DATA_DIR: dataDir, FEDWAY_MONITOR: "on", FEDWAY_FACTS: "on", FEDWAY_ADMIN_TOKEN: "" };
    const { path: catalog } = await createCatalogFolder();
    service = await startBuiltService({ ...env, FEDWAY_CATALOG: catalog, FEDWAY_ALLOW_ADDRESSES: "127.0.0.0/8" });
  });
  afterAll(async () => {
    await service?.stop();
    await fuseki?.close();
  });

  const here = (text: string): string =>
    text
      .replaceAll("http://127.0.0.1:3000", service.url)
      .replaceAll("http://127.0.0.1:3030/ds/sparql", fuseki.url)
      .replaceAll(".fedway/", `${dataDir}/`)
      .replaceAll(" shards/example", ` ${root}/shards/example`);

  describe.each(tasks)("%s", (name) => {
    const steps = stepsOf(pageOf(name)).map((step, at) => [`step ${at + 1}: ${step.title}`, step] as const);
    it.each(steps)("%s", (_title, step) =>
      compare(step, { folder, env: { PATH: path, FEDWAY_DATA_DIR: dataDir }, here }),
    );
  });
});

describe("production", () => {
  const page = pageOf("production");
  const [step] = stepsOf(page);
  const folder = newFolder();
  let service: BuiltService;
  let nginx: ServerProcess;
  let here: Reader["here"];

  /** The page's service is started by systemd, and nginx by its package: here both start with the page's files. */
  beforeAll(async () => {
    const [port, front] = [await freePort(), await freePort()];
    here = (text) =>
      text.replaceAll("127.0.0.1:8080", `127.0.0.1:${front}`).replaceAll("127.0.0.1:3000", `127.0.0.1:${port}`);
    const settings = parseEnv(here(step?.files["fedway.env"] ?? ""));
    service = await startBuiltService({ ...(settings as Record<string, string>), PORT: String(port) });
    const conf = join(folder, "nginx.conf");
    const site = here(step?.files["fedway.conf"] ?? "");
    writeFileSync(conf, `pid ${folder}/nginx.pid; error_log stderr; events {} http { access_log off; ${site} }`);
    nginx = await startServer({
      name: "nginx",
      command: requireProgram("nginx", "apt-get install nginx"),
      args: ["-g", "daemon off;", "-c", conf, "-p", folder],
      cwd: folder,
      ready: () => answers(`http://127.0.0.1:${front}/health/live`),
      readyWithinMs: 60_000,
    });
  });
  afterAll(async () => {
    await nginx?.stop();
    await service?.stop();
  });

  it.each(stepsOf(page))("$title", (each) =>
    compare(each, { folder, env: { PATH: path, FEDWAY_DATA_DIR: newFolder() }, here }),
  );
});
