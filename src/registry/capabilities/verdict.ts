import type { FedwayError } from "../../errors/fedway-error.ts";
import type { ProbeOutcome } from "./capabilities.ts";
import { oneLine } from "./judges.ts";
import type { Asked } from "./session.ts";
import type { Judge } from "./judges.ts";

/** Statuses that speak of the request's surroundings, not of the query. */
const besideTheQuery = new Set([401, 404, 405, 407, 408, 415, 421, 425, 429]);

/** The endpoint turned this query down, and gave the blame to the query. */
function isRefusal({ code, details }: FedwayError): boolean {
  if (code !== "ENDPOINT_REJECTED_QUERY" && code !== "ENDPOINT_REFUSED") return false;
  const status = details.upstreamStatus ?? 0;
  return status >= 400 && status < 500 && !besideTheQuery.has(status);
}

/** What an answer or failure says about the construct that was asked for. */
export function outcomeOf({ answer, error, durationMs }: Asked, judge: Judge): ProbeOutcome {
  if (answer === undefined) {
    const verdict = isRefusal(error) ? "refused" : "failed";
    return { verdict, detail: oneLine(`${error.code}: ${error.message}`), durationMs };
  }
  const instead = judge(answer);
  if (instead === undefined) return { verdict: "right", durationMs };
  // Rows that are said to be missing do not make what is there wrong.
  if (answer.partial !== undefined) return { verdict: "failed", detail: oneLine(answer.partial.detail), durationMs };
  return { verdict: "wrong", detail: instead, durationMs };
}
