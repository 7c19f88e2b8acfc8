import { nearest } from "../errors/nearest.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { parseQuery, type Query, type SubstitutedText } from "../sparql/query.ts";
import { type FilledText, filledTexts } from "./fill-prefixes.ts";
import { similarIds } from "./meant-entries.ts";
import type { PlanContext, PlanTask } from "./plan-request.ts";

/** A text as it was understood. */
export interface ReadQuery {
  readonly parsed: Query;
  /** The text that was parsed. */
  readonly source: SubstitutedText;
  /** Absent where the text declares its prefixes. */
  readonly filled?: FilledText | undefined;
}

/**
 * A text that is no legal SPARQL 1.1, with its prefixes filled in.
 * @param error of the parser
 * @throws FedwayError that error where there is no other reading, or the next one behind the prefixes; `QUERY_SYNTAX` where prefixes
 *   have several meanings
 */
export function readOtherwise(written: SubstitutedText, error: unknown, task: PlanTask): ReadQuery {
  const { context, request } = task;
  const thrown = written.relocated(error);
  if (!(thrown instanceof FedwayError) || thrown.code !== "QUERY_SYNTAX") throw thrown;
  const { texts, unknown } = filledTexts(written, task);
  const [filled, ...others] = texts;
  if (filled === undefined) throw explained(thrown, request.text, context);
  if (unknown.length > 0) throw partlyKnown(texts, unknown, thrown);
  const parsed = parsedOrError(filled.written);
  if (parsed instanceof FedwayError) throw explained(parsed, request.text, context);
  if (others.length > 0) throw ambiguous([filled, ...others], thrown);
  return { parsed, source: filled.written, filled };
}

function parsedOrError(text: SubstitutedText): Query | FedwayError {
  try {
    return parseQuery(text.text);
  } catch (error) {
    const thrown = text.relocated(error);
    if (thrown instanceof FedwayError && thrown.code !== "INTERNAL") return thrown;
    throw error;
  }
}

/** The prefixes that are known are filled in all the same. */
function partlyKnown(
  texts: readonly FilledText[],
  unknown: readonly string[],
  { details: { where } }: FedwayError,
): FedwayError {
  const names = unknown.map((prefix) => `${prefix}:`).join(", ");
  const choices = texts.map(({ declarations }) => declarations.join(" "));
  return new FedwayError("QUERY_SYNTAX", `The query does not declare its prefixes, and nothing is known of ${names}.`, {
    ...(where && { where }),
    next: `Put ${choices.join(" or ")} before it, and declare ${names} too.`,
  });
}

function ambiguous(texts: readonly FilledText[], { details: { where } }: FedwayError): FedwayError {
  const choices = texts.map(({ declarations }) => declarations.join(" "));
  return new FedwayError("QUERY_SYNTAX", "The query does not declare its prefixes, and they may mean several things.", {
    ...(where && { where }),
    next: `Put one of these before it: ${choices.join(" or ")}.`,
  });
}

/** `FROM NAMED <people>` and `GRAPH <people>`, where FROM or SERVICE would name the endpoint. */
function namesGraph(error: FedwayError, id: string, text: string): FedwayError {
  const isAfter = (words: RegExp): boolean => Array.from(text.matchAll(words)).some(([, graph]) => graph === id);
  if (isAfter(/\bNAMED\s+<([^<>\s]{1,64})>/gi)) {
    return new FedwayError(error.code, `FROM NAMED names graphs, and ${id} is an endpoint or federation.`, {
      ...error.details,
      next: `Write FROM <${id}>: GRAPH then reads its named graphs.`,
    });
  }
  if (!isAfter(/\bGRAPH\s+<([^<>\s]{1,64})>/gi)) return error;
  return new FedwayError(error.code, `GRAPH names a graph, and ${id} is an endpoint or federation.`, {
    ...error.details,
    endpoints: [id],
    next: `Write SERVICE <${id}> { ... } in its place, or FROM <${id}> before WHERE.`,
  });
}

/** Whoever writes `SERVICE <peple>`, or `<peple>` among the values of its variable, means an endpoint of the catalogue. */
function explained(error: FedwayError, text: string, context: PlanContext): FedwayError {
  const id = /relative IRI (\S{1,64}) /.exec(error.message)?.[1];
  if (id === undefined) return error;
  if (context.catalog.byId(id) ?? context.catalog.federation(id)) return namesGraph(error, id, text);
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
    next: `${like}SERVICE and FROM take the URL or the id of an endpoint or federation; /api/endpoints and /api/federations list them.`,
    ...(endpoints.length > 0 && { endpoints }),
  });
}
