import type { FedwayError } from "../errors/fedway-error.ts";
import type { SourceReport } from "../engine/federation-engine.ts";
import type { RunStatus } from "./query-service.ts";
import type { RunEnd } from "./run-log.ts";

/** How a run that delivered its whole answer ended; `rows` undefined is unknown, which is not empty. */
export function completed(sources: Iterable<SourceReport>, rows: number | undefined): RunEnd {
  const status = isPartial(sources) ? "partial" : rows === 0 ? "empty" : "ok";
  return { status, rows };
}

/** How a run ended that broke off or never began. */
export function brokenOff(error: FedwayError): RunEnd {
  return { status: error.code === "CANCELLED" ? "cancelled" : "failed", error };
}

/** Something that belongs to the answer is missing; a silenced failure is what the query asked for. */
export function isPartial(sources: Iterable<SourceReport>): boolean {
  for (const source of sources) if (lacksRows(source)) return true;
  return false;
}

/** The endpoint's contribution is missing or incomplete. */
export function lacksRows({ status }: SourceReport): boolean {
  return status === "partial" || status === "failed";
}

/** What can be said at the first byte: a verdict on a whole answer, `running` on one that still streams. */
export function firstByteStatus(sources: Iterable<SourceReport>, whole: boolean, rows: number | undefined): RunStatus {
  if (isPartial(sources)) return "partial";
  return whole ? completed([], rows).status : "running";
}
