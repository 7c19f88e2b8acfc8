import { FedwayError } from "../errors/fedway-error.ts";
import type { CatalogEntry } from "../registry/catalog.ts";
import {
  followsGrammar,
  isWord,
  newerConstruct,
  type NewerConstruct,
  scanRawQuery,
  tokenize,
} from "../sparql/query.ts";
import type { PlanRequest } from "./plan-request.ts";
import type { DirectPlan, PlanNote } from "./query-plan.ts";
import { plannedEndpoint } from "./service-targets.ts";

/**
 * The plan for a text that is no legal SPARQL 1.1 but that its endpoint may understand: SPARQL 1.2, a dialect where the entry
 * allows it, or a use of variables that only Fedway's rules refuse. The endpoint judges it; what must be known is that it is no
 * update and has no SERVICE. Undefined for any other text.
 * @param entry the endpoint that the request names; undefined on other routes
 * @throws FedwayError `VERSION_UNSUPPORTED` for SPARQL 1.2 that would have to be evaluated here, or cannot be scanned;
 *   `UPDATE_REFUSED`
 */
export function unparsedPlan(request: PlanRequest, entry: CatalogEntry | undefined): DirectPlan | undefined {
  const { text } = request;
  const newer = newerConstruct(text);
  if (newer) return newerPlan(request, entry, newer);
  if (entry?.interface !== "sparql" || !(entry.rawQueries || followsGrammar(text))) return undefined;
  const scanned = scanRawQuery(text, entry.pseudoServices);
  return scanned && planOf(request, entry, { ...scanned, note: rawNote });
}

function newerPlan(
  request: PlanRequest,
  entry: CatalogEntry | undefined,
  newer: NewerConstruct,
): DirectPlan | undefined {
  const { text } = request;
  const scanned = scanRawQuery(text, entry?.pseudoServices ?? []);
  if (entry?.interface !== "sparql") throw versionUnsupported(newer, entry);
  if (scanned) return planOf(request, entry, { ...scanned, note: newerNote });
  if (/\\u/i.test(text) || tokenize(text).some((token) => isWord(token, "SERVICE"))) throw notScanned(newer);
  return undefined;
}

/** @param entry an endpoint without SPARQL: queries over it are evaluated here */
function versionUnsupported({ name, where }: NewerConstruct, entry: CatalogEntry | undefined): FedwayError {
  const parts =
    "ask ?r rdf:reifies ?t, and take its parts by SUBJECT(?t), PREDICATE(?t) and OBJECT(?t); TRIPLE(?s, ?p, ?o) makes a " +
    "triple term.";
  const [why, next] = entry
    ? [`Fedway does not evaluate, and ${entry.id} does not speak SPARQL itself`, `Instead, ${parts}`]
    : [
        "Fedway passes to single endpoints and does not evaluate itself",
        `Send it to one endpoint (/endpoints/{id}/sparql, --endpoint ID). Over several, ${parts}`,
      ];
  return new FedwayError("VERSION_UNSUPPORTED", `The query has ${name}, which ${why}.`, {
    where,
    next,
  });
}

const notScanned = ({ name }: NewerConstruct): FedwayError =>
  new FedwayError("VERSION_UNSUPPORTED", `A query with ${name} and a SERVICE or an escaped quote is not passed on.`, {
    next: "Leave out the SERVICE and such escapes and send the query to the endpoint that has the data, or write it in SPARQL 1.1.",
  });

const newerNote: PlanNote = {
  code: "SPARQL_1_2",
  message: "The query is SPARQL 1.2. It was checked to be read-only and sent unchanged.",
};
const rawNote: PlanNote = {
  code: "RAW_QUERY",
  message: "The query is not plain SPARQL 1.1; it was passed on unparsed.",
};

type UnparsedText = NonNullable<ReturnType<typeof scanRawQuery>> & { readonly note: PlanNote };

function planOf(request: PlanRequest, entry: CatalogEntry, { kind, limit, note }: UnparsedText): DirectPlan {
  return {
    kind: "direct",
    answer: kind,
    endpoint: plannedEndpoint(entry),
    query: request.text,
    limit,
    silent: undefined,
    // Unknown without parsing.
    nonMonotone: true,
    defaultGraphs: request.defaultGraphs,
    namedGraphs: request.namedGraphs,
    notes: [note],
  };
}
