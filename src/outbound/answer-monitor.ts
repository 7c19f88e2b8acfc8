import { FedwayError } from "../errors/fedway-error.ts";
import { createAnswerScanner } from "../results/scanner.ts";
import { XmlEncoding } from "../results/xml-encoding.ts";
import { EncodingCheck, misfit } from "./answer-check.ts";
import { lastWords, quoted } from "./excerpt.ts";
import type { ResponseHeaders } from "./media-types.ts";
import { failureIn, lackOf, partialRefused, partialSigns, type PartialSigns } from "./partial-answers.ts";
import { brokeOff } from "./refusals.ts";
import type { AnswerEnd, SparqlRequest } from "./sparql-client.ts";

/** Known facts about an answer before its first byte. */
interface MonitorOptions {
  readonly mediaType: string;
  /** The request, and how a partial answer ends: well with a mark, or in `ENDPOINT_PARTIAL`. */
  readonly request: Pick<SparqlRequest, "kind" | "limit" | "columns" | "acceptPartial"> & {
    readonly query?: string;
  };
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

/** The error of an answer that is whole but not what was asked for. */
const notAsAsked = (message: string): FedwayError =>
  new FedwayError("ENDPOINT_MALFORMED", message, {
    fault: "malformed",
    next: "Ask the endpoint's operator, or use another endpoint.",
  });

const notUtf8 = "The endpoint's answer is not UTF-8 text.";

/** Bytes behind the last whole item that are kept for the message of an error. */
const keptBytes = 4_096;

/** Looks at the decoded bytes of one answer beside their way to the reader: counts, caps and checks them. */
export class AnswerMonitor {
  readonly #options: MonitorOptions;
  readonly #scanner;
  /** XML may be in other encodings than UTF-8. */
  readonly #xml: XmlEncoding | undefined;
  readonly #encoding = new EncodingCheck();
  #bytes = 0;
  /** The head has been compared with the request. */
  #fits = false;
  /** Bytes after the last whole item, as far as they are kept. */
  #kept: Buffer[] = [];
  #room = keptBytes;
  #trailing: PartialSigns = {};

  constructor(options: MonitorOptions) {
    this.#options = options;
    this.#scanner = createAnswerScanner(options.mediaType);
    this.#xml = options.mediaType.endsWith("xml") ? new XmlEncoding() : undefined;
  }

  /** The next decoded bytes; an error when they exceed the cap or cannot be an answer to the request. */
  see(chunk: Buffer): FedwayError | undefined {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.maxBytes) return answerTooLarge(this.#options.maxBytes);
    return this.#check(this.#xml?.toUtf8(chunk) ?? chunk);
  }

  #check(chunk: Uint8Array): FedwayError | undefined {
    this.#scanner.push(chunk);
    this.#keep(chunk, this.#scanner.soundTo ?? 0);
    if (!this.#encoding.push(chunk)) return notAsAsked(notUtf8);
    return this.#fits ? undefined : this.#misfit();
  }

  /** Signs behind the last byte. */
  trailed(trailers: ResponseHeaders): void {
    this.#trailing = partialSigns(200, trailers);
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
    const last = this.#xml && this.#check(this.#xml.end());
    if (last !== undefined) return last;
    const verdict = this.#scanner.end();
    const { complete, rows, detail = "" } = verdict;
    if (!complete) {
      const words = quoted(verdict.words ?? lastWords(Buffer.concat(this.#kept).toString()));
      const said = words === "" ? detail : `${detail.replace(/\.$/u, "")}${words}.`;
      return brokeOff(`The endpoint's answer is cut off or followed by foreign text. ${said}`.trim(), {
        fault: "malformed",
      });
    }
    if (!this.#encoding.end()) return notAsAsked(notUtf8);
    const error = this.#misfit() ?? failureIn(this.#trailing);
    if (error !== undefined) return error;
    const partial = lackOf({ signs: [signs, this.#trailing], verdict, request });
    if (partial !== undefined && request.acceptPartial !== true) return partialRefused(partial, status);
    return { decodedBytes: this.#bytes, wireBytes, rows, atMost: verdict.atMost, partial };
  }

  #misfit(): FedwayError | undefined {
    const { signs, request } = this.#options;
    const { form, variables } = this.#scanner;
    // Virtuoso's anytime answers name no column when nothing was found in time.
    const isUntold = signs.partial !== undefined && variables?.length === 0;
    const message = misfit({ form, variables: isUntold ? undefined : variables }, request);
    this.#fits = form !== undefined && (form === "boolean" || variables !== undefined);
    return message === undefined ? undefined : notAsAsked(message);
  }

  #keep(chunk: Uint8Array, soundTo: number): void {
    if (soundTo > 0) {
      this.#kept = [];
      this.#room = keptBytes;
    }
    if (this.#room === 0) return;
    const part = Buffer.from(chunk.subarray(soundTo, soundTo + this.#room));
    this.#room -= part.length;
    this.#kept.push(part);
  }
}
