import { setTimeout as sleep } from "node:timers/promises";
import { startBuiltService } from "../support/built-program.ts";
import { openManyEndpoints } from "./ops/many-endpoints.ts";
import { soak } from "./ops/soak.ts";
import { residentBytes } from "../support/child-processes.ts";
import { cpuSeconds } from "./proxy/process-stats.ts";
import { type Measure, printTable, rounded, writeReport } from "./proxy/report.ts";

/** How many endpoints are probed, and how often. */
interface Load {
  readonly count: number;
  readonly everyMs: number;
}

const thorough: Load = { count: 2_000, everyMs: 60_000 };
const short: Load = { count: 300, everyMs: 10_000 };

/**
 * What monitoring costs, how fast its page is, and whether memory stays where it is. @throws Error when the page fails
 */
export async function runOpsBench({ quick }: { readonly quick: boolean }): Promise<void> {
  const measures: Measure[] = [];
  await measureMonitoring(quick, measures);
  await measureSoak(quick, measures);
  printTable(measures);
  process.stdout.write(`\nwritten to ${await writeReport("ops", { node: process.version, measures })}\n`);
}

async function measureMonitoring(quick: boolean, measures: Measure[]): Promise<void> {
  const load = quick ? short : thorough;
  const { count, everyMs } = load;
  const endpoints = await openManyEndpoints(count);
  const service = await startBuiltService({
    FEDWAY_CATALOG: endpoints.folder,
    FEDWAY_EXAMPLES: "off",
    FEDWAY_MONITOR: "on",
    FEDWAY_ALLOW_ADDRESSES: "127.0.0.0/8",
    FEDWAY_PROBE_EVERY_MS: String(everyMs),
    FEDWAY_LOG_LEVEL: "warn",
  });
  try {
    const pid = service.process.pid ?? 0;
    // Until each has been probed once: those that nothing is known of are probed beside their turns.
    await sleep(everyMs);
    const before = { cpu: cpuSeconds(pid), answered: await endpoints.answered(), ms: performance.now() };
    await sleep(2 * everyMs);
    const seconds = (performance.now() - before.ms) / 1_000;
    const probes = (await endpoints.answered()) - before.answered;
    const due = (seconds * 1_000 * count) / everyMs;
    const share = ((cpuSeconds(pid) - before.cpu) / seconds) * 100;
    measures.push(
      {
        name: `probing ${count} endpoints every ${everyMs / 1_000} s, share of a core`,
        fedway: `${probes} probes in ${rounded(seconds)} s, ${Math.round(due)} were due`,
        value: share,
        unit: "%",
        target: "< 25 %",
        met: share < 25,
      },
      {
        name: "memory while probing",
        fedway: "",
        value: residentBytes(pid) / 2 ** 20,
        unit: "MB",
      },
    );
    measures.push(...(await pageTimes(service.url, load, quick ? 20 : 100)));
  } finally {
    await service.stop();
    await endpoints.close();
  }
}

async function pageTimes(url: string, { count }: Load, rounds: number): Promise<readonly Measure[]> {
  const times: number[] = [];
  let bytes = 0;
  for (let round = -3; round < rounds; round++) {
    const startedMs = performance.now();
    const response = await fetch(`${url}/status`);
    const text = await response.text();
    const ms = performance.now() - startedMs;
    if (response.status !== 200 || !text.includes(`<b>${count.toLocaleString("en")}</b> endpoints`))
      throw new Error(`/status gave ${response.status}`);
    bytes = Buffer.byteLength(text);
    if (round >= 0) times.push(ms);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(rounds - 1, Math.floor(rounds * share))] ?? Number.NaN;
  return [
    {
      name: `status page of ${count} endpoints, p50`,
      fedway: `${Math.round(bytes / 1024)} KiB`,
      value: at(0.5),
      unit: "ms",
    },
    {
      name: `status page of ${count} endpoints, p95`,
      fedway: "",
      value: at(0.95),
      unit: "ms",
      target: "< 200 ms",
      met: at(0.95) < 200,
    },
  ];
}

const percent = (share: number | undefined): string =>
  share === undefined ? "unknown" : `${Math.round(share * 100)} %`;

async function measureSoak(quick: boolean, measures: Measure[]): Promise<void> {
  const service = await startBuiltService({ FEDWAY_LOG_LEVEL: "info" });
  try {
    const report = await soak({
      url: service.url,
      pid: service.process.pid ?? 0,
      seconds: quick ? 15 : 600,
      perSecond: quick ? 100 : 200,
      warmUp: quick ? 0.5 : 0.2,
    });
    process.stdout.write(`soak: resident MB ${report.residentMb.join(" ")}; heap MB ${report.heapMb.join(" ")}\n`);
    const byMinute = report.minutes.map(({ errors, stolen }) => `${errors} (${percent(stolen)})`);
    process.stdout.write(`soak: errors by minute (processor time that others had): ${byMinute.join(", ")}\n`);
    const wrong = Object.values(report.errors).reduce((sum, each) => sum + each, 0);
    measures.push(
      {
        name: "soak: requests a second",
        fedway: `${report.requests} requests`,
        value: report.perSecond,
        unit: "/s",
        target: quick ? "100 /s" : "200 /s",
        met: report.perSecond > (quick ? 97 : 195),
      },
      { name: "soak: errors", fedway: "", value: wrong, unit: "", target: "0", met: wrong === 0 },
      {
        name: "soak: growth of resident memory after warm-up",
        fedway: `${report.residentMb.at(-1)} MB at the end`,
        value: report.residentSlopeMbPerMinute,
        unit: "MB/min",
        target: "none",
      },
      {
        name: "soak: growth of the heap",
        fedway: "",
        value: report.heapSlopeMbPerMinute,
        unit: "MB/min",
        target: "none",
      },
    );
    // A machine that is too slow for the rate refuses some: that is told and is no failure of the bench.
    if (wrong > 0) process.stdout.write(`soak: errors ${JSON.stringify(report.errors)}\n`);
  } finally {
    await service.stop();
  }
}
