import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type BuiltService, runCommand } from "../support/built-program.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { startNginx } from "../support/engines/nginx.ts";
import { freePort } from "../support/listening.ts";
import { stepsOf } from "../support/markdown-steps.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../support/sparql-test-server.ts";

let quick: SparqlTestServer;
let slow: SparqlTestServer;
let cluster: Cluster;

beforeAll(async () => {
  [quick, slow] = await Promise.all([startSparqlTestServer("<urn:a> <urn:b> <urn:c> ."), startSparqlTestServer("")]);
  slow.setDelay(2_000);
  cluster = await startCluster({
    endpoints: { quick: quick.url, slow: slow.url },
    webs: 2,
    workers: 0,
    env: { FEDWAY_DRAIN_MS: "1500", FEDWAY_MONITOR: "off" },
  });
});
afterAll(async () => {
  await cluster?.close();
  await Promise.all([quick?.close(), slow?.close()]);
});

/** As a Kubernetes Service does: requests go in turn to those that said lately that they are ready. */
class Balancer {
  readonly #services: BuiltService[];
  #ready: readonly BuiltService[] = [];
  #turn = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(services: BuiltService[]) {
    this.#services = services;
    this.#timer = setInterval(() => void this.look(), 200);
  }

  async look(): Promise<void> {
    const states = await Promise.all(
      [...this.#services].map(async (service) => {
        const ok = await fetch(`${service.url}/health/ready`).then(
          (response) => response.ok,
          () => false,
        );
        return ok ? [service] : [];
      }),
    );
    this.#ready = states.flat();
  }

  next(): string {
    this.#turn++;
    const service = this.#ready[this.#turn % this.#ready.length];
    if (service === undefined) throw new Error("nobody is ready");
    return service.url;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

async function request(base: string, endpoint: string): Promise<string> {
  const response = await fetch(`${base}/endpoints/${endpoint}/sparql`, {
    method: "POST",
    headers: { Accept: "text/csv" },
    body: new URLSearchParams({ query: "SELECT * WHERE { ?s ?p ?o }" }),
  });
  const text = await response.text();
  return response.status === 200 ? "ok" : `${response.status} ${text.slice(0, 200)}`;
}

/** Sends requests, each tenth to the slow endpoint, until the restart has ended. @returns what became of each */
async function loadDuring(base: () => string, restart: () => Promise<void>): Promise<readonly string[]> {
  const outcomes: Promise<string>[] = [];
  const phase = { restarting: true };
  const load = (async () => {
    for (let count = 0; phase.restarting; count++) {
      const endpoint = count % 10 === 0 ? "slow" : "quick";
      outcomes.push(request(base(), endpoint).catch((error: unknown) => `lost: ${String(error)}`));
      await sleep(20);
    }
  })();
  await restart().finally(() => (phase.restarting = false));
  await load;
  const results = await Promise.all(outcomes);
  expect(results.length).toBeGreaterThan(150);
  return results;
}

it("a rolling restart under load loses no request", async () => {
  const live = [...cluster.webs];
  const old = [...cluster.webs];
  const balancer = new Balancer(live);
  await balancer.look();
  const results = await loadDuring(
    () => balancer.next(),
    async () => {
      for (const service of old) {
        live.push(await cluster.start("web"));
        await sleep(500);
        expect(await cluster.stop(service)).toBe(0);
        live.splice(live.indexOf(service), 1);
      }
      await sleep(500);
    },
  );
  balancer.stop();
  expect(results.filter((result) => result !== "ok")).toStrictEqual([]);
});

/** nginx as the guide's page configures it, in front of the two processes. */
async function startGuidesNginx(port: number, runDir: string) {
  const page = readFileSync(new URL("../../deploy/guide/several-processes.md", import.meta.url), "utf8");
  const written = stepsOf(page).find(({ files }) => files["fedway.conf"] !== undefined)?.files["fedway.conf"] ?? "";
  const ports = new Map([
    ...cluster.webs.map(({ url }, at) => [`${3_001 + at}`, new URL(url).port] as const),
    ["8080", `${port}`],
  ]);
  const own = written.replaceAll(/127\.0\.0\.1:(\d+)/g, (_, shown: string) => `127.0.0.1:${ports.get(shown)}`);
  const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${runDir}/${name};`,
  );
  const file = join(runDir, "template");
  writeFileSync(
    file,
    `daemon off;\npid ${runDir}/pid;\nerror_log ${runDir}/errors;\nevents {}\nhttp {\naccess_log off;\n${folders.join("\n")}\n${own}}\n`,
  );
  return startNginx({ template: pathToFileURL(file), values: {}, runDir, port, readyPath: "/health/ready" });
}

it("behind nginx as the guide has it no request is lost, and the command line sees whole answers", async () => {
  const [port, runDir] = [await freePort(), newFolder()];
  const nginx = await startGuidesNginx(port, runDir);
  const base = `http://127.0.0.1:${port}`;
  const old = [...cluster.webs];
  const phase = { restarting: true };
  // nginx passes on no trailers, so that each answer's end is asked for, at either process.
  const commands = (async () => {
    const codes: (number | null)[] = [];
    while (phase.restarting) {
      const query = "SELECT * { SERVICE <quick> { ?s ?p ?o } }";
      const { code, stdout, stderr } = await runCommand(["query", query, "--url", base, "--format", "csv"]);
      codes.push(code);
      expect
        .soft({ code, stderr, rows: stdout.trim().split("\n").length })
        .toStrictEqual({ code: 0, stderr: "", rows: 2 });
    }
    return codes;
  })();
  const results = await loadDuring(
    () => base,
    async () => {
      for (const service of old) {
        expect(await cluster.stop(service)).toBe(0);
        await cluster.start("web", { PORT: new URL(service.url).port });
      }
    },
  ).finally(() => (phase.restarting = false));
  expect((await commands).length).toBeGreaterThan(5);
  await nginx.stop();
  expect(results.filter((result) => result !== "ok")).toStrictEqual([]);
});
