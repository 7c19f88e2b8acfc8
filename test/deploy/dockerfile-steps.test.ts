import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isIgnored, parseDockerfile } from "../support/deploy/dockerfile.ts";
import { buildImageRoot, finish, type Image, runInImage, startImage } from "../support/deploy/image-root.ts";
import { answers } from "../support/engines/server-process.ts";
import { freePort } from "../support/listening.ts";

const repository = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(join(repository, path), "utf8");

let image: Image;
let remove: (() => void) | undefined;

beforeAll(() => {
  const dockerignore = read(".dockerignore");
  const ignored = (path: string): boolean => path !== "" && isIgnored(dockerignore, path);
  const built = buildImageRoot(parseDockerfile(read("deploy/Dockerfile")), { context: repository, ignored });
  ({ remove } = built);
  image = finish(built.root);
  // Seconds on an idle machine whose npm has the packages; minutes when it must fetch them and shares its processors.
}, 600_000);

afterAll(() => remove?.());

async function untilReady(url: string, ended: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 600 && !ended(); tries++) {
    if (await answers(`${url}/health/ready`)) return true;
    await sleep(100);
  }
  return false;
}

/**
 * The steps of deploy/Dockerfile carried out in a scratch folder with this machine's npm; what they make runs in namespaces as
 * a container would (`image-root.ts`), with this machine's Debian in the place of the base image. No container engine is involved.
 */
const inRoot = (path: string): string => join(image.path, image.workdir, path);

describe("what the steps of the Dockerfile make", () => {
  it("is the built service, the files that it reads and two packages", () => {
    expect(readdirSync(inRoot("")).toSorted()).toEqual([
      "catalog",
      "deploy",
      "dist",
      "node_modules",
      "package.json",
      "shards",
    ]);
    const installed = readdirSync(inRoot("node_modules")).filter((name) => !name.startsWith("."));
    expect(installed).toEqual(["clingo-wasm", "oxigraph"]);
  });

  it("builds shards, with the solver that is found late", () => {
    const { status, output } = runInImage(image, [
      "node",
      "dist/cli/main.js",
      "shards",
      "build",
      "shards/example/spec.json",
    ]);
    expect({ status, output }).toEqual({ status: 0, output: expect.stringContaining("report.html") });
  });

  it("runs as its user, who cannot write but to the data folder and /tmp, nor execute what is there", () => {
    const sh = (command: string): string => runInImage(image, ["sh", "-c", command]).output.trim();
    if (process.getuid?.() === 0) expect(sh("id -u; id -g; id -G")).toBe("1000\n1000\n1000");
    expect(sh("grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status").split(/\s+/)).toEqual([
      "CapEff:",
      "0000000000000000",
      "CapBnd:",
      "0000000000000000",
      "NoNewPrivs:",
      "1",
    ]);
    for (const path of ["/x", "/app/x", "/app/dist/x", "/usr/bin/x", "/usr/local/bin/x", "/etc/x", "/var/lib/x"])
      expect([path, sh(`touch ${path}`)]).toEqual([path, expect.stringContaining("Read-only file system")]);
    expect(sh("touch /tmp/x /var/lib/fedway/x && rm /tmp/x /var/lib/fedway/x && echo written")).toBe("written");
    expect(sh("cp /bin/true /tmp/x && /tmp/x")).toContain("Permission denied");
  });

  it("has a command line that works", () => {
    const { status, output } = runInImage(image, ["node", "dist/cli/main.js", "--version"]);
    expect({ status, output: output.trim() }).toEqual({ status: 0, output: "0.1.0" });
  });

  it("starts without HOME, answers the README's first query and is healthy; ends on SIGTERM, and goes on where it ended", async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    // Probes would leave this machine.
    const env = { HOST: "127.0.0.1", PORT: String(port), FEDWAY_MONITOR: "off" };
    const token = (): string => readFileSync(join(image.volume, "admin-token"), "utf8").trim();
    const start = async () => {
      const started = startImage(image, env);
      expect(await untilReady(url, started.hasEnded), started.log()).toBe(true);
      return started;
    };
    const first = await start();
    try {
      const query = read("catalog/examples/queries/1-three-endpoints.rq");
      const headers = { accept: "text/csv" };
      const answer = await fetch(`${url}/sparql`, { method: "POST", headers, body: new URLSearchParams({ query }) });
      expect(answer.status).toBe(200);
      const lines = (await answer.text()).split("\r\n");
      expect(lines.slice(0, 2)).toEqual(["name,born,city,works", "Einar Þorsteinsson,1902-02-17,Rauðafjörður,6"]);
      expect(runInImage(image, image.healthcheck, env)).toEqual({ status: 0, output: "" });
      const body = JSON.stringify({ id: "mine", title: "Mine", url: "https://mine.example/sparql" });
      const change = { "Content-Type": "application/json", Authorization: `Bearer ${token()}` };
      expect((await fetch(`${url}/api/endpoints`, { method: "POST", headers: change, body })).status).toBe(201);
    } finally {
      expect(await first.stop(), first.log()).toBe(0);
    }
    expect(runInImage(image, image.healthcheck, env).status).toBe(1);
    const before = token();
    const second = await start();
    try {
      expect((await fetch(`${url}/api/endpoints/mine`)).status).toBe(200);
      expect(token()).toBe(before);
    } finally {
      expect(await second.stop(), second.log()).toBe(0);
    }
  });
});
