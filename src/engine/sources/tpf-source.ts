import { LRUCache } from "lru-cache";
import type { Triple } from "../../rdf/triple-index.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { SourceDocuments, MatchBounds, PatternSource } from "./pattern-source.ts";
import { noteBadTerms } from "../executor.ts";
import { fragmentUrl, type SearchForm, readTpfPage, type TpfPage } from "./tpf-page.ts";
import type { TriplePattern } from "./triple-pattern.ts";

/** Options of reading fragments. */
export interface TpfSourcesOptions {
  readonly documents: SourceDocuments;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Pages of one fragment; default 10,000. */
  readonly maxPages?: number;
}

/** Triple Pattern Fragments servers by the URL of any of their fragments. */
type TpfSources = (url: string, bounds: MatchBounds) => PatternSource;

const FORM_FRESH_MS = 600_000;
// Pages that one execution keeps: joins and paths come back to the same patterns.
const PAGE_BYTES_KEPT = 16 * 1024 * 1024;
const FORM_CHARACTERS_KEPT = 4 * 1024 * 1024;
const LONGEST_PAGE_MS = 600_000;
// Of one page: decoded bytes, and triples with its metadata.
const MOST_PAGE_BYTES = 4 * 1024 * 1024;
const MOST_PAGE_TRIPLES = 20_000;

/** Creates the reader of fragments; search forms are remembered for ten minutes. */
export function createTpfSources(options: TpfSourcesOptions): TpfSources {
  const forms = new LRUCache<string, SearchForm>({
    maxSize: FORM_CHARACTERS_KEPT,
    sizeCalculation: (form, url) => url.length + JSON.stringify(form).length,
    ttl: FORM_FRESH_MS,
    perf: options,
  });
  return (url, bounds) => {
    const reader = createReader(options, url, bounds);
    async function formOf(): Promise<SearchForm> {
      const known = forms.get(url);
      if (known) return known;
      const { form } = await reader.page(url);
      if (!form) throw noForm(url);
      forms.set(url, form);
      return form;
    }
    const firstPage = async (pattern: TriplePattern) => reader.page(fragmentUrl(await formOf(), pattern));
    return {
      match: (pattern) => reader.pages(() => firstPage(pattern)),
      async estimate(pattern) {
        const { total, triples } = await firstPage(pattern);
        if (total === undefined) return undefined;
        // That nothing matches is known from a page, too.
        return { triples: total, requests: Math.max(1, Math.ceil(total / Math.max(1, triples.length))) };
      },
    };
  };
}

function createReader(options: TpfSourcesOptions, endpoint: string, bounds: MatchBounds) {
  const { documents, maxPages = 10_000 } = options;
  const origin = new URL(endpoint);
  const kept = new LRUCache<string, Promise<TpfPage>>({
    maxSize: PAGE_BYTES_KEPT,
    sizeCalculation: () => 1,
  });

  async function sized(url: string): Promise<TpfPage & { readonly bytes: number }> {
    const { signal, deadlineMs, report, owner } = bounds;
    report.requests++;
    const timeoutMs = Math.max(1, Math.min(deadlineMs - options.now(), LONGEST_PAGE_MS));
    const limits = { signal, timeoutMs, maxBytes: MOST_PAGE_BYTES, maxQuads: MOST_PAGE_TRIPLES };
    const fetched = await documents.fetch({ url, namedGraphs: true, ...limits, ...owner });
    report.bytes += fetched.bytes;
    if (fetched.badTerms !== undefined) noteBadTerms(bounds, fetched.badTerms);
    return { ...readTpfPage(fetched, origin), bytes: fetched.bytes };
  }

  /** A page is known by its size only when it is there: kept from the start, it is let go when it is too large. */
  function keep(url: string): Promise<TpfPage> {
    const fetching = sized(url);
    kept.set(url, fetching);
    fetching.then(
      ({ bytes }) => kept.peek(url) === fetching && kept.set(url, fetching, { size: 1 + url.length + bytes }),
      () => {},
    );
    return fetching;
  }

  /** The page at a URL, fetched at most once while it is remembered. */
  const page = (url: string): Promise<TpfPage> => kept.get(url) ?? keep(url);

  return {
    page,
    async *pages(first: () => Promise<TpfPage>): AsyncIterable<Triple> {
      const seen = new Set<string>();
      for (let current = await first(); ; ) {
        yield* current.triples;
        const { next } = current;
        if (next === undefined) return;
        if (seen.has(next) || seen.size >= maxPages) throw endless(endpoint, seen.size);
        seen.add(next);
        current = await page(next);
      }
    },
  };
}

function noForm(url: string): FedwayError {
  return new FedwayError("ENDPOINT_MALFORMED", "The endpoint's page has no search form for triple patterns.", {
    fault: "malformed",
    where: { endpoint: url },
    next: "Check that the entry's URL is that of a Triple Pattern Fragments server.",
  });
}

function endless(url: string, pages: number): FedwayError {
  return new FedwayError("ENDPOINT_PARTIAL", `The endpoint's fragment does not end after ${pages} pages.`, {
    fault: "partial",
    where: { endpoint: url },
    next: "Narrow the pattern.",
  });
}
