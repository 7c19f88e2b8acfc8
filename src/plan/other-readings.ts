import { nearest } from "../errors/nearest.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { parsedIfLegal, type Query, type SubstitutedText } from "../sparql/query.ts";
import { namesEndpoint, readingsOf, withEndpointPrefixes } from "./fill-prefixes.ts";
import type { PlanContext, PlanTask } from "./plan-request.ts";
import type { DirectPlan, PlanNote } from "./query-plan.ts";
import { similarIds } from "./meant-entries.ts";
import { serviceRequired } from "./offer-endpoints.ts";
import { describedMeant } from "./request-place.ts";
import { unparsedPlan } from "./unparsed-plan.ts";

/** A text as it was understood. */
export interface ReadQuery {
  /** Or a plan for a text that only its endpoint understands. */
  readonly parsed: Query | DirectPlan;
  /** The text that was parsed. */
  readonly source: SubstitutedText;
  /** Note on changes to the text. */
  readonly note?: PlanNote | undefined;
}

/**
 * A text that is no legal SPARQL 1.1, with the prefixes that its endpoints know; or, where the entry allows it, a plan for the
 * unparsed text.
 * @param error of the parser
 * @throws FedwayError that error where there is no other reading, `SERVICE_REQUIRED`
 */
export function readOtherwise(written: SubstitutedText, error: unknown, task: PlanTask): ReadQuery {
  const { context, request, entry, over } = task;
  const thrown = written.relocated(error);
  if (!(thrown instanceof FedwayError) || thrown.code !== "QUERY_SYNTAX") throw thrown;
  const filled = withEndpointPrefixes(written, task);
  const parsed = filled && parsedIfLegal(filled.written.text);
  if (parsed) return { parsed, source: filled.written, note: filled.note };
  const unparsed = unparsedPlan(request, entry);
  if (unparsed) return { parsed: unparsed, source: written };
  const isHomeless = entry === undefined && over === undefined && !namesEndpoint(written.text);
  const meant = isHomeless ? homelessUndeclared(written, thrown, task) : undefined;
  if (meant) return meant;
  throw explained(thrown, request.text, context);
}

/**
 * A query that names no endpoint and does not declare its prefixes: over all that is described, where that is what it means. Undefined
 * where no endpoint has to do with it.
 * @throws FedwayError `SERVICE_REQUIRED` where others are meant, `QUERY_SYNTAX` where several readings are as good
 */
function homelessUndeclared(written: SubstitutedText, thrown: FedwayError, task: PlanTask): ReadQuery | undefined {
  const { context } = task;
  const { where } = thrown.details;
  const readings = readingsOf(written, context);
  const [best] = readings;
  if (best === undefined) return undefined;
  const score = best.homes[0]?.score ?? 0;
  const meant = readings.filter(({ homes, parsed }) => homes[0]?.score === score && describedMeant(parsed, task));
  const described = [...new Map(meant.map((reading) => [reading.written.text, reading])).values()];
  if (described.length > 1) {
    const texts = described.map((each) => each.written.text.slice(0, -written.text.length).trim());
    throw new FedwayError(
      "QUERY_SYNTAX",
      "The query does not declare its prefixes, and they may mean several things.",
      {
        where,
        next: `Put one of these before it: ${texts.slice(0, 5).join(" or ")}.`,
      },
    );
  }
  const [only] = described;
  if (only) return { parsed: only.parsed, source: only.written, note: only.note };
  const homes = readings.flatMap((reading) => reading.homes).toSorted((one, other) => other.score - one.score);
  const note = (id: string): string =>
    readings.find((each) => each.homes.some((home) => home.id === id))?.note.message ?? "";
  throw serviceRequired(best.parsed, { where, note, homes }, context);
}

/** Whoever writes `SERVICE <peple>`, or `<peple>` among the values of its variable, means an endpoint of the catalogue. */
function explained(error: FedwayError, text: string, context: PlanContext): FedwayError {
  const id = /relative IRI (\S{1,64}) /.exec(error.message)?.[1];
  if (id === undefined || context.catalog.byId(id)) return error;
  const federations = nearest(
    id,
    context.catalog.federations.map((each) => each.id),
  );
  const endpoints = [...similarIds(context, id), ...federations];
  const isTarget = text.matchAll(/\bSERVICE\s+(?:SILENT\s+)?<([^<>\s]{1,64})>/gi).some(([, target]) => target === id);
  if (!isTarget && endpoints.length === 0) return error;
  const [code, message] = isTarget
    ? (["SERVICE_TARGET_REFUSED", `The catalogue has no endpoint "${id}".`] as const)
    : ([error.code, error.message] as const);
  const like = endpoints.length > 0 ? `Did you mean <${endpoints[0]}>? ` : "";
  return new FedwayError(code, message, {
    ...error.details,
    next: `${like}SERVICE takes the URL or the id of an endpoint or federation; /api/endpoints and /api/federations list them.`,
    ...(endpoints.length > 0 && { endpoints }),
  });
}
