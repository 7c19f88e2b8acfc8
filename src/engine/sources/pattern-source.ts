import type * as RDF from "@rdfjs/types";
import type { PlannedEndpoint } from "../../plan/query-plan.ts";
import { longestTimerMs } from "../../clock.ts";
import { type Triple, createTripleIndex, type TripleIndex } from "../../rdf/triple-index.ts";
import type { DocumentRequest } from "../../outbound/documents.ts";
import { type BadTerms, noteBadTerms } from "../executor.ts";
import type { SourceReport } from "../reports.ts";
import { type TriplePattern, constantParts } from "./triple-pattern.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import { createTpfSources, type TpfSourcesOptions } from "./tpf-source.ts";
import { LRUCache } from "lru-cache";

/** Bounds of reading a source of triples in one execution. */
export interface MatchBounds {
  readonly signal: AbortSignal;
  /** Moment on the clock (milliseconds) until which the source is waited for. */
  readonly deadlineMs: number;
  /** The source's contribution; requests and bytes are added to it. */
  readonly report: SourceReport;
  /** A source may lack triples that cannot be read; its report says so then. */
  readonly inPart?: boolean;
  /** Owner of these requests. */
  readonly owner?: { readonly endpoint: string | undefined; readonly trace?: unknown };
}

/** How many triples match a pattern, and how many requests it takes to read them. */
export interface MatchEstimate {
  readonly triples: number;
  readonly requests: number;
}

/** A source of triples that does not speak SPARQL, within one execution. */
export interface PatternSource {
  /**
   * Triples of the source, all that match the pattern among them; blank nodes carry the source's own labels, the same
   * for one node in every answer. Nothing is fetched before the first is read; leaving early stops.
   * @throws FedwayError as `SparqlClient.query`
   */
  match(pattern: TriplePattern): AsyncIterable<Triple>;
  /** @throws FedwayError as `match`; undefined when the source does not tell */
  estimate(pattern: TriplePattern): Promise<MatchEstimate | undefined>;
}

/** Opens the source behind an endpoint whose interface is "tpf" or "file" for one execution. */
export type OpenPatternSource = (endpoint: PlannedEndpoint, bounds: MatchBounds) => PatternSource;

/** A fetched and parsed document, as far as sources look at it. */
export interface SourceDocument {
  /** After redirects. */
  readonly url: string;
  readonly mediaType: string;
  readonly quads: readonly RDF.Quad[];
  /** Decoded. */
  readonly bytes: number;
  readonly badTerms?: BadTerms | undefined;
}

/** The part of the document client that pattern sources need: address guard, host rates and byte counting. */
export interface SourceDocuments {
  /** @throws FedwayError as `SparqlClient.query`; `ENDPOINT_NOT_SPARQL` for anything but RDF, `ENDPOINT_MALFORMED` */
  fetch(request: DocumentRequest): Promise<SourceDocument>;
}

/** Both kinds of source that do not speak SPARQL; files and search forms are remembered from execution to execution. */
export function createPatternSources(options: FileSourcesOptions & TpfSourcesOptions): OpenPatternSource {
  const files = createFileSources(options);
  const fragments = createTpfSources(options);
  return ({ interface: kind, url }, bounds) => (kind === "tpf" ? fragments(url, bounds) : files(url, bounds));
}

/** For engines without a document client: such endpoints cannot be read. */
export const noPatternSources: OpenPatternSource = ({ url }): PatternSource => {
  const refuse = (): never => {
    throw new FedwayError("ENDPOINT_REFUSED", "This service does not read endpoints that do not speak SPARQL.", {
      where: { endpoint: url },
    });
  };
  return { match: refuse, estimate: async () => refuse() };
};

/** Options of reading files. */
interface FileSourcesOptions {
  readonly documents: SourceDocuments;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** RDF documents by URL, each fetched once and kept for five minutes while there is room. */
type FileSources = (url: string, bounds: MatchBounds) => PatternSource;

const FRESH_MS = 300_000;
const FETCH_MS = 60_000;
// Of one file: decoded bytes and triples; and the memory of all that are kept, estimated.
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_TRIPLES = 500_000;
const MOST_KEPT_BYTES = 256 * 1024 * 1024;

/** Creates the cache of files. */
export function createFileSources(options: FileSourcesOptions): FileSources {
  const kept = new LRUCache<string, ReadFile>({
    maxSize: MOST_KEPT_BYTES,
    sizeCalculation: ({ index }, url) => index.bytes + 2 * url.length + 500,
    ttl: FRESH_MS,
    ttlResolution: 0,
    perf: options,
  });
  const underWay = new Map<string, Download>();

  async function read(url: string, bounds: MatchBounds): Promise<ReadFile> {
    const known = kept.get(url);
    if (known) return known;
    const running = underWay.get(url);
    const download = running?.isGivenUp === false ? running : start(url, bounds);
    return download.file(url, bounds, bounds.deadlineMs - options.now());
  }

  function start(url: string, { report, owner }: MatchBounds): Download {
    const download = new Download(async (signal) => {
      report.requests++;
      const limits = { signal, timeoutMs: FETCH_MS, maxBytes: MOST_BYTES, maxQuads: MOST_TRIPLES };
      const { bytes, quads, badTerms } = await options.documents.fetch({ url, ...limits, ...owner });
      report.bytes += bytes;
      return { index: createTripleIndex(quads), badTerms };
    });
    underWay.set(url, download);
    const end = () => {
      if (underWay.get(url) === download) underWay.delete(url);
    };
    download.done.then((file) => kept.set(url, file)).then(end, end);
    return download;
  }

  return (url, bounds) => {
    let own: Promise<ReadFile> | undefined;
    // One execution sees one state of the file.
    const file = () => (own ??= read(url, bounds));
    return {
      async *match(pattern) {
        const { index, badTerms } = await file();
        if (badTerms !== undefined) noteBadTerms(bounds, badTerms);
        yield* index.match(constantParts(pattern));
      },
      estimate: async (pattern) => ({ triples: (await file()).index.count(constantParts(pattern)), requests: 0 }),
    };
  };
}

interface ReadFile {
  readonly index: TripleIndex;
  readonly badTerms: BadTerms | undefined;
}

/** A download that several executions wait for, each in its own time; it ends when the last of them has gone. */
class Download {
  readonly done: Promise<ReadFile>;
  readonly #controller = new AbortController();
  #waiting = 0;

  constructor(fetch: (signal: AbortSignal) => Promise<ReadFile>) {
    this.done = fetch(this.#controller.signal);
  }

  get isGivenUp(): boolean {
    return this.#controller.signal.aborted;
  }

  /**
   * Waits for it, but not beyond the end of the execution that waits.
   * @throws FedwayError `ENDPOINT_TIMEOUT` when this number of milliseconds has passed
   */
  async file(url: string, { signal, owner }: MatchBounds, leftMs: number): Promise<ReadFile> {
    this.#waiting++;
    const left = Promise.withResolvers<never>();
    const leave = () => left.reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    const expire = () => left.reject(tooLate(owner?.endpoint ?? url));
    const timer = setTimeout(expire, Math.min(longestTimerMs, Math.max(0, leftMs)));
    try {
      return await Promise.race([this.done, left.promise]);
    } catch (error) {
      if (this.#waiting === 1) this.#controller.abort(error);
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
      this.#waiting--;
    }
  }
}

const tooLate = (endpoint: string): FedwayError =>
  new FedwayError("ENDPOINT_TIMEOUT", "The file did not arrive within its share of the query's time.", {
    fault: "timeout",
    where: { endpoint },
    next: "Allow more time.",
  });
