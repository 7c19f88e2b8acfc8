import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { type BenchServers, type MeasuredServer, startBenchServers } from "./proxy/bench-servers.ts";
import { type CannedBody, createBodies, sha256 } from "./proxy/bodies.ts";
import { endpointPath, hasNew, plainPath, servicePath, twoServicesPath } from "./proxy/queries.ts";
import { type Measure, printTable, rounded, writeReport } from "./proxy/report.ts";
import { alternate, measure, medianOf, type Round } from "./proxy/rounds.ts";
import { measureFirstByte, measureMemory } from "./proxy/streaming.ts";

/** How long and how often. */
interface Effort {
  readonly rounds: number;
  readonly seconds: number;
  readonly passBytes: number;
  /** Loads of two seconds before anything is measured, at most, for each path. */
  readonly warmUps: number;
}

const thorough: Effort = { rounds: 7, seconds: 4, passBytes: 1e9, warmUps: 15 };
const quick: Effort = { rounds: 1, seconds: 1, passBytes: 3e8, warmUps: 1 };

interface Bench {
  readonly servers: BenchServers;
  readonly bodies: ReturnType<typeof createBodies>;
  readonly effort: Effort;
  readonly measures: Measure[];
  readonly rounds: Record<string, readonly Round[]>;
}

/** Compares Fedway with nginx's `proxy_pass`; all numbers come from the same run. @throws Error on wrong answers */
export async function benchProxy(options: { readonly quick: boolean }): Promise<void> {
  const bodies = createBodies();
  const servers = await startBenchServers(Object.values(bodies));
  const interrupted = (): void => {
    void servers.close().finally(() => process.exit(130));
  };
  process.once("SIGINT", interrupted).once("SIGTERM", interrupted);
  try {
    const bench: Bench = { servers, bodies, effort: options.quick ? quick : thorough, measures: [], rounds: {} };
    await compareBodies(bench);
    await countUpstreamRequests(bench);
    await measureMemoryGrowth(bench);
    await measureStreaming(bench);
    await warmUp(bench);
    await measureUpstreamAlone(bench);
    await measureThroughput(bench);
    await measureLatency(bench);
    printTable(bench.measures);
    const machine = { node: process.version, processors: cpus().length, model: cpus()[0]?.model ?? "unknown" };
    const { effort, measures, rounds } = bench;
    process.stdout.write(`\nwritten to ${await writeReport("proxy", { machine, effort, measures, rounds })}\n`);
  } finally {
    process.off("SIGINT", interrupted).off("SIGTERM", interrupted);
    await servers.close();
  }
}

const step = (text: string): void => {
  process.stderr.write(`bench proxy: ${text}\n`);
};

async function bodyHash(url: string): Promise<string> {
  const response = await fetch(url, {
    headers: { accept: "application/sparql-results+json", "accept-encoding": "identity" },
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${Buffer.from(bytes).toString("utf8")}`);
  return sha256(bytes);
}

/** Both servers and all routes deliver exactly the upstream's bytes. */
async function compareBodies({ servers, bodies }: Bench): Promise<void> {
  step("comparing bodies by hash");
  for (const { id, sha256: expected } of Object.values(bodies)) {
    const urls = [
      `${servers.nginx.origin}${plainPath(id)}`,
      `${servers.fedway.origin}${servicePath(servers.endpointUrl(id))}`,
      `${servers.fedway.origin}${endpointPath(id)}`,
    ];
    for (const url of urls) {
      if ((await bodyHash(url)) !== expected) throw new Error(`${url}: the body differs from the upstream's`);
    }
  }
}

async function countUpstreamRequests({ servers, bodies, measures }: Bench): Promise<void> {
  step("counting upstream requests");
  const url = servers.endpointUrl(bodies.rows10.id);
  const cases = [
    ["upstream requests of one SERVICE", servicePath(url)],
    ["upstream requests of two adjacent SERVICEs", twoServicesPath(url)],
  ] as const;
  for (const [name, path] of cases) {
    const before = await servers.upstreamRequests();
    await bodyHash(`${servers.fedway.origin}${path}`);
    // The status page counts the request that asks for it.
    const value = (await servers.upstreamRequests()) - before - 1;
    measures.push({ name, fedway: String(value), value, unit: "", target: "1", met: value === 1 });
  }
}

