import { readFileSync } from "node:fs";
import { createEndpointDescriber } from "../../support/endpoint-describer.ts";
import type { VoidDescription } from "../../../src/registry/descriptions.ts";

/** What the process that describes one endpoint says when it is done. */
export interface ProcessReport {
  readonly description: VoidDescription;
  readonly seconds: number;
  /** Resident memory before the first request, and at its peak. */
  readonly startBytes: number;
  readonly peakBytes: number;
}

/** Linux' own high-water mark (`VmHWM`) or present size (`VmRSS`) of this process, in bytes. */
function memory(field: "VmHWM" | "VmRSS"): number {
  const status = readFileSync("/proc/self/status", "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "mu").exec(status)?.[1] ?? Number.NaN) * 1024;
}

/** Describes the endpoint of the first argument, alone in this process: nothing else counts into its memory. */
const [url = ""] = process.argv.slice(2);
const describer = createEndpointDescriber();
const startBytes = memory("VmRSS");
const startedMs = performance.now();
const description = await describer.describe(url, { budget: { requests: 5_000 } });
const seconds = (performance.now() - startedMs) / 1_000;
await describer.close();
const report: ProcessReport = { description, seconds, startBytes, peakBytes: memory("VmHWM") };
process.send?.(report, () => process.disconnect());
