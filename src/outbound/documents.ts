import type * as RDF from "@rdfjs/types";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { parseAnswer } from "../results/parse.ts";
import { type AddressGuard, addressRefused, bareHost, createAddressGuard, isOwnHost } from "./address-guard.ts";
import { decodedPieces } from "./body-pieces.ts";
import { type Clock, systemClock } from "../clock.ts";
import { type Download, download } from "./download.ts";
import { errorText } from "./excerpt.ts";
import { headerOf } from "./headers.ts";
import { createHostRates, type HostRates } from "./host-rates.ts";
import { documentMediaType, rdfAccept } from "./document-media-type.ts";
import { type DocumentWatch, watchDocument } from "./document-watch.ts";
import { defaultTimeouts, type SparqlClientOptions, type TransportObserver, userAgent } from "./options.ts";
import { isRedirect, maxRedirects, redirectRefused, redirectStep } from "./redirects.ts";
import { refusalError } from "./refusals.ts";
import { parseRetryAfter } from "./retry.ts";
import { createStopwatch, type Stopwatch } from "./stopwatch.ts";
import { createUpstream, type Upstream } from "./upstream.ts";

/** One RDF document to fetch. */
export interface DocumentRequest {
  readonly url: string;
  readonly signal: AbortSignal;
  /** Milliseconds from now, parsing included. */
  readonly timeoutMs: number;
  /** Decoded bytes. */
  readonly maxBytes: number;
  readonly maxQuads: number;
  /** Catalogue id of the endpoint that it is fetched for. */
  readonly endpoint?: string | undefined;
  /** What the request belongs to, handed on to the observer as it is. */
  readonly trace?: unknown;
}

/** A document, parsed to triples. */
export interface RdfDocument {
  /** After redirects; the base of relative IRIs. */
  readonly url: string;
  readonly httpStatus: number;
  readonly mediaType: string;
  readonly quads: readonly RDF.Quad[];
  /** Decoded. */
  readonly bytes: number;
  readonly durationMs: number;
}

/** A document that is arriving. */
export interface ArrivingDocument {
  /** After redirects; the base of relative IRIs. */
  readonly url: string;
  readonly httpStatus: number;
  readonly mediaType: string;
  /** Decoded; fails when the request does. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Decoded bytes so far. */
  readonly bytes: number;
  readonly elapsedMs: number;
  /** To be called while it is parsed. @throws FedwayError when its time is over or nobody waits for it */
  check(): void;
}

/** Fetches RDF documents: with the same guard, redirects, caps and manners as queries. */
export interface DocumentClient {
  /**
   * @throws FedwayError `ADDRESS_REFUSED`, `ENDPOINT_*` (`ENDPOINT_NOT_SPARQL` when it is no RDF), `ANSWER_TOO_LARGE`,
   *   `DEADLINE_EXCEEDED`, `CANCELLED`
   */
  fetch(request: DocumentRequest): Promise<RdfDocument>;
  /** The same for who reads the bytes; the request is over when `read` is. @throws FedwayError as above, and what `read` throws */
  read<T>(request: Omit<DocumentRequest, "maxQuads">, read: (document: ArrivingDocument) => Promise<T>): Promise<T>;
  /** Ends everything under way and all connections. */
  close(): Promise<void>;
}

/** What a document client is built from; the values the SPARQL client gets. */
export type DocumentClientOptions = Pick<
  SparqlClientOptions,
  "version" | "contact" | "allowAddresses" | "hostRate" | "timeouts" | "resolveHost" | "ca" | "local" | "clock"
> & {
  /** Hears of every HTTP request; must not throw. */
  readonly observer?: Pick<TransportObserver, "onRequest"> | undefined;
};

interface Context {
  readonly guard: AddressGuard;
  readonly upstream: Upstream;
  readonly rates: HostRates | undefined;
  readonly local: SparqlClientOptions["local"];
  readonly clock: Clock;
  readonly userAgent: string;
  readonly observer: DocumentClientOptions["observer"];
}

const connections = 4;
const waitingPerHost = 64;
const mostHosts = 1000;

function contextOf(options: DocumentClientOptions): Context {
  const { clock = systemClock, hostRate, resolveHost, ca, local } = options;
  const guard = createAddressGuard(options.allowAddresses);
  const limited = hostRate !== undefined && hostRate.perSecond > 0;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  return {
    guard,
    upstream: createUpstream({ guard, connections, ...timeouts, resolveHost, ca }),
    rates: limited
      ? createHostRates({ ...hostRate, queueLimit: waitingPerHost, maxHosts: mostHosts, clock })
      : undefined,
    local,
    clock,
    userAgent: userAgent(options.version, options.contact),
    observer: options.observer,
  };
}

/**
 * A client for RDF documents.
 * @throws FedwayError `CONFIG_INVALID` when an address exception is not a CIDR range
 */
export function createDocumentClient(options: DocumentClientOptions): DocumentClient {
  const context = contextOf(options);
  const running = new Set<Stopwatch>();
  let closed = false;
  async function read<T>(request: ReadRequest, reader: Reader<T>): Promise<T> {
    if (closed) throw shuttingDown();
    const watch = createStopwatch(request, context.clock);
    running.add(watch);
    try {
      return await readWatched({ request, watch, context, told: watchDocument(context.observer, request) }, reader);
    } finally {
      watch.end();
      running.delete(watch);
    }
  }

  return {
    read,
    fetch: (request) => read(request, (document) => toRdfDocument(document, request)),
    async close() {
      closed = true;
      for (const watch of running) watch.stop(shuttingDown());
      context.rates?.close();
      await context.upstream.close();
    },
  };
}

const shuttingDown = (): FedwayError => new FedwayError("CANCELLED", "The service is shutting down.");

