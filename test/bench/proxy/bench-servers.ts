import { spawnSync } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startNginx } from "../../support/engines/nginx.ts";
import { answers, type ServerProcess, startServer } from "../../support/engines/server-process.ts";
import type { CannedBody } from "./bodies.ts";
import { childrenOf } from "../../support/child-processes.ts";
import { type SlowUpstream, startSlowUpstream } from "./slow-upstream.ts";
import { freePort } from "../../support/listening.ts";
import { newFolder } from "../../support/scratch-folder.ts";

/** A server under test. */
export interface MeasuredServer {
  readonly origin: string;
  /** The process that does the work. */
  readonly pid: number;
}

/** Everything the bench talks to. */
export interface BenchServers {
  readonly upstream: MeasuredServer;
  readonly nginx: MeasuredServer;
  readonly fedway: MeasuredServer;
  /** Fastify and undici and nothing else. */
  readonly bare: MeasuredServer;
  readonly slow: SlowUpstream;
  /** Prefix of commands that make load: it shares a processor with the upstream, never with the server under test. */
  readonly loadWrapper: readonly string[];
  /** The endpoint's URL as a SERVICE names it. */
  endpointUrl(id: CannedBody["id"] | "slow"): string;
  /** Requests that the upstream has answered so far. */
  upstreamRequests(): Promise<number>;
  /** A new Fedway process instead of the old one. */
  restartFedway(): Promise<void>;
  close(): Promise<void>;
}

const nginxFolder = new URL("../../../deploy/nginx/", import.meta.url);
const bareProgram = fileURLToPath(new URL("bare-proxy.ts", import.meta.url));
const fedwayProgram = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

/** What is best for a proxy that leaves the memory of large answers to the garbage collector. */
const bareOptions = ["--max-semi-space-size=2"];

const pinProgram = "taskset";

/** Server under test on one processor, upstream and load on another; without two processors nothing is pinned. */
function processors(): { readonly tested: readonly string[]; readonly rest: readonly string[] } {
  const pin = (processor: string): readonly string[] => [pinProgram, "-c", processor];
  const canPin = availableParallelism() > 1 && spawnSync(pinProgram, ["-c", "0,1", "true"]).status === 0;
  return canPin ? { tested: pin("0"), rest: pin("1") } : { tested: [], rest: [] };
}

/** Starts the upstream, nginx in front of it, the slow upstream and the built Fedway. */
export async function startBenchServers(bodies: readonly CannedBody[]): Promise<BenchServers> {
  const scratch = newFolder();
  // nginx started by root reads the bodies as another user.
  await chmod(scratch, 0o755);
  const running: { stop(): Promise<void> }[] = [];
  const close = async (): Promise<void> => {
    for (const server of running.toReversed()) await server.stop();
  };
  try {
    return await startAll({ bodies, runDir: scratch, running, close });
  } catch (error) {
    await close();
    throw error;
  }
}

interface Start {
  readonly bodies: readonly CannedBody[];
  readonly runDir: string;
  readonly running: { stop(): Promise<void> }[];
  readonly close: () => Promise<void>;
}

async function startAll({ bodies, runDir, running, close }: Start): Promise<BenchServers> {
  const { tested, rest } = processors();
  const upstream = await startUpstream(bodies, runDir, rest);
  running.push(upstream.process);
  const nginxPort = await freePort();
  const nginx = await startNginx({
    template: new URL("bench-proxy.conf.template", nginxFolder),
    values: { UPSTREAM_PORT: String(upstream.port) },
    runDir,
    port: nginxPort,
    readyPath: "/status",
    wrapper: tested,
  });
  running.push(nginx);
  const upstreamOrigin = `http://127.0.0.1:${upstream.port}`;
  const bare = await startNode({
    name: "bare",
    args: (port) => [...bareOptions, bareProgram, String(port), upstreamOrigin],
    readyPath: "/status",
    runDir,
    wrapper: tested,
  });
  running.push(bare);
  const slow = await startSlowUpstream();
  running.push({ stop: () => slow.close() });
  const endpointUrl = (id: string): string =>
    id === "slow" ? slow.url : `http://127.0.0.1:${upstream.port}/${id}/sparql`;
  await writeCatalog(runDir, [...bodies.map(({ id }) => id), "slow"], endpointUrl);
  let fedway = await startFedway(runDir, tested);
  running.push({ stop: () => fedway.stop() });
  return {
    upstream: { origin: upstreamOrigin, pid: workerOf(upstream.process) },
    nginx: { origin: `http://127.0.0.1:${nginxPort}`, pid: workerOf(nginx) },
    get fedway() {
      return fedway;
    },
    bare,
    slow,
    loadWrapper: rest,
    endpointUrl,
    upstreamRequests: () => countRequests(upstreamOrigin),
    restartFedway: async () => {
      await fedway.stop();
      fedway = await startFedway(runDir, tested);
    },
    close,
  };
}