const megabytes = (bytes: number): string => rounded(bytes / 1e6);

/** In a process that has only answered small queries so far. */
async function measureMemoryGrowth({ servers, bodies, effort, measures }: Bench): Promise<void> {
  step("memory while 1 GB passes");
  await servers.restartFedway();
  const path = servicePath(servers.endpointUrl(bodies.rows10.id));
  await measure(servers, servers.fedway, { path, connections: 16, seconds: 2 });
  await sleep(1_000);
  const memory = await measureMemory(servers, bodies.mb28, effort.passBytes);
  const grown = (memory.peakBytes - memory.beforeBytes) / 1e6;
  measures.push({
    name: `memory growth while ${rounded(memory.passedBytes / 1e9)} GB pass`,
    fedway: `${megabytes(memory.beforeBytes)} > ${megabytes(memory.peakBytes)} > ${megabytes(memory.afterBytes)} MB`,
    value: grown,
    unit: "MB",
    target: "< 64 MB",
    met: grown < 64,
  });
}

async function measureStreaming({ servers, bodies, measures }: Bench): Promise<void> {
  step("first byte of a slow answer");
  const share = await measureFirstByte(servers, bodies.mb28);
  measures.push({
    name: "28 MB: in when the first byte is out",
    fedway: `${rounded(share)} %`,
    value: share,
    unit: "%",
    target: "< 1 %",
    met: share < 1,
  });
}

/** A service runs for days; the compiler of its engine is done with it after a minute of load. */
async function warmUp({ servers, bodies, effort }: Bench): Promise<void> {
  step("warming up");
  const { fedway, bare, nginx } = servers;
  for (const { id } of Object.values(bodies)) {
    const loads = [
      [fedway, servicePath(servers.endpointUrl(id))],
      [fedway, endpointPath(id)],
      ...(id === "rows10" ? [[fedway, servicePath(servers.endpointUrl(id), true)] as const] : []),
      ...(id === "mb28" ? [] : [[bare, plainPath(id)] as const]),
    ] as const;
    for (const [server, path] of loads) await loadUntilSteady(servers, server, { id, path, most: effort.warmUps });
    await measure(servers, nginx, { path: plainPath(id), connections: connectionsFor(id), seconds: 1 });
  }
}

interface WarmUp {
  readonly id: CannedBody["id"];
  readonly path: string;
  /** Loads of two seconds. */
  readonly most: number;
}

/** Until two loads in a row have brought next to nothing. */
async function loadUntilSteady(
  servers: BenchServers,
  server: MeasuredServer,
  { id, path, most }: WarmUp,
): Promise<void> {
  let best = 0;
  let idle = 0;
  for (let count = 0; count < most && idle < 2; count++) {
    const { requestsPerSecond } = await measure(servers, server, { path, connections: connectionsFor(id), seconds: 2 });
    idle = requestsPerSecond > best * 1.03 ? 0 : idle + 1;
    best = Math.max(best, requestsPerSecond);
  }
}

async function measureUpstreamAlone({ servers, bodies, effort, measures }: Bench): Promise<void> {
  step("the upstream alone");
  for (const { id, title } of Object.values(bodies)) {
    const load = { path: plainPath(id), connections: connectionsFor(id), seconds: effort.seconds };
    const { requestsPerSecond } = await measure(servers, servers.upstream, load);
    measures.push({ name: `upstream alone, ${title}`, fedway: "", value: requestsPerSecond, unit: "req/s" });
  }
}

const connectionsFor = (id: CannedBody["id"]): number => ({ rows10: 32, kb100: 16, mb28: 4 })[id];

/** What Fedway is measured by: the bare proxy of Fastify and undici, and nginx where bytes are many. */
const targets: Readonly<
  Record<CannedBody["id"], { readonly reference: "Fastify and undici" | "nginx"; readonly least: number }>
> = {
  rows10: { reference: "Fastify and undici", least: 0.6 },
  kb100: { reference: "Fastify and undici", least: 0.8 },
  mb28: { reference: "nginx", least: 1 },
};

