import { FedwayError, type Repair, toProblem } from "../../errors/fedway-error.ts";
import { planOf } from "./draft-query.ts";
import type { CheckOptions } from "./lookups.ts";
import type { CheckedQuery, PreparedQuery } from "./query-check.ts";
import type { UnrepairedText } from "./repair-text.ts";
import { selectOfUpdate } from "./update-to-select.ts";

/** A text that cannot be planned: what is wrong, and the query that an update may have meant. */
export function refused(prepared: PreparedQuery, { error, core }: UnrepairedText, options: CheckOptions): CheckedQuery {
  const place = { endpointId: prepared.endpoint, federationId: prepared.federation };
  const parses = (text: string): boolean => !(planOf(text, place, options) instanceof FedwayError);
  const update = error.code === "UPDATE_REFUSED" ? selectOfUpdate(core, parses) : undefined;
  const target = misnamed(error, prepared.query);
  const offered = update ?? target?.repair;
  return {
    ...prepared,
    valid: false,
    repairs: [...prepared.repairs, ...(offered ? [offered] : [])],
    unknown: [],
    suggested: update?.after ?? target?.suggested,
    problem: { ...toProblem(error), repairs: offered ? [offered] : undefined },
    next: update
      ? "Updates are not executed here; if you meant to read, send the suggested query."
      : (error.details.next ?? "Correct the query and check it again."),
  };
}

/** A refused SERVICE target, replaced by the first endpoint that it may have meant. */
export function misnamed(
  error: FedwayError,
  text: string,
): { readonly repair: Repair; readonly suggested: string } | undefined {
  const { endpoints = [], where } = error.details;
  const [best] = endpoints;
  const shown = where?.endpoint ?? /endpoint "([^"]+)"/.exec(error.message)?.[1];
  if (error.code !== "SERVICE_TARGET_REFUSED" || best === undefined || shown === undefined) return undefined;
  const [before, after] = [`<${shown}>`, `<${best}>`];
  if (!text.includes(before)) return undefined;
  const repair = { kind: "service-target", before, after, applied: false };
  return { repair, suggested: text.replaceAll(before, after) };
}
