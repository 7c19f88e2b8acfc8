import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isIgnored, parseDockerfile } from "../support/deploy/dockerfile.ts";
import { buildImageRoot, type ImageRoot, makeReadOnly, runInImage, startImage } from "../support/deploy/image-root.ts";
import { answers } from "../support/engines/server-process.ts";
import { freePort } from "../support/listening.ts";

const repository = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(join(repository, path), "utf8");

let root: ImageRoot;
let remove: (() => void) | undefined;

beforeAll(() => {
  const dockerignore = read(".dockerignore");
  const ignored = (path: string): boolean => path !== "" && isIgnored(dockerignore, path);
  ({ root, remove } = buildImageRoot(parseDockerfile(read("deploy/Dockerfile")), { context: repository, ignored }));
  makeReadOnly(root.workdir);
  // Seconds on an idle machine whose npm has the packages; minutes when it must fetch them and shares its processors.
}, 600_000);

afterAll(() => remove?.());

/** Files below a folder of the image that were changed after a moment. */
function changedSince(path: string, sinceMs: number): readonly string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => statSync(file).mtimeMs > sinceMs);
}

async function untilReady(url: string, ended: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 600 && !ended(); tries++) {
    if (await answers(`${url}/health/ready`)) return true;
    await sleep(100);
  }
  return false;
}

/** The steps of deploy/Dockerfile carried out in a scratch folder with this machine's npm; no container is involved. */
describe("what the steps of the Dockerfile make", () => {
  it("is the built service, the catalogue and the packages that it loads", () => {
    expect(readdirSync(root.workdir).toSorted()).toEqual(["catalog", "dist", "node_modules", "package.json", "shards"]);
    const has = (name: string): boolean => existsSync(join(root.workdir, "node_modules", name));
    expect(["fastify", "oxigraph", "@comunica/core", "ioredis"].filter((name) => !has(name))).toEqual([]);
    expect(["typescript", "vitest", "playwright-core", "oxlint", "node"].filter(has)).toEqual([]);
    // What Comunica has beside the compiled engine.
    const others = ["@comunica/query-sparql", "@comunica/runner", "componentsjs", "graphql", "yargs", "winston"];
    expect(others.filter(has)).toEqual([]);
    expect(existsSync(join(root.workdir, "dist/comunica/engine.cjs"))).toBe(true);
    const installed = readdirSync(join(root.workdir, "node_modules"), { recursive: true, encoding: "utf8" });
    const packages = installed.filter((path) => /(^|node_modules\/)(@[^/]+\/)?[^/]+\/package\.json$/.test(path));
    expect(packages.length).toBeGreaterThan(200);
    expect(packages.length).toBeLessThan(450);
  });

  it("can load every package that its files name", () => {
    const texts = readdirSync(join(root.workdir, "dist"), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.c?js$/.test(file))
      .map((file) => readFileSync(join(root.workdir, "dist", file), "utf8"));
    const naming = /(?:from|import\(|require\(|import|resolve\() ?["'](@?[a-z][^"':\s]*)["']/g;
    const names = new Set(texts.flatMap((text) => [...text.matchAll(naming)].map(([, name]) => name)));
    expect(names.size).toBeGreaterThan(100);
    // The runtime of local embeddings lies beside the model, in a volume.
    names.delete("onnxruntime-node");
    const script = `for (const name of ${JSON.stringify([...names])})
      if (name.endsWith(".wasm")) import.meta.resolve(name); else await import(name);`;
    expect(runInImage(root, ["node", "--input-type=module", "--eval", script])).toEqual({ status: 0, output: "" });
  });

  it("builds shards, with the solver that is found late", () => {
    const { status, output } = runInImage(root, [
      "node",
      "dist/cli/main.js",
      "shards",
      "build",
      "shards/example/spec.json",
    ]);
    expect({ status, output }).toEqual({ status: 0, output: expect.stringContaining("report.html") });
  });

  it("cannot be written to by its user, but for the data folder", () => {
    const touch = (path: string): number | null => runInImage(root, ["touch", path]).status;
    expect(touch("dist/left-behind")).not.toBe(0);
    expect(touch("left-behind")).not.toBe(0);
    expect(touch(join(root.env["FEDWAY_DATA_DIR"] ?? "", "probe"))).toBe(0);
  });

  it("has a command line that works", () => {
    const { status, output } = runInImage(root, ["node", "dist/cli/main.js", "--version"]);
    expect({ status, output: output.trim() }).toEqual({ status: 0, output: "0.1.0" });
  });

  it("starts without HOME, answers the README's first query, tells its health, and ends on SIGTERM", async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    // Probes would leave this machine.
    const env = { HOST: "127.0.0.1", PORT: String(port), FEDWAY_MONITOR: "off" };
    const startedMs = Date.now();
    const { child, log } = startImage(root, env);
    try {
      const ready = await untilReady(url, () => child.exitCode !== null || child.signalCode !== null);
      expect(ready, log()).toBe(true);
      const query = read("catalog/examples/queries/1-three-endpoints.rq");
      const answer = await fetch(`${url}/sparql`, {
        method: "POST",
        headers: { accept: "text/csv" },
        body: new URLSearchParams({ query }),
      });
      expect(answer.status).toBe(200);
      const lines = (await answer.text()).split("\r\n");
      expect(lines.slice(0, 2)).toEqual(["name,born,city,works", "Einar Þorsteinsson,1902-02-17,Rauðafjörður,6"]);
      expect(runInImage(root, root.healthcheck, env)).toEqual({ status: 0, output: "" });
      expect(changedSince(root.workdir, startedMs)).toEqual([]);
      expect(changedSince(root.env["FEDWAY_DATA_DIR"] ?? "", startedMs).length).toBeGreaterThan(0);
    } finally {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGTERM");
        await once(child, "exit");
      }
    }
    expect({ code: child.exitCode, signal: child.signalCode }).toEqual({ code: 0, signal: null });
    expect(runInImage(root, root.healthcheck, env).status).toBe(1);
  });
});
