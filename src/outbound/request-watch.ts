import type { FedwayError } from "../errors/fedway-error.ts";
import { outcomeName } from "./health.ts";
import type { ExchangeReport } from "./options.ts";

/** One HTTP request that is sent to an endpoint. */
export interface RequestStart {
  /** Catalogue id, or "unlisted". */
  readonly endpoint: string;
  /** 1 for the first request of a query or document; retries, other methods and redirects count on. */
  readonly attempt: number;
  /** `SparqlRequest.trace` or `DocumentRequest.trace`. */
  readonly trace: unknown;
}

/** How one HTTP request ended; `asked-again`: answered in a format that its engine is known to get wrong. */
export type RequestOutcome = ExchangeReport["outcome"] | "asked-again";

/** The end of one HTTP request. */
export interface RequestEnd {
  readonly outcome: RequestOutcome;
  /** Undefined when no response head came. */
  readonly status: number | undefined;
  /** Body bytes received, content-encoded. */
  readonly wireBytes: number;
}

/** A reply that is no answer. */
type OtherReply =
  | { readonly kind: "refusal"; readonly refusal: { readonly status: number } }
  | { readonly kind: "unsound" }
  | { readonly kind: "fault"; readonly error: FedwayError };

/** How a request ended that brought no answer. */
export function outcomeOfReply(reply: OtherReply, interrupted: boolean): RequestOutcome {
  if (reply.kind === "unsound") return "asked-again";
  if (reply.kind === "fault") return outcomeName(reply.error, interrupted);
  const { status } = reply.refusal;
  if (status < 300) return "wrong-media-type";
  if (status < 400) return "http-3xx";
  if (status === 429) return "http-429";
  return status < 500 ? "http-4xx" : "http-5xx";
}