async function measureThroughput(bench: Bench): Promise<void> {
  for (const { id, title } of Object.values(bench.bodies)) {
    const url = bench.servers.endpointUrl(id);
    await compareThroughput(bench, { id, name: `${title}, SERVICE`, fedwayPath: servicePath(url) });
    await compareThroughput(bench, { id, name: `${title}, /endpoints/{id}/sparql`, fedwayPath: endpointPath(id) });
  }
  const { id, title } = bench.bodies.rows10;
  const fedwayPath = servicePath(bench.servers.endpointUrl(id), true);
  await compareThroughput(bench, { id, name: `${title}, SERVICE, each text new`, fedwayPath, least: 0.3 });
}

interface Throughput {
  readonly id: CannedBody["id"];
  readonly name: string;
  readonly fedwayPath: string;
  /** Wanted share of the reference, where it is another than of the same answers to a text that was seen before. */
  readonly least?: number;
}

async function compareThroughput(bench: Bench, { id, name, fedwayPath, ...wanted }: Throughput): Promise<void> {
  step(`throughput: ${name}`);
  const { servers, effort, measures } = bench;
  const { rounds: count, seconds } = effort;
  const rounds = await alternate(servers, {
    nginxPath: plainPath(id, hasNew(fedwayPath)),
    fedwayPath,
    withBare: id !== "mb28",
    connections: connectionsFor(id),
    rounds: count,
    seconds,
  });
  bench.rounds[`throughput ${name}`] = rounds;
  const speed = (server: "nginx" | "fedway"): string => {
    const perSecond = medianOf(rounds, (round) => round[server].requestsPerSecond);
    return id === "mb28"
      ? `${rounded(medianOf(rounds, (round) => round[server].bytesPerSecond) / 1e6)} MB/s`
      : `${rounded(perSecond)} req/s`;
  };
  const { reference, least } = { ...targets[id], ...wanted };
  const ratio = medianOf(
    rounds,
    ({ nginx, fedway, bare }) =>
      fedway.bytesPerSecond / (reference === "nginx" ? nginx.bytesPerSecond : (bare?.bytesPerSecond ?? NaN)),
  );
  measures.push({
    name: `throughput, ${name}`,
    nginx: speed("nginx"),
    fedway: speed("fedway"),
    value: ratio,
    unit: `of ${reference}`,
    target: `>= ${least}`,
    met: ratio >= least,
  });
  const large = id === "mb28";
  const cpu = (server: "nginx" | "fedway"): number =>
    medianOf(rounds, (round) => (large ? round[server].cpuUsPerKilobyte : round[server].cpuUsPerRequest));
  measures.push({
    name: large ? "  processor time a kilobyte" : "  processor time a request",
    nginx: `${rounded(cpu("nginx"))} us`,
    fedway: `${rounded(cpu("fedway"))} us`,
    value: cpu("fedway") / cpu("nginx"),
    unit: "times nginx",
  });
}

async function measureLatency(bench: Bench): Promise<void> {
  const { servers, effort, measures } = bench;
  const url = servers.endpointUrl("rows10");
  const cases = [
    { name: "seen before", isNew: false, limitMs: 1 },
    { name: "new", isNew: true, limitMs: 6 },
  ] as const;
  for (const { name, isNew, limitMs } of cases) {
    step(`latency: query ${name}`);
    const rounds = await alternate(servers, {
      nginxPath: plainPath("rows10", isNew),
      fedwayPath: servicePath(url, isNew),
      connections: 1,
      rounds: effort.rounds,
      seconds: effort.seconds,
    });
    bench.rounds[`latency, query ${name}`] = rounds;
    const added = medianOf(rounds, ({ nginx, fedway }) => fedway.p50Ms - nginx.p50Ms);
    measures.push({
      name: `p50, 10 rows, query ${name}`,
      nginx: `${rounded(medianOf(rounds, ({ nginx }) => nginx.p50Ms))} ms`,
      fedway: `${rounded(medianOf(rounds, ({ fedway }) => fedway.p50Ms))} ms`,
      value: added,
      unit: "ms added",
      target: `< ${limitMs} ms`,
      met: added < limitMs,
    });
  }
}