type ReadRequest = Omit<DocumentRequest, "maxQuads">;
type Reader<T> = (document: ArrivingDocument) => Promise<T>;

/** One document under way. */
interface Fetching {
  readonly request: ReadRequest;
  readonly watch: Stopwatch;
  readonly context: Context;
  /** Hears of its requests. */
  readonly told: DocumentWatch;
}

async function readWatched<T>(fetching: Fetching, read: Reader<T>): Promise<T> {
  const { told } = fetching;
  try {
    const result = await read(await arriving(fetching));
    told.done();
    return result;
  } catch (error) {
    told.failed(toFedwayError(error));
    throw error;
  }
}

async function arriving(fetching: Fetching): Promise<ArrivingDocument> {
  const { request, watch } = fetching;
  const { url, got } = await followed(fetching);
  const mediaType = documentMediaType(headerOf(got.headers, "content-type"), url);
  if (mediaType === undefined) throw noRdf(got);
  const counter = { bytes: 0 };
  const pieces = watched(decodedPieces(got, { maxBytes: request.maxBytes, counter }), watch);
  return {
    url: url.href,
    httpStatus: got.status,
    mediaType,
    pieces,
    get bytes() {
      return counter.bytes;
    },
    get elapsedMs() {
      return watch.elapsedMs();
    },
    check: () => watch.check(),
  };
}

async function toRdfDocument(document: ArrivingDocument, { maxQuads }: DocumentRequest): Promise<RdfDocument> {
  const { url, httpStatus, mediaType, pieces } = document;
  const check = (): void => document.check();
  const quads = await readQuads(pieces, { mediaType, baseIri: url, maxQuads, check });
  return { url, httpStatus, mediaType, quads, bytes: document.bytes, durationMs: document.elapsedMs };
}

/** The same pieces, until the stopwatch stops them. */
async function* watched(pieces: AsyncIterable<Uint8Array>, watch: Stopwatch): AsyncIterable<Uint8Array> {
  for await (const piece of pieces) {
    watch.check();
    yield piece;
  }
}

/** The response at the end of the redirects. */
async function followed(fetching: Fetching): Promise<{ readonly url: URL; readonly got: Download }> {
  const { request, watch, context, told } = fetching;
  let url = vetted(request.url, context);
  for (let redirects = 0; ; redirects += 1) {
    await hostTurn(url, watch, context.rates);
    const got = await sent(url, fetching);
    if (got.status === 200) return { url, got };
    told.answered(got.status);
    const refusal = { status: got.status, headers: got.headers, text: "" };
    if (!isRedirect(refusal)) throw refused(got, context);
    if (redirects === maxRedirects) throw redirectRefused("The endpoint redirects too often.", got.status);
    url = redirectStep({ url, method: "get" }, refusal, context).url;
  }
}

function sent(url: URL, { request: { maxBytes }, watch, context, told }: Fetching): Promise<Download> {
  watch.check();
  const { upstream, userAgent: agent } = context;
  const headers = ["accept", rdfAccept, "accept-encoding", "gzip, br, deflate", "user-agent", agent];
  return download({ upstream, url, headers, maxBytes, watch, account: told.sent() });
}

function vetted(text: string, { guard, local }: Context): URL {
  const url = URL.parse(text);
  if (url === null) throw addressRefused("not an absolute URL");
  if (local?.(text) !== undefined) {
    throw new FedwayError("ENDPOINT_REFUSED", "This service's own endpoints have no document to fetch.");
  }
  const error = guard.refuseUrl(url);
  if (error !== undefined) throw error;
  url.hash = "";
  return url;
}

/** Waits for the host's turn; the operator's own hosts have no rate. */
async function hostTurn({ hostname }: URL, watch: Stopwatch, rates: HostRates | undefined): Promise<void> {
  watch.check();
  if (rates === undefined || isOwnHost(hostname)) return;
  const host = bareHost(hostname);
  await watch.wait<undefined>((resolve, reject) => {
    const waiter = { deadlineMs: watch.deadlineMs, granted: () => resolve(undefined) };
    const taken = rates.take(host, waiter);
    if (taken === "now") resolve(undefined);
    if (taken === "refused") reject(hostBusy(rates.waitMs(host, 0)));
    return () => rates.drop(host, waiter);
  });
}

function hostBusy(retryAfterMs: number): FedwayError {
  const message = "Too many requests are waiting for the document's host.";
  return new FedwayError("ENDPOINT_BUSY", message, { fault: "busy", retryAfterMs });
}

function refused(got: Download, { clock }: Context): FedwayError {
  const retryAfterMs = parseRetryAfter(headerOf(got.headers, "retry-after"), clock.now());
  const refusal = { status: got.status, headers: got.headers, text: errorText(got.body, got.headers) };
  return refusalError(refusal, "quads", retryAfterMs === undefined ? {} : { retryAfterMs });
}

function noRdf({ headers, status }: Download): FedwayError {
  const type = (headerOf(headers, "content-type") ?? "no media type").slice(0, 100);
  return new FedwayError("ENDPOINT_NOT_SPARQL", `The document is ${type}, not RDF.`, {
    fault: "wrong-media-type",
    upstreamStatus: status,
  });
}

interface Reading {
  readonly mediaType: string;
  readonly baseIri: string;
  readonly maxQuads: number;
  /** The stopwatch's. */
  readonly check: () => void;
}

async function readQuads(pieces: AsyncIterable<Uint8Array>, reading: Reading): Promise<readonly RDF.Quad[]> {
  const { maxQuads, ...rest } = reading;
  const result = await parseAnswer(pieces, { ...rest, kind: "quads", limits: { maxRows: maxQuads } });
  const quads: RDF.Quad[] = [];
  if (result.kind === "quads") for await (const quad of result.quads) quads.push(quad);
  return quads;
}
