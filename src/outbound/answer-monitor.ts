import { FedwayError } from "../errors/fedway-error.ts";
import type { AnswerScanner } from "../results/scanner.ts";
import { brokeOff } from "./refusals.ts";
import type { AnswerEnd, SparqlRequest, PartialReason } from "./sparql-client.ts";
import { headerOf, type ResponseHeaders } from "./media-types.ts";

/** What is known of an answer before its first byte. */
interface MonitorOptions {
  readonly scanner: AnswerScanner;
  /** What was asked, and whether a partial answer ends well and says so or ends in `ENDPOINT_PARTIAL`. */
  readonly request: Pick<SparqlRequest, "kind" | "limit" | "acceptPartial">;
  readonly signs: PartialSigns;
  /** HTTP status of the answer. */
  readonly status: number;
  /** Decoded bytes allowed. */
  readonly maxBytes: number;
}

/** The error of an answer beyond its byte cap. */
export function answerTooLarge(maxBytes: number): FedwayError {
  return new FedwayError("ANSWER_TOO_LARGE", `The endpoint's answer is larger than the ${maxBytes} bytes allowed.`, {
    fault: "too-large",
    next: "Ask for less with LIMIT or fewer variables.",
  });
}

/** Looks at the decoded bytes of one answer beside their way to the reader: counts, caps and checks them. */
export class AnswerMonitor {
  readonly #options: MonitorOptions;
  #bytes = 0;

  constructor(options: MonitorOptions) {
    this.#options = options;
  }

  /** The next decoded bytes; an error when they exceed the cap. */
  see(chunk: Buffer): FedwayError | undefined {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.maxBytes) return answerTooLarge(this.#options.maxBytes);
    this.#options.scanner.push(chunk);
    return undefined;
  }

  /** The same for several pieces in a row. */
  seeAll(chunks: readonly Buffer[]): FedwayError | undefined {
    for (const chunk of chunks) {
      const error = this.see(chunk);
      if (error !== undefined) return error;
    }
    return undefined;
  }

  /** The verdict after the last byte; call once. */
  conclude(wireBytes: number): AnswerEnd | FedwayError {
    const { scanner, signs, request, status } = this.#options;
    const { complete, rows, detail } = scanner.end();
    if (!complete) {
      const why = detail === undefined ? "" : ` ${detail}`;
      return brokeOff(`The endpoint's answer is cut off or followed by foreign text.${why}`, { fault: "malformed" });
    }
    const partial = signs.partial ?? cappedBy(signs, rows, request);
    if (partial !== undefined && request.acceptPartial !== true) return partialRefused(partial, status);
    return {
      decodedBytes: this.#bytes,
      wireBytes,
      rows,
      partial,
    };
  }
}

/** What the response headers say about missing rows. */
export interface PartialSigns {
  /** The headers alone prove that rows are missing. */
  readonly partial?: PartialReason;
  /** Virtuoso's row cap, sent with a plain 200; only the number of rows tells whether it was hit. */
  readonly rowCap?: number;
  /** A cap that is known of the endpoint while this answer names none: cut answers look like whole ones. */
  readonly silentCap?: number;
}

const none: PartialSigns = {};

const anytime: PartialSigns = {
  partial: {
    how: "virtuoso-anytime",
    detail: "The endpoint ran out of time and sent the rows it had so far (Virtuoso anytime query, S1TAT).",
  },
};
const status206: PartialSigns = {
  partial: { how: "status-206", detail: "The endpoint marked its answer as partial (HTTP status 206)." },
};

/** Reads the signs of a partial answer (HTTP 206, Virtuoso's S1TAT and X-SPARQL-MaxRows) from a response head. */
export function partialSigns(status: number, headers: ResponseHeaders): PartialSigns {
  if (headerOf(headers, "x-sql-state")?.trim().toUpperCase() === "S1TAT") return anytime;
  if (status === 206) return status206;
  const cap = headerOf(headers, "x-sparql-maxrows");
  if (cap === undefined || !/^\s*\d{1,12}\s*$/.test(cap)) return none;
  return { rowCap: Number(cap) };
}

const capped = (detail: string): PartialReason => ({ how: "virtuoso-maxrows", detail });

/**
 * The verdict on a row cap once all rows were seen. Rows that cannot be counted are not taken for complete unless the
 * query's own LIMIT keeps them below the cap; exactly as many as that LIMIT allows are. It says nothing of triples.
 */
export function cappedBy(
  { rowCap, silentCap }: PartialSigns,
  rows: number | undefined,
  { kind, limit }: Pick<SparqlRequest, "kind" | "limit">,
): PartialReason | undefined {
  const cap = rowCap ?? silentCap;
  if (cap === undefined || kind === "boolean") return undefined;
  const asked = kind === "bindings" ? limit : undefined;
  if (rows === undefined) {
    if (asked !== undefined && asked <= cap) return undefined;
    return capped(`The endpoint cuts answers at ${cap} rows (MaxRows) and the rows of this one could not be counted.`);
  }
  if (rows < cap || rows === asked) return undefined;
  if (rowCap !== undefined) return capped(`The endpoint cut the answer at its limit of ${cap} rows (MaxRows).`);
  return capped(
    `The endpoint is known to cut answers at ${cap} rows without a sign: this one of ${rows} rows or triples may lack some.`,
  );
}

/** The error of a partial answer that the caller does not accept. @param status HTTP status of the answer */
export function partialRefused({ detail }: PartialReason, status: number): FedwayError {
  return new FedwayError("ENDPOINT_PARTIAL", detail, {
    fault: "partial",
    upstreamStatus: status,
    next: "Ask again with partial=true to take what there is, or narrow the query: add LIMIT or name more terms.",
  });
}
