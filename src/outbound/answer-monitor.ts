import { FedwayError } from "../errors/fedway-error.ts";
import { createAnswerScanner } from "../results/scanner.ts";
import { cappedBy, partialRefused, type PartialSigns } from "./partial-answers.ts";
import { brokeOff } from "./refusals.ts";
import type { AnswerEnd, SparqlRequest } from "./sparql-client.ts";

/** What is known of an answer before its first byte. */
interface MonitorOptions {
  readonly mediaType: string;
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
  readonly #scanner;
  #bytes = 0;

  constructor(options: MonitorOptions) {
    this.#options = options;
    this.#scanner = createAnswerScanner(options.mediaType);
  }

  /** The next decoded bytes; an error when they exceed the cap. */
  see(chunk: Buffer): FedwayError | undefined {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.maxBytes) return answerTooLarge(this.#options.maxBytes);
    this.#scanner.push(chunk);
    return undefined;
  }

  /** The verdict on an answer that is there as a whole. */
  judge(pieces: readonly Buffer[], wireBytes: number): AnswerEnd | FedwayError {
    for (const piece of pieces) {
      const error = this.see(piece);
      if (error !== undefined) return error;
    }
    return this.conclude(wireBytes);
  }

  /** The verdict after the last byte; call once. */
  conclude(wireBytes: number): AnswerEnd | FedwayError {
    const { signs, request, status } = this.#options;
    const { complete, rows, detail } = this.#scanner.end();
    if (!complete) {
      const why = detail === undefined ? "" : ` ${detail}`;
      return brokeOff(`The endpoint's answer is cut off or followed by foreign text.${why}`, { fault: "malformed" });
    }
    const partial = signs.partial ?? cappedBy(signs, rows, request);
    if (partial !== undefined && request.acceptPartial !== true) return partialRefused(partial, status);
    return { decodedBytes: this.#bytes, wireBytes, rows, partial };
  }
}
