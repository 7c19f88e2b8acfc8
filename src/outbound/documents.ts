import type * as RDF from "@rdfjs/types";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { parseAnswer } from "../results/parse.ts";
import { vettedUrl } from "./address-guard.ts";
import { answerTooLarge } from "./answer.ts";
import {
  codingOf,
  decodedPieces,
  errorText,
  maxErrorBytes,
  maxErrorDecodedBytes,
  unknownCoding,
} from "./content-coding.ts";
import type { Credentials, Signer } from "./credentials.ts";
import { CollectedBody, Exchange } from "./exchange.ts";
import type { LocalDispatch } from "./local-answer.ts";
import { documentMediaType, headerOf, rdfAccept } from "./media-types.ts";
import { type Network, networkClosed, type NetworkOptions, openNetwork, type OperatorUrl } from "./network.ts";
import type { OutboundObserver } from "./observer.ts";
import { isRedirect, maxRedirects, redirectRefused, redirectStep } from "./redirects.ts";
import { parseRetryAfter, type Refusal, refusalError } from "./refusals.ts";
import { Scheduler } from "./scheduler.ts";
import { hostTurn, outcomeName, refusalOutcome, takeSlot, Task } from "./task.ts";

/** One document to fetch. */
interface ReadRequest {
  readonly url: string;
  /** Author of the URL; see `JsonRequest`. Redirects are anybody's. */
  readonly urlBy?: "operator" | undefined;
  /** The document need not be RDF. */
  readonly anyType?: boolean | undefined;
  readonly signal: AbortSignal;
  /** Milliseconds from now, parsing included. */
  readonly timeoutMs: number;
  /** Decoded bytes. */
  readonly maxBytes: number;
  /** The document may have named graphs, and be TriG; else one with a named graph is an error. */
  readonly namedGraphs?: boolean | undefined;
  /** Catalogue id of the endpoint that it is fetched for. */
  readonly endpoint?: string | undefined;
  /** Trace context of the request, passed to the observer unchanged. */
  readonly trace?: unknown;
}

/** One RDF document to fetch. */
export interface DocumentRequest extends ReadRequest {
  readonly maxQuads: number;
}

/** Where a document came from, and its format. */
interface Origin {
  /** After redirects; the base of relative IRIs. */
  readonly url: string;
  readonly httpStatus: number;
  readonly mediaType: string;
  /** Decoded bytes so far. */
  readonly bytes: number;
}

/** A document that is arriving. */
interface ArrivingDocument extends Origin {
  /** Decoded; fails when the request does. */
  readonly pieces: AsyncIterable<Uint8Array>;
  readonly elapsedMs: number;
  /** To be called while it is parsed. @throws FedwayError when its time is over or it is not needed any more */
  check(): void;
}

/** A document, parsed to triples. */
export interface RdfDocument extends Origin {
  readonly quads: readonly RDF.Quad[];
  readonly durationMs: number;
}

/** Fetches RDF documents: with the same guard, redirects, caps and manners as queries. */
export interface DocumentClient {
  /**
   * @throws FedwayError `ADDRESS_REFUSED`, `ENDPOINT_*` (`ENDPOINT_NOT_SPARQL` when it is no RDF), `ANSWER_TOO_LARGE`,
   *   `DEADLINE_EXCEEDED`, `CANCELLED`
   */
  fetch(request: DocumentRequest): Promise<RdfDocument>;
  /** The same for who reads the bytes; the request is over when `read` is. @throws FedwayError as above, and what `read` throws */
  read<T>(request: ReadRequest, read: (document: ArrivingDocument) => Promise<T>): Promise<T>;
  /** Closes its network. */
  close(): Promise<void>;
}

/** Options of a document client; the values the SPARQL client gets. */
interface DocumentClientOptions extends NetworkOptions {
  readonly local?: LocalDispatch | undefined;
  readonly credentials?: Credentials | undefined;
  /** See `SparqlClientOptions`. */
  readonly operatorUrl?: OperatorUrl | undefined;
  /** Notified of every HTTP request; must not throw. */
  readonly observer?: OutboundObserver | undefined;
}

/**
 * A client for RDF documents.
 * @throws FedwayError `CONFIG_INVALID` when an address exception is not a CIDR range
 */