async function startUpstream(
  bodies: readonly CannedBody[],
  runDir: string,
  wrapper: readonly string[],
): Promise<{ readonly process: ServerProcess; readonly port: number }> {
  const port = await freePort();
  for (const { id, bytes } of bodies) {
    await mkdir(join(runDir, "bodies", id), { recursive: true });
    await writeFile(join(runDir, "bodies", id, "sparql"), bytes);
  }
  const small = bodies.find(({ id }) => id === "rows10")?.bytes.toString("utf8") ?? "";
  if (/['$\\]/u.test(small)) throw new Error("the small body holds characters that mean something to nginx");
  const server = await startNginx({
    template: new URL("bench-upstream.conf.template", nginxFolder),
    values: { SMALL_BODY: small },
    runDir,
    port,
    readyPath: "/status",
    wrapper,
  });
  return { process: server, port };
}

interface RunningServer extends MeasuredServer {
  stop(): Promise<void>;
}

interface NodeProgram {
  readonly name: string;
  readonly args: (port: number) => readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Answered once the program is ready. */
  readonly readyPath: string;
  readonly runDir: string;
  readonly wrapper: readonly string[];
}

/** Starts a program on the Node that runs the bench, at a free port. */
async function startNode(program: NodeProgram): Promise<RunningServer> {
  const { name, args, env = {}, readyPath, runDir, wrapper } = program;
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const server = await startServer({
    name,
    command: process.execPath,
    args: args(port),
    wrapper,
    cwd: runDir,
    env: { ...env, PORT: String(port) },
    ready: () => answers(origin + readyPath),
    readyWithinMs: 60_000,
  });
  return { origin, pid: server.pid, stop: () => server.stop() };
}

/** Fedway as its operators run it: one process, metrics, guard and caps on, default log level. */
const startFedway = (runDir: string, wrapper: readonly string[]): Promise<RunningServer> =>
  startNode({
    name: "fedway",
    args: () => [fedwayProgram],
    env: {
      HOST: "127.0.0.1",
      NODE_ENV: "production",
      FEDWAY_CATALOG: join(runDir, "catalog"),
      FEDWAY_EXAMPLES: "off",
      // A probe in the middle of a round would be counted as a request of it.
      FEDWAY_MONITOR: "off",
      FEDWAY_FACTS: "off",
      FEDWAY_ALLOW_ADDRESSES: "127.0.0.0/8",
    },
    readyPath: "/health/ready",
    runDir,
    wrapper,
  });

async function writeCatalog(runDir: string, ids: readonly string[], urlOf: (id: string) => string): Promise<void> {
  await mkdir(join(runDir, "catalog"), { recursive: true });
  for (const id of ids) {
    await writeFile(
      join(runDir, "catalog", `${id}.ttl`),
      `@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
[] a dcat:DataService ; dcterms:identifier "${id}" ; dcterms:title "${id}" ; dcat:endpointURL <${urlOf(id)}> .
`,
    );
  }
}

function workerOf(master: ServerProcess): number {
  const [worker] = childrenOf(master.pid);
  if (worker === undefined) throw new Error("nginx has no worker process");
  return worker;
}

async function countRequests(origin: string): Promise<number> {
  const text = await (await fetch(`${origin}/status`)).text();
  const requests = /^\s*\d+\s+\d+\s+(\d+)\s*$/mu.exec(text)?.[1];
  if (requests === undefined) throw new Error(`nginx's status page is not understood:\n${text}`);
  return Number(requests);
}
