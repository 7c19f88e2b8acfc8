import { FedwayError } from "../errors/fedway-error.ts";
import type { CatalogEntry } from "../registry/catalog/catalog.ts";
import { answerKindOf, type QueryForm, updateRefused } from "../sparql/parse-query.ts";
import { rawLimit, scanRawQuery } from "../sparql/raw-query.ts";
import { readAs12 } from "../sparql/sparql-1-2.ts";
import type { PlanRequest } from "./plan-request.ts";
import type { DirectPlan, PlanNote } from "./query-plan.ts";
import { plannedEndpoint } from "./service-targets.ts";

/**
 * The plan for a text that is no SPARQL 1.1 but that its endpoint understands: SPARQL 1.2, or a dialect where the entry allows it.
 * Undefined when it is neither.
 * @param entry the endpoint that the request names; undefined on other routes
 * @param failure what the parser of SPARQL 1.1 says
 * @throws FedwayError `VERSION_UNSUPPORTED` for SPARQL 1.2 that would have to be evaluated here; `UPDATE_REFUSED`;
 *   `QUERY_SYNTAX` when the parser of SPARQL 1.2 reads further than `failure`, `QUERY_TOO_LARGE` when it cannot
 */
export function unparsedPlan(
  request: PlanRequest,
  entry: CatalogEntry | undefined,
  failure: FedwayError,
): DirectPlan | undefined {
  const { text } = request;
  const found = readAs12(text);
  if (found === "update") throw updateRefused("An update");
  const is12 = found === "query";
  const isAtEndpoint = entry?.interface === "sparql";
  if (is12 && !isAtEndpoint) throw versionUnsupported();
  if (isAtEndpoint && (is12 || entry.rawQueries)) {
    // The grammar says that it is a query; the scan, that no other reader of its tokens could find an update in it.
    const form = scanRawQuery(text, entry.pseudoServices);
    if (form) return planOf(request, entry, { form, note: is12 ? checkedNote : rawNote });
    if (is12) throw serviceIn12();
  }
  throwIfBehind(found, failure);
  return undefined;
}

/** @throws FedwayError what was found, where it is an error behind the failure, or one of the text as a whole */
function throwIfBehind(found: ReturnType<typeof readAs12>, { details: { where = {} } }: FedwayError): void {
  if (!(found instanceof FedwayError)) return;
  if (found.code === "QUERY_TOO_LARGE") throw found;
  const { line: itsLine = 0, column: itsColumn = 0 } = found.details.where ?? {};
  const { line = 0, column = 0 } = where;
  if (itsLine === line ? itsColumn > column : itsLine > line) throw found;
}

const versionUnsupported = (): FedwayError =>
  new FedwayError(
    "VERSION_UNSUPPORTED",
    "Fedway passes SPARQL 1.2 to single endpoints only; federated queries must be SPARQL 1.1.",
    { next: "Send it to one endpoint (/endpoints/{id}/sparql, --endpoint ID), or write it in SPARQL 1.1." },
  );

const serviceIn12 = (): FedwayError =>
  new FedwayError("VERSION_UNSUPPORTED", "A SPARQL 1.2 query with a SERVICE or escaped characters is not passed on.", {
    next: "Leave out the SERVICE and the escapes and send the query to the endpoint that has the data, or write it in SPARQL 1.1.",
  });

const checkedNote: PlanNote = {
  code: "SPARQL_1_2",
  message: "The query is SPARQL 1.2. It was checked to be read-only and sent unchanged.",
};
const rawNote: PlanNote = {
  code: "RAW_QUERY",
  message: "The query is not plain SPARQL 1.1; it was passed on unparsed.",
};

interface UnparsedText {
  readonly form: QueryForm;
  readonly note: PlanNote;
}

function planOf(request: PlanRequest, entry: CatalogEntry, { form, note }: UnparsedText): DirectPlan {
  return {
    kind: "direct",
    answer: answerKindOf(form),
    endpoint: plannedEndpoint(entry),
    query: request.text,
    limit: form === "SELECT" ? rawLimit(request.text) : undefined,
    silent: undefined,
    // Nobody here knows.
    nonMonotone: true,
    defaultGraphs: request.defaultGraphs,
    namedGraphs: request.namedGraphs,
    notes: [note],
  };
}