export function createDocumentClient(
  options: DocumentClientOptions,
  network: Network = openNetwork(options),
): DocumentClient {
  const { observer, local, credentials, operatorUrl } = options;
  const slots = new Map<string, Scheduler>();

  async function read<T>(request: ReadRequest, reader: (document: ArrivingDocument) => Promise<T>): Promise<T> {
    if (network.closed) throw networkClosed();
    const { signal, timeoutMs, endpoint, trace } = request;
    const deadlineMs = network.clock.now() + timeoutMs;
    const task = new Task({ signal, deadlineMs, endpoint, trace, observer }, network);
    const signer = credentials?.signer(endpoint, URL.parse(request.url));
    const named = endpoint === undefined ? undefined : operatorUrl?.(endpoint);
    const isOperators = request.urlBy === "operator" || (named !== undefined && isOf(request.url, named));
    if (isOperators) task.route = network.operators;
    try {
      const result = await reader(await arriving({ request, task, network, local, slots, signer }));
      task.over("ok");
      return result;
    } catch (thrown) {
      const error = toFedwayError(thrown);
      task.over(outcomeName(error, false));
      throw thrown === error && signer ? signer.errorWithoutSecrets(error) : thrown;
    } finally {
      task.end();
    }
  }

  return {
    read,
    fetch: (request) => read(request, (document) => toRdfDocument(document, request)),
    close: () => network.close(),
  };
}

/** One document under way. */
interface Fetching {
  readonly request: ReadRequest;
  readonly task: Task;
  readonly network: Network;
  readonly local: LocalDispatch | undefined;
  /** Places for requests, by origin. */
  readonly slots: Map<string, Scheduler>;
  /** Signs requests to the endpoint's own origin. */
  readonly signer: Signer | undefined;
}

/** A response with its body as it came. */
interface Download extends Refusal {
  readonly url: URL;
  /** Content-encoded. */
  readonly body: Buffer;
}

async function arriving(fetching: Fetching): Promise<ArrivingDocument> {
  const { request, task } = fetching;
  const { url, status, headers, body } = await followed(fetching);
  const mediaType = request.anyType
    ? "application/octet-stream"
    : documentMediaType(headerOf(headers, "content-type"), url);
  if (mediaType === undefined)
    throw noRdf({ url, status, headers, text: errorText(body, headers, maxErrorDecodedBytes) });
  const coding = codingOf(headers);
  if (coding === undefined) throw unknownCoding(headers);
  let bytes = 0;
  async function* pieces(): AsyncIterable<Uint8Array> {
    for await (const piece of decodedPieces(body, coding ?? "identity")) {
      bytes += piece.length;
      if (bytes > request.maxBytes) throw answerTooLarge(request.maxBytes);
      task.check();
      yield piece;
    }
  }
  return {
    url: url.href,
    httpStatus: status,
    mediaType,
    pieces: pieces(),
    get bytes() {
      return bytes;
    },
    get elapsedMs() {
      return task.clock.now() - task.startedMs;
    },
    check: () => task.check(),
  };
}

/** The response at the end of the redirects. */
async function followed(fetching: Fetching): Promise<Download> {
  const { request, task, network, local, signer } = fetching;
  const rules = { guard: network.guard, local };
  let url = vetted(request.url, fetching);
  for (let redirects = 0; ; ) {
    const signature = (await signer?.headers(task, signedParts(url))) ?? [];
    task.host = network.rateHost(url);
    await hostTurn(task);
    const got = await inSlot(url.origin, fetching, () => download(url, fetching, signature));
    if (got.status === 200) return got;
    task.over(refusalOutcome(got.status));
    if (signer?.renews(got)) continue;
    if (!isRedirect(got)) {
      const retryAfterMs = parseRetryAfter(headerOf(got.headers, "retry-after"), network.clock.now());
      const text = errorText(got.body, got.headers);
      throw refusalError(
        { ...got, ...(signer?.noted(text) ?? { text }) },
        "quads",
        retryAfterMs === undefined ? {} : { retryAfterMs },
      );
    }
    if (redirects === maxRedirects) throw redirectRefused("The endpoint redirects too often.", got.status);
    url = redirectStep({ url, method: "get" }, got, rules).url;
    task.route = network;
    redirects += 1;
  }
}

const signedParts = ({ origin, pathname, search }: URL) => ({ method: "GET", origin, path: pathname + search });

/** Where descriptions of the endpoints of a host stand. */
export const descriptionPaths = ["/.well-known/void", "/void.ttl"] as const;

/** The document is at the endpoint's URL, whatever its query, or a description of the endpoint at its host. */
function isOf(text: string, endpointUrl: string): boolean {
  const [url, named] = [URL.parse(text), URL.parse(endpointUrl)];
  if (url === null || named === null || url.origin !== named.origin) return false;
  return url.pathname === named.pathname || descriptionPaths.some((path) => path === url.pathname);
}

