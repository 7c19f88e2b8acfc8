import { type Clock, systemClock } from "../../clock.ts";
import type { ProbeClient } from "../../outbound/whole-answer.ts";
import type { AskedEndpoint } from "../catalog/asking.ts";
import type { Capabilities } from "./capabilities.ts";
import { type Findings, createProbeRun } from "./probe-run.ts";
import { createProbeSession, defaultBounds, type ProbeBounds, StopProbing } from "./session.ts";

/** How one run goes. */
export interface ProbeOptions {
  readonly signal: AbortSignal;
  /** The operator agrees that the endpoint is made to call itself by SERVICE. */
  readonly serviceToItself?: boolean;
  /** Called before each part of the run. */
  readonly onProgress?: (progress: { readonly stage: string; readonly done: number; readonly total: number }) => void;
}

/** Finds out what endpoints can do. */
export interface CapabilityProber {
  /**
   * Asks questions that touch no data and whose right answers are known, one at a time. An endpoint that does not
   * answer is a result, too.
   * @throws FedwayError `CANCELLED`
   */
  probe(endpoint: AskedEndpoint, options: ProbeOptions): Promise<Capabilities>;
}

/** What a prober is built from. */
export interface CapabilityProberOptions {
  readonly client: ProbeClient;
  readonly clock?: Clock;
  readonly bounds?: Partial<ProbeBounds>;
}

/** A prober over a probe client; `clock` is that client's own. */
export function createCapabilityProber(options: CapabilityProberOptions): CapabilityProber {
  const { client, clock = systemClock } = options;
  const bounds = { ...defaultBounds, ...options.bounds };
  return {
    async probe(endpoint, { signal, serviceToItself = false, onProgress }) {
      const probedAt = new Date(clock.now()).toISOString();
      const session = createProbeSession({ client, clock, endpoint, signal, bounds });
      const run = createProbeRun(session, endpoint);
      const unfinished = !(await whole(run.parts(serviceToItself), onProgress));
      return { endpoint: endpoint.url, probedAt, ...capabilitiesOf(run.findings), ...(unfinished && { unfinished }) };
    },
  };
}

type Parts = ReturnType<ReturnType<typeof createProbeRun>["parts"]>;

/** False when the run ended early. */
async function whole(parts: Parts, onProgress: ProbeOptions["onProgress"]): Promise<boolean> {
  try {
    for (const [done, { stage, run }] of parts.entries()) {
      onProgress?.({ stage, done, total: parts.length });
      if ((await run()) === "unreachable") return true;
    }
    return true;
  } catch (thrown) {
    if (thrown instanceof StopProbing) return false;
    throw thrown;
  }
}

function capabilitiesOf(findings: Findings): Omit<Capabilities, "endpoint" | "probedAt" | "unfinished"> {
  const { rowCap, rowCapSilent, wholeRows, maxValuesRows, maxUrlBytes, service } = findings;
  return {
    reachable: findings.reachable,
    constructs: Object.fromEntries(findings.constructs),
    methods: findings.methods,
    formats: findings.formats,
    ...(rowCap !== undefined && { rowCap }),
    ...(rowCapSilent !== undefined && { rowCapSilent }),
    ...(wholeRows !== undefined && { wholeRows }),
    ...(maxValuesRows !== undefined && { maxValuesRows }),
    ...(maxUrlBytes !== undefined && { maxUrlBytes }),
    ...(service !== undefined && { service }),
  };
}
