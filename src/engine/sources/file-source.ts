import { LRUCache } from "lru-cache";
import { createTripleIndex, type TripleIndex } from "../../rdf/triple-index.ts";
import type { SourceDocuments, MatchBounds, PatternSource } from "./pattern-source.ts";
import { constantParts } from "./triple-pattern.ts";

/** What files are read with. */
export interface FileSourcesOptions {
  readonly documents: SourceDocuments;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** RDF documents by URL, each fetched once and kept for five minutes while there is room. */
export type FileSources = (url: string, bounds: MatchBounds) => PatternSource;

const FRESH_MS = 300_000;
const FETCH_MS = 60_000;
// Of one file: decoded bytes and triples; and the memory of all that are kept, estimated.
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_TRIPLES = 500_000;
const MOST_KEPT_BYTES = 256 * 1024 * 1024;

/** Creates the cache of files. */
export function createFileSources(options: FileSourcesOptions): FileSources {
  const kept = new LRUCache<string, TripleIndex>({
    max: 1_000,
    maxSize: MOST_KEPT_BYTES,
    sizeCalculation: ({ bytes }) => bytes + 1,
    ttl: FRESH_MS,
    ttlResolution: 0,
    perf: options,
  });
  const underWay = new Map<string, Download>();

  async function indexOf(url: string, bounds: MatchBounds): Promise<TripleIndex> {
    const known = kept.get(url);
    if (known) return known;
    const running = underWay.get(url);
    const download = running?.isGivenUp === false ? running : start(url, bounds);
    return download.file(bounds.signal);
  }

  function start(url: string, { report, owner }: MatchBounds): Download {
    const download = new Download(async (signal) => {
      report.requests++;
      const limits = { signal, timeoutMs: FETCH_MS, maxBytes: MOST_BYTES, maxQuads: MOST_TRIPLES };
      const { bytes, quads } = await options.documents.fetch({ url, ...limits, ...owner });
      report.bytes += bytes;
      return createTripleIndex(quads);
    });
    underWay.set(url, download);
    const end = () => {
      if (underWay.get(url) === download) underWay.delete(url);
    };
    download.done.then((index) => kept.set(url, index)).then(end, end);
    return download;
  }

  return (url, bounds) => {
    let own: Promise<TripleIndex> | undefined;
    // One execution sees one state of the file.
    const index = () => (own ??= indexOf(url, bounds));
    return {
      async *match(pattern) {
        yield* (await index()).match(constantParts(pattern));
      },
      estimate: async (pattern) => ({ triples: (await index()).count(constantParts(pattern)), requests: 0 }),
    };
  };
}

/** A download that several executions wait for; it ends when the last of them has gone. */
class Download {
  readonly done: Promise<TripleIndex>;
  readonly #controller = new AbortController();
  #waiting = 0;

  constructor(fetch: (signal: AbortSignal) => Promise<TripleIndex>) {
    this.done = fetch(this.#controller.signal);
  }

  get isGivenUp(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Waits for it, but not beyond the end of the execution that waits. */
  async file(signal: AbortSignal): Promise<TripleIndex> {
    this.#waiting++;
    const left = Promise.withResolvers<never>();
    const leave = () => left.reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await Promise.race([this.done, left.promise]);
    } finally {
      signal.removeEventListener("abort", leave);
      this.#waiting--;
      if (this.#waiting === 0) this.#controller.abort(signal.reason);
    }
  }
}
