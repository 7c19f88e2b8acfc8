import { FedwayError } from "../errors/fedway-error.ts";
import type { CatalogEntry } from "../registry/catalog/catalog.ts";
import type { ServiceElement } from "../sparql/outline.ts";
import { type ParsedQuery, parseQuery } from "../sparql/parse-query.ts";
import { outermost, withEmptySolutions, withoutDatasets, withoutWrappers } from "../sparql/rewrite.ts";
import { sameWithoutWrappers } from "../sparql/same-tree.ts";
import type { Draft } from "./decide-plan.ts";
import type { PlanRequest, PlanTask } from "./plan-request.ts";
import type { DirectPlan, PlanNote, SilentFallback } from "./query-plan.ts";
import { plannedEndpoint } from "./service-targets.ts";

/** A query for one named endpoint, sent as it came, with its dataset. */
export function untouchedPlan(parsed: ParsedQuery, entry: CatalogEntry, request: PlanRequest): DirectPlan {
  return {
    kind: "direct",
    answer: parsed.kind,
    endpoint: plannedEndpoint(entry),
    query: parsed.text,
    ...limitOf(parsed),
    silent: undefined,
    defaultGraphs: request.defaultGraphs,
    namedGraphs: request.namedGraphs,
    notes: [],
  };
}

/** The whole query for the one endpoint that all its clauses name, without the wrappers. */
export function directPlan(draft: Draft, task: PlanTask): DirectPlan {
  const { query, targets } = draft;
  const isMember = (service: ServiceElement): boolean => targets.members.has(service.from);
  const unwrapped = parseQuery(withoutWrappers(query, isMember));
  assertOnlyUnwrapped(draft, unwrapped);
  // On an endpoint's route without SERVICE for others the dataset was refused earlier, so none is left to keep.
  const analysed = { ...query, parsed: unwrapped };
  const text = query.datasets.length > 0 ? withoutDatasets(analysed) : unwrapped.text;
  const [endpoint] = targets.members.values();
  if (!endpoint) throw new FedwayError("INTERNAL", "A direct plan without an endpoint.");
  return {
    kind: "direct",
    answer: query.parsed.kind,
    endpoint,
    query: text,
    ...limitOf(unwrapped),
    silent: silentFallback(draft, isMember),
    defaultGraphs: [],
    namedGraphs: [],
    notes: [...draft.notes, ...mergedNote(draft, task)],
  };
}

const limitOf = ({ ast }: ParsedQuery): Pick<DirectPlan, "limit"> =>
  ast.queryType === "SELECT" && ast.limit !== undefined ? { limit: ast.limit } : {};

function mergedNote({ targets }: Draft, { entry }: PlanTask): readonly PlanNote[] {
  const count = targets.members.size;
  if (count < 2 || entry) return [];
  return [{ code: "WRAPPERS_MERGED", message: `All ${count} SERVICE clauses name one endpoint; it was asked once.` }];
}

function assertOnlyUnwrapped({ query, targets }: Draft, unwrapped: ParsedQuery): void {
  const pseudo = new Set(
    query.services
      .filter((clause) => targets.pseudo.has(clause.element.from))
      .map(({ target }) => (target.kind === "iri" ? target.iri : "")),
  );
  if (sameWithoutWrappers(query.parsed, unwrapped, (iri) => !pseudo.has(iri))) return;
  throw new FedwayError("INTERNAL", "Removing the SERVICE wrapper would have changed the query.");
}

/** Only when every outermost clause is SILENT and nothing else was asked of the endpoint may its failure be silenced. */
function silentFallback(
  { query, sentOn }: Draft,
  isMember: (service: ServiceElement) => boolean,
): SilentFallback | undefined {
  if (sentOn || !outermost(query, isMember).every((clause) => clause.silent)) return undefined;
  return { query: parseQuery(withEmptySolutions(query, isMember)).text };
}
