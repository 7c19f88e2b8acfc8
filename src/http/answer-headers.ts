import type { FastifyRequest } from "fastify";
import type { QueryAnswer, QueryTimings } from "../query/query-service.ts";
import type { RunRecord } from "../query/run-log.ts";
import { anyOriginHeaders, flat } from "./common-headers.ts";

const staticHeaders = flat({ ...anyOriginHeaders, Vary: "Accept, Accept-Encoding" });

const serverTiming = ({ planMs, firstByteMs, planCached }: QueryTimings): string =>
  `plan;dur=${planMs.toFixed(1)}${planCached ? ';desc="cached"' : ""}, upstream;dur=${firstByteMs.toFixed(1)}`;

/** Headers of a SPARQL response, known at its first byte, as a flat list of names and values. */
export function headersOf(answer: QueryAnswer): readonly string[] {
  const headers = [
    ...staticHeaders,
    "Content-Type",
    answer.contentType,
    "Fedway-Run",
    answer.runId,
    "Fedway-Plan",
    answer.plan.kind,
    "Fedway-Status",
    answer.status,
    "Server-Timing",
    serverTiming(answer.timings),
  ];
  if (answer.partial !== undefined) headers.push("Fedway-Partial", answer.partial);
  if (answer.notes.length > 0) headers.push("Fedway-Notes", answer.notes.map(({ code }) => code).join(","));
  if (answer.facts !== undefined) headers.push("Fedway-Facts", factsText(answer.facts));
  return headers;
}

function factsText({ known, seenAt, ageMs = 0, verifiedAt = "never", withheld = [] }: Facts): string {
  const more = withheld.length > namedAtMost ? ` and ${withheld.length - namedAtMost} more` : "";
  const by =
    withheld.length > 0 ? `; by copies not asked for all: ${withheld.slice(0, namedAtMost).join(", ")}${more}` : "";
  const age = `${Math.round(ageMs / 1_000)} s old`;
  const chosen =
    seenAt === undefined ? [] : [`sources chosen by facts of ${seenAt}, ${age}, last verified ${verifiedAt}${by}`];
  const of = known === undefined ? [] : [`facts of ${known.known} of ${known.members} members`];
  return [...chosen, ...of].join("; ");
}

type Facts = NonNullable<QueryAnswer["facts"]>;

/** Endpoints that a header names. */
const namedAtMost = 5;

/** True if a client takes trailers, and its protocol allows them. */
export const takesTrailers = ({ raw }: Pick<FastifyRequest, "raw">): boolean =>
  raw.httpVersion !== "1.0" && /(?:^|,)\s*trailers\s*(?:[,;]|$)/i.test(String(raw.headers["te"] ?? ""));

/** Trailers of a SPARQL response, known when its last byte has been sent. */
export const trailersOf = ({
  status,
  partial,
}: Pick<RunRecord, "status" | "partial">): Readonly<Record<string, string>> => ({
  "Fedway-Status": status,
  ...(partial !== undefined && { "Fedway-Partial": partial }),
});
