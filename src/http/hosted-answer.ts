import type { FastifyReply, FastifyRequest } from "fastify";
import { answerKindOf } from "../hosting/query-form.ts";
import type { HostedEndpoint } from "../hosting/hosted-endpoint.ts";
import { resultFormats } from "../results/formats.ts";
import { anyOriginHeaders, flat } from "./common-headers.ts";
import { clientKey } from "./rate-limiter.ts";
import { clientSignal } from "./exchange.ts";
import type { SendProblem } from "./problem-reply.ts";
import type { QueryOperation } from "./protocol-operation.ts";
import { sendAnswer } from "./send-answer.ts";

const staticHeaders = flat({ ...anyOriginHeaders, Vary: "Accept, Accept-Encoding" });

const contentTypes = new Map(resultFormats.map(({ mediaType, contentType }) => [mediaType, contentType]));

/** The Accept header that is asked for: the `format` parameter (short name or media type) wins. */
function acceptOf(request: FastifyRequest, format: string | undefined): string {
  if (format === undefined) return request.headers.accept ?? "*/*";
  return resultFormats.find(({ name }) => name === format)?.mediaType ?? format;
}

/** Who asks what, and how the answer may fail. */
interface HostedExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly endpoint: HostedEndpoint;
  readonly sendProblem: SendProblem;
  /** Waiting for others included. */
  readonly mostMs: number;
}

/** Asks a hosted endpoint and sends its answer. @throws FedwayError what `HostedEndpoint.query` throws */
export async function answerHosted(exchange: HostedExchange, operation: QueryOperation): Promise<void> {
  const { request, reply, endpoint, sendProblem, mostMs } = exchange;
  const kind = answerKindOf(operation.text);
  const { mediaType, body, stream } = await endpoint.query({
    query: operation.text,
    kind: kind ?? "bindings",
    // The store's refusal of what is no query is not to be hidden behind a format.
    accept: kind === undefined ? "*/*" : acceptOf(request, operation.format),
    defaultGraphs: operation.defaultGraphs,
    namedGraphs: operation.namedGraphs,
    client: clientKey(request.ip),
    signal: clientSignal(request.exchange),
    timeoutMs: Math.min(mostMs, operation.timeoutMs ?? mostMs),
  });
  const headers = [...staticHeaders, "Content-Type", contentTypes.get(mediaType) ?? mediaType];
  await sendAnswer(reply, { headers, contentEncoding: "identity", body: stream ?? body }, (error) =>
    sendProblem(reply, error),
  );
}
