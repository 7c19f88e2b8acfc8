import type { Asker, WholeAnswer } from "../outbound/whole-answer.ts";
import { FedwayError, type FaultKind, toFedwayError } from "../errors/fedway-error.ts";
import { type Clock, sleep } from "../clock.ts";
import type { CatalogEntry } from "../registry/catalog.ts";
import { canaryFor, hasSearchForm } from "../registry/capabilities.ts";
import type { Observation } from "./monitor.ts";
import { transportFaults } from "./judgement.ts";
import type { ErrorCode } from "../errors/codes.ts";

/** Result of a probe; its caller knows when and why it was made. */
export type ProbeResult = Omit<Observation, "atMs" | "source" | "maintenance">;

/**
 * Asks an endpoint the question with the known answer. Undefined when that says nothing of the endpoint: the signal
 * ended it, or the question never left this process. Never rejects for what an endpoint does.
 */
export type EndpointProbe = (entry: CatalogEntry, signal: AbortSignal) => Promise<ProbeResult | undefined>;

interface EndpointProbeOptions {
  /** Past circuit breakers, which would answer in the endpoint's place. */
  readonly asker: Asker;
  readonly capabilities: {
    view(id: string): Parameters<typeof canaryFor>[1];
  };
  readonly clock: Clock;
  /** Time of one try in milliseconds; default 30,000. */
  readonly timeoutMs?: number;
  /** Milliseconds between two tries; default 2,000. */
  readonly retryMs?: number;
}

/** Caps that three rows can only hit because somebody set them to three: the answer is whole all the same. */
const harmless: ReadonlySet<string> = new Set(["virtuoso-maxrows", "row-cap"]);

const bounds = { maxRows: 100, maxBytes: 256 * 1024 };
const tpfBounds = { maxBytes: 4 * 1024 * 1024, maxQuads: 20_000, namedGraphs: true };
/** A file is not taken in whole: its beginning says that it is there. */
const fileBounds = { maxBytes: 256 * 1024, maxQuads: 5_000 };

interface Trying {
  readonly options: EndpointProbeOptions;
  readonly entry: CatalogEntry;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A probe over the outbound client. */
export function createEndpointProbe(options: EndpointProbeOptions): EndpointProbe {
  const { clock, timeoutMs = 30_000, retryMs = 2_000 } = options;
  return async (entry, signal) => {
    const trying: Trying = { options, entry, signal, timeoutMs };
    const first = await tryOnce(trying);
    // Such faults are often gone a moment later.
    if (first?.fault === undefined || !transportFaults.has(first.fault)) return first;
    await sleep(retryMs, { clock, signal });
    const second = signal.aborted ? undefined : await tryOnce(trying);
    return second && { ...second, tries: 2 };
  };
}

async function tryOnce(trying: Trying): Promise<ProbeResult | undefined> {
  const { clock } = trying.options;
  const startedMs = clock.now();
  const fault = await faultIn(trying);
  if (fault === "none of its own" || trying.signal.aborted) return undefined;
  // A clock that was set meanwhile must not make a duration of hours, or one below zero.
  const ms = Math.min(Math.max(0, Math.ceil(clock.now() - startedMs)), trying.timeoutMs);
  return { ok: fault === undefined, ms, ...fault, tries: 1 };
}

async function faultIn(trying: Trying): Promise<Fault | "none of its own" | undefined> {
  try {
    return await (trying.entry.interface === "sparql" ? askQuery(trying) : askDocument(trying));
  } catch (thrown) {
    if (trying.entry.interface === "file" && thrown instanceof FedwayError && thrown.code === "ANSWER_TOO_LARGE") {
      return undefined;
    }
    return faultOf(thrown) ?? "none of its own";
  }
}

async function askQuery({ options, entry, signal, timeoutMs }: Trying): Promise<Fault | undefined> {
  const probe = canaryFor(entry, options.capabilities.view(entry.id));
  const answer = await options.asker.ask({
    ...probe.request,
    signal,
    timeoutMs,
    ...bounds,
  });
  return judged(answer, probe);
}

function judged(answer: WholeAnswer, { judge, asked }: ReturnType<typeof canaryFor>): Fault | undefined {
  const wrong = judge(answer);
  const { partial } = answer;
  if (partial !== undefined && (wrong !== undefined || !harmless.has(partial.how))) {
    return { fault: "partial", detail: publicDetail(partial.detail) };
  }
  if (wrong === undefined) return undefined;
  return { fault: "wrong-answer", detail: publicDetail(`Asked ${asked} it answered with ${wrong}.`) };
}

async function askDocument({ options, entry, signal, timeoutMs }: Trying): Promise<Fault | undefined> {
  const { id: endpoint, url, interface: kind } = entry;
  const limits = kind === "tpf" ? tpfBounds : fileBounds;
  const { quads, httpStatus } = await options.asker.fetchDocument({ url, signal, timeoutMs, ...limits, endpoint });
  if (kind !== "tpf" || hasSearchForm(quads)) return undefined;
  return {
    fault: "wrong-answer",
    status: httpStatus,
    detail: "The document has no search form, so it is no Triple Pattern Fragment.",
  };
}

/** How a look at an endpoint failed. */
interface Fault {
  readonly fault: FaultKind;
  /** HTTP status, where one came. */
  readonly status?: number | undefined;
  /** Public text, at most 300 characters. */
  readonly detail: string;
}

/** Default fault kind of an error of the outbound client. */
const byCode: Readonly<Partial<Record<ErrorCode, FaultKind>>> = {
  ADDRESS_REFUSED: "address",
  ENDPOINT_UNREACHABLE: "connect",
  ENDPOINT_TIMEOUT: "timeout",
  DEADLINE_EXCEEDED: "timeout",
  ENDPOINT_BROKE_OFF: "reset",
  ENDPOINT_REJECTED_QUERY: "http-4xx",
  ENDPOINT_REFUSED: "http-4xx",
  ENDPOINT_RATE_LIMITED: "http-429",
  ENDPOINT_FAILED: "http-5xx",
  ENDPOINT_DATA_INVALID: "http-5xx",
  ENDPOINT_NOT_SPARQL: "wrong-media-type",
  ENDPOINT_MALFORMED: "malformed",
  ENDPOINT_PARTIAL: "partial",
  ENDPOINT_REDIRECT: "http-3xx",
  ANSWER_TOO_LARGE: "too-large",
};

const mostDetail = 300;

/** Text that may be shown, of bounded length. */
const publicDetail = (text: string): string => text.slice(0, mostDetail).toWellFormed();

/**
 * Fault that a thrown value shows of the endpoint. Undefined when it shows none: the probe was cancelled,
 * never left this process (queue full, breaker open, an earlier Retry-After still holds), or failed by a fault of our own.
 */
export function faultOf(thrown: unknown): Fault | undefined {
  const { code, details, message } = toFedwayError(thrown);
  const usual = byCode[code];
  if (usual === undefined) return undefined;
  const { fault = usual, upstreamStatus: status } = details;
  if (fault === "busy" || fault === "circuit-open") return undefined;
  // Without a status nothing was asked: the client still keeps the pause that the endpoint called for before.
  if (fault === "http-429" && status === undefined) return undefined;
  return { fault, status, detail: publicDetail(message) };
}