function vetted(text: string, { task, local }: Fetching): URL {
  if (local?.(text) !== undefined) {
    throw new FedwayError("ENDPOINT_REFUSED", "This service's own endpoints have no document to fetch.");
  }
  const url = vettedUrl(text, task.route.guard);
  url.hash = "";
  return url;
}

/** Requests for documents of one origin under way at once. */
const concurrency = 4;

async function inSlot<T>(origin: string, { task, network, slots }: Fetching, work: () => Promise<T>): Promise<T> {
  const queueLimit = Number.POSITIVE_INFINITY;
  const scheduler = slots.get(origin) ?? new Scheduler({ concurrency, queueLimit, clock: network.clock });
  slots.set(origin, scheduler);
  await takeSlot(task, scheduler);
  try {
    return await work();
  } finally {
    scheduler.release();
    if (scheduler.idle) slots.delete(origin);
  }
}

/** Sends one GET and collects its body: at most `maxBytes` on the wire, and of what is no 200 as much as an error text. */
function download(url: URL, fetching: Fetching, signature: readonly string[]): Promise<Download> {
  const { origin, pathname, search } = url;
  const { request, task, network, signer } = fetching;
  const { maxBytes } = request;
  const rdf = request.namedGraphs ? `application/trig, ${rdfAccept}` : rdfAccept;
  const accept = request.anyType ? "*/*" : rdf;
  const manners = ["accept", accept, "accept-encoding", "gzip, br, deflate", "user-agent", network.userAgent];
  const headers = [...manners, ...signature];
  return task.wait((resolve, reject) => {
    const exchange = new Exchange(task, {
      fault: reject,
      head(status, received) {
        const responseHeaders = signer?.headersWithoutSecrets(received) ?? received;
        const bytes = status === 200 ? maxBytes : maxErrorBytes;
        return new CollectedBody({
          limit: { bytes, exchange },
          done(pieces, error) {
            const body = Buffer.concat(pieces);
            if (error !== undefined) reject(error);
            else if (status === 200 && body.length > maxBytes) reject(answerTooLarge(maxBytes));
            else resolve({ url, status, headers: responseHeaders, body, text: "" });
          },
        });
      },
    });
    exchange.send({ method: "GET", origin, path: pathname + search, headers });
    return (error) => exchange.abort(error);
  });
}

function noRdf({ url, status, headers, text }: Refusal & { readonly url: URL }): FedwayError {
  const contentType = headerOf(headers, "content-type") ?? "no media type";
  const isPage = /\bx?html\b/iu.test(contentType);
  const address = isPage ? queryFormOf(text, url) : undefined;
  const form = address === undefined ? "" : ` Its query form sends to ${address}.`;
  const what = isPage ? "a web page" : contentType.slice(0, 100);
  return new FedwayError("ENDPOINT_NOT_SPARQL", `The document is ${what}, not RDF.${form}`, {
    fault: "wrong-media-type",
    upstreamStatus: status,
    ...(address !== undefined && { next: `Try ${address} as the endpoint's URL.` }),
  });
}

/** The address that a page's form for SPARQL queries sends to. */
function queryFormOf(html: string, base: URL): string | undefined {
  for (const form of html.split(/(?=<form\b)/iu).slice(1)) {
    const [, action = ""] = /^<form\b[^>]{0,1000}?\baction\s*=\s*["']?([^"'\s>]{1,500})/iu.exec(form) ?? [];
    const address = URL.parse(action, base.href);
    const isHttp = address !== null && /^https?:$/u.test(address.protocol);
    if (isHttp && /\bname\s*=\s*["']?query\b/iu.test(form)) return address.href;
  }
  return undefined;
}

async function toRdfDocument(
  document: ArrivingDocument,
  { maxQuads, namedGraphs }: DocumentRequest,
): Promise<RdfDocument> {
  const { url, httpStatus, mediaType, pieces } = document;
  const quads: RDF.Quad[] = [];
  const result = await parseAnswer(pieces, {
    mediaType,
    kind: "quads",
    baseIri: url,
    namedGraphs,
    limits: { maxRows: maxQuads },
    check: () => document.check(),
  });
  if (result.kind === "quads") for await (const quad of result.quads) quads.push(quad);
  return { url, httpStatus, mediaType, quads, bytes: document.bytes, durationMs: document.elapsedMs };
}
