import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Program, startProgram } from "../support/built-program.ts";
import { freePort } from "../support/listening.ts";
import { newFolder } from "../support/scratch-folder.ts";

// The package as npm publishes it, installed into an empty folder: what a newcomer gets with `npx fedway`.

const folder = newFolder();
const installed = join(folder, "node_modules", "fedway");
const firstQuery = "catalog/examples/queries/1-three-endpoints.rq";
const firstRow = "Einar Þorsteinsson,1902-02-17,Rauðafjörður,6";

let service: Program;
let url: string;
/** With the way to the package registry that this machine has. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) =>
    /^(NODE_EXTRA_CA_CERTS|npm_config_(?!.*prefix).*|.*_proxy)$/i.test(name),
  ),
) as Record<string, string>;

const outcomeOf = async ({ ended, output }: Program) => ({ code: await ended, ...output });
const run = (command: readonly string[]) => outcomeOf(startProgram(command, env, folder));

const bytesBelow = (path: string): number =>
  readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((file) => statSync(join(path, file)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);

beforeAll(async () => {
  const port = String(await freePort());
  url = `http://127.0.0.1:${port}`;
  const path = `${dirname(process.execPath)}:${process.env["PATH"]}`;
  Object.assign(env, {
    PATH: path,
    PORT: port,
    FEDWAY_MONITOR: "off",
    FEDWAY_DRAIN_MS: "0",
    npm_config_prefer_offline: "true",
    npm_config_fetch_retries: "0",
  });
  const packed = await outcomeOf(startProgram(["npm", "pack", "--silent", "--pack-destination", folder], env));
  const tarball = packed.stdout.trim().split("\n").at(-1) ?? "";
  const install = await run(["npm", "install", "--no-audit", "--no-fund", `./${tarball}`]);
  expect(install, install.stderr).toMatchObject({ code: 0 });
  const beganMs = performance.now();
  // Not by npx: npm's shell does not pass SIGTERM on, and the service would outlive the test.
  service = startProgram(["node_modules/.bin/fedway", "serve"], env, folder);
  await service.until(async () => (await fetch(`${url}/health/ready`).catch(() => undefined))?.ok || undefined);
  const seconds = ((performance.now() - beganMs) / 1000).toFixed(1);
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
  const sizes = [statSync(join(folder, tarball)).size, bytesBelow(join(folder, "node_modules"))].map(megabytes);
  process.stdout.write(`tarball ${sizes[0]} MB, installed ${sizes[1]} MB, ${seconds} s to ready\n`);
});
afterAll(async () => {
  await service?.stop();
});

describe("the package", () => {
  it("brings two other packages and less than 40 MB", () => {
    const packages = readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."));
    expect(packages).toEqual(["clingo-wasm", "fedway", "oxigraph"]);
    expect(bytesBelow(join(folder, "node_modules"))).toBeLessThan(40e6);
  });

  it("has what it reads, its changes and the licences of what is inside, and nothing else", () => {
    const paths = ["dist", "catalog", "shards", "deploy", ".github", "package.json", "README.md", "LICENSE"];
    expect(readdirSync(installed).toSorted()).toEqual(paths.toSorted());
    expect(readdirSync(join(installed, ".github"))).toEqual(["CHANGELOG.md"]);
    expect(readdirSync(join(installed, "deploy"))).toEqual(["guide"]);
    expect(readdirSync(join(installed, "dist"))).not.toContain("comunica");
    const licences = readFileSync(join(installed, "dist/LICENCES.txt"), "utf8");
    expect(licences).toContain("fastify");
    expect(licences).toContain("jsuri 1.3.1 (MIT)");
    expect(licences).not.toContain("(undefined)");
  });

  it("serves in an empty folder, writes to .fedway there, and answers the README's first query", async () => {
    expect(readdirSync(folder).filter((name) => !/\.tgz$|^package|^node_modules/.test(name))).toEqual([".fedway"]);
    const query = readFileSync(join(installed, firstQuery), "utf8");
    const headers = { accept: "text/csv" };
    const answer = await fetch(`${url}/sparql`, { method: "POST", headers, body: new URLSearchParams({ query }) });
    expect((await answer.text()).split("\r\n").slice(0, 2)).toEqual(["name,born,city,works", firstRow]);
    for (const page of ["/", "/query", "/docs", "/help"]) expect((await fetch(url + page)).status, page).toBe(200);
  });

  it("asks the same on the command line, by the command of the start message", async () => {
    const command = /Example +(npx fedway query \S+)/.exec(service.log())?.[1] ?? "";
    const { code, stdout } = await run([...command.split(" "), "--format", "csv"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(firstRow) });
  });

  it("shows its help, and builds the example's shards in threads of their own", async () => {
    const help = await run(["npx", "--no-install", "fedway", "--help"]);
    expect(help).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Usage: fedway/) });
    const built = await run([
      "npx",
      "--no-install",
      "fedway",
      "shards",
      "build",
      `${installed}/shards/example/spec.json`,
    ]);
    expect(built, built.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("harbour: 2343 triples") });
  });

  it("ends on SIGTERM", async () => {
    expect(await service.stop()).toBe(0);
  });
});
