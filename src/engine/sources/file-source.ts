import { LRUCache } from "lru-cache";
import { createTripleIndex, type TripleIndex } from "../../rdf/triple-index.ts";
import type { SourceDocuments, MatchBounds, PatternSource } from "./pattern-source.ts";
import { constantParts } from "./triple-pattern.ts";

/** What files are read with. */
export interface FileSourcesOptions {
  readonly documents: SourceDocuments;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Decoded bytes of one file; default 64 MiB. */
  readonly maxBytes?: number;
  /** Triples of one file; default 500,000. */
  readonly maxQuads?: number;
  /** Memory of all files kept, estimated; default 256 MiB. */
  readonly cacheBytes?: number;
}

/** RDF documents by URL, each fetched once, kept while there is room, and asked for again by its validator. */
export type FileSources = (url: string, bounds: MatchBounds) => PatternSource;

interface KeptFile {
  readonly index: TripleIndex;
  readonly etag: string | undefined;
  readonly freshUntil: number;
}

const UNSAID_FRESHNESS_MS = 300_000;
const LONGEST_FRESHNESS_MS = 86_400_000;
const FETCH_MS = 60_000;

/** Creates the cache of files. */
export function createFileSources(options: FileSourcesOptions): FileSources {
  const maxSize = options.cacheBytes ?? 256 * 1024 * 1024;
  const kept = new LRUCache<string, KeptFile>({ max: 1_000, maxSize, sizeCalculation: ({ index }) => index.bytes + 1 });
  const underWay = new Map<string, Flight>();

  async function indexOf(url: string, bounds: MatchBounds): Promise<TripleIndex> {
    const known = kept.get(url);
    if (known && known.freshUntil > options.now()) return known.index;
    const joined = underWay.get(url);
    const flight = joined && !joined.controller.signal.aborted ? joined : start(url, { url, known, bounds });
    return (await board(flight, bounds)).index;
  }

  function start(url: string, departure: Departure): Flight {
    const flight = takeOff(options, departure);
    underWay.set(url, flight);
    const land = () => {
      if (underWay.get(url) === flight) underWay.delete(url);
    };
    void flight.landed
      .then((file) => kept.set(url, file))
      .catch(() => {})
      .finally(land);
    return flight;
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
interface Flight {
  readonly landed: Promise<KeptFile>;
  readonly controller: AbortController;
  passengers: number;
}

interface Departure {
  readonly url: string;
  readonly known: KeptFile | undefined;
  readonly bounds: MatchBounds;
}

function takeOff(options: FileSourcesOptions, departure: Departure): Flight {
  const controller = new AbortController();
  return { landed: download(options, departure, controller.signal), controller, passengers: 0 };
}

async function download(
  { documents, now, maxBytes = 64 * 1024 * 1024, maxQuads = 500_000 }: FileSourcesOptions,
  { url, known, bounds: { report, owner } }: Departure,
  signal: AbortSignal,
): Promise<KeptFile> {
  report.requests++;
  const { etag } = known ?? {};
  const limits = { signal, timeoutMs: FETCH_MS, maxBytes, maxQuads };
  const fetched = await documents.fetch({ url, ...limits, ...owner, ...(etag !== undefined && { etag }) });
  report.bytes += fetched.bytes;
  const freshUntil = now() + Math.min(fetched.maxAgeMs ?? UNSAID_FRESHNESS_MS, LONGEST_FRESHNESS_MS);
  if (fetched.notModified && known) return { ...known, freshUntil };
  return { index: createTripleIndex(fetched.quads), etag: fetched.etag, freshUntil };
}

/** Waits for a download, but not beyond the end of the execution that waits. */
async function board(flight: Flight, { signal }: MatchBounds): Promise<KeptFile> {
  flight.passengers++;
  const left = Promise.withResolvers<never>();
  const leave = () => left.reject(signal.reason);
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([flight.landed, left.promise]);
  } finally {
    signal.removeEventListener("abort", leave);
    flight.passengers--;
    if (flight.passengers === 0) flight.controller.abort(signal.reason);
  }
}
