import { FedwayError, type Repair, toProblem } from "../../errors/fedway-error.ts";
import { planOf } from "./draft-query.ts";
import { type CheckOptions, type Place, sourcesFor } from "./lookups.ts";
import type { CheckedQuery, PreparedQuery } from "./query-check.ts";
import { repairText, type UnrepairedText } from "./repair-text.ts";
import { selectOfUpdate } from "./update-to-select.ts";

/** A text that does not parse: what is wrong, and the query that an update may have meant. */
export function refused(prepared: PreparedQuery, { error, core }: UnrepairedText, options: CheckOptions): CheckedQuery {
  const place = { endpointId: prepared.endpoint, federationId: prepared.federation };
  const parses = (text: string): boolean => !("error" in repairText(text, sourcesFor(undefined, options)));
  const update = error.code === "UPDATE_REFUSED" ? selectOfUpdate(core, parses) : undefined;
  const told = update ? error : toldByPlanner(error, prepared.query, { place, options });
  const target = misnamed(told, prepared.query);
  const offered = update ?? target?.repair;
  return {
    ...prepared,
    valid: false,
    repairs: [...prepared.repairs, ...(offered ? [offered] : [])],
    unknown: [],
    suggested: update?.after ?? target?.suggested,
    problem: { ...toProblem(told), repairs: offered ? [offered] : undefined },
    next: update
      ? "Updates are not executed here; if you meant to read, send the suggested query."
      : (told.details.next ?? "Correct the query and check it again."),
  };
}

/** The planner knows ids of endpoints that the parser does not. */
function toldByPlanner(
  error: FedwayError,
  text: string,
  { place, options }: { place: Omit<Place, "repairs">; options: CheckOptions },
): FedwayError {
  try {
    planOf(text, { ...place, repairs: [] }, options);
    return error;
  } catch (thrown) {
    return thrown instanceof FedwayError && thrown.code !== "INTERNAL" ? thrown : error;
  }
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
