import { type Problem, toProblem, type FedwayError } from "../errors/fedway-error.ts";
import type {
  DirectPlan,
  FederatedPlan,
  PlannedEndpoint,
  PlanNote,
  QueryPlan,
  FederationMember,
  MergedMembers,
} from "../plan/query-plan.ts";
import type { Certificate, FactsKnown, SourceSelection } from "../plan/source-selection.ts";
import { portablePlan } from "../plan/portable-plan.ts";
import type { StepReport } from "../engine/step-reports.ts";
import { factsKnown } from "./chosen-by.ts";
import { notesOf, type RunRecord } from "./run-log.ts";
import { counted, kilobytes } from "./run-text.ts";
import type { AnswerKind } from "../results/model.ts";

/** A plan as `/api/explain` returns it. */
export interface PlanDescription {
  readonly kind: QueryPlan["kind"];
  readonly answer?: AnswerKind;
  /** One entry an endpoint. */
  readonly endpoints: readonly {
    readonly endpoint: string;
    readonly url: string;
    readonly clauses: number;
    readonly silent: boolean;
  }[];
  /** Text sent (direct) or evaluated (federated). */
  readonly query?: string;
  /** One SPARQL 1.1 query with SERVICE that other engines give the same answer to, unless it joins blank nodes of two requests; or why there is none. */
  readonly portable?: {
    readonly query?: string;
    /** What another engine's answer lacks. */
    readonly notes?: readonly PlanNote[] | undefined;
    readonly why?: string;
    /** What may be done where there is none. */
    readonly next?: string;
  };
  /** Of a federation: what is known of who has matches of each pattern; what is not in it is asked of all members. */
  readonly sources?: PlannedSources | undefined;
  /** Of a federation: of how many of its members facts are known. */
  readonly facts?: FactsKnown | undefined;
  readonly notes: readonly PlanNote[];
  /** Set when the plan is a rejection. */
  readonly problem?: Problem;
  /** The record of a run whose rows were dropped; set when the plan was analysed. */
  readonly run?: RunRecord;
  /** The plan as indented text for people. */
  readonly text: string;
}

/** A plan with what a run of it took; its text too. */
export function toAnalyzedPlan(plan: QueryPlan, run: RunRecord): PlanDescription {
  const described = toPlanDescription(plan);
  return { ...described, text: [described.text, ...runLines(run)].join("\n"), run };
}

function runLines({ status, rows, durationMs = 0, sources, steps = [], bytes }: RunRecord): string[] {
  const requests = sources.reduce((sum, source) => sum + source.requests, 0);
  const found = rows === undefined ? "" : `, ${counted(rows, "row")}`;
  return [
    `  run ${status}${found}, ${counted(requests, "request")}, ${kilobytes(bytes)}, ${Math.round(durationMs)} ms`,
    ...steps.flatMap((step) => stepLines(step)),
  ];
}

function stepLines({ pattern, endpoints, asked, estimate, ...took }: StepReport): string[] {
  const more = asked > endpoints.length ? ` and ${asked - endpoints.length} more` : "";
  const isWhole = took.keys === 0;
  // What was expected was expected of the step without keys.
  const than = isWhole ? "" : " without join keys";
  const expected = estimate === undefined ? "" : `expected ${counted(Math.round(estimate), "row")}${than}; `;
  const sent = isWhole ? ", without join keys" : `, ${counted(took.keys, "join key")}`;
  const switched = `, ${counted(took.whole, "request")} without (keys unbound, or more of them than solutions)`;
  const keys = !isWhole && took.whole > 0 ? `${sent}${switched}` : sent;
  return [
    `    step ${pattern ?? ""}`,
    `      at ${endpoints.join(", ")}${more}`,
    `      ${expected}${counted(took.rows, "row")}, ${counted(took.requests, "request")}${keys}, ${kilobytes(took.bytes)}, ${took.ms} ms`,
  ];
}

/** Who is asked for a pattern, and what proves that the others have no match. */
type PlannedSources = readonly {
  readonly pattern: string;
  readonly members: readonly string[];
  readonly excluded: readonly (Certificate & { readonly members: number })[];
}[];

/** A plan as data for `/api/explain`. */
export function toPlanDescription(plan: QueryPlan): PlanDescription {
  const text = describePlan(plan);
  if (plan.kind === "rejected") {
    return { kind: plan.kind, endpoints: [], notes: [], problem: toProblem(plan.reason), text };
  }
  const { kind, answer, query } = plan;
  const shown = { kind, answer, endpoints: endpointsOf(plan), query, notes: notesOf(plan, "empty"), text };
  const sources = plan.kind === "federated" ? sourcesOf(plan) : undefined;
  return { ...shown, sources, facts: factsKnown(plan), portable: portablePlan(plan) };
}

function sourcesOf({ over, clauses }: FederatedPlan): PlannedSources | undefined {
  const merged = [over, ...clauses.map(({ endpoint }) => endpoint.over)].flatMap((each) =>
    each?.selection === undefined ? [] : [patternsOf(each.members, each.selection)],
  );
  return merged.length === 0 ? undefined : merged.flat();
}

function patternsOf(members: readonly PlannedEndpoint[], selection: SourceSelection): PlannedSources {
  return Object.entries(selection.patterns).map(([pattern, { sources, excluded }]) => ({
    pattern,
    members: sources.flatMap(({ member }) => members[member] ?? []).map(({ id, url }) => id ?? url),
    excluded: excluded.map(({ certificate, members: count }) => ({ ...certificate, members: count })),
  }));
}

/** The endpoints that a plan names, each once. */
export function endpointsOf(plan: DirectPlan | FederatedPlan): PlanDescription["endpoints"] {
  if (plan.kind === "direct") {
    return [{ ...named(plan.endpoint), clauses: 1, silent: plan.silent !== undefined }];
  }
  return plan.members.map(({ endpoint, clauses, silent }) => ({ ...named(endpoint), clauses, silent }));
}

function named({ id, url }: PlannedEndpoint): { endpoint: string; url: string } {
  return { endpoint: id ?? url, url };
}

/** A plan as indented text for people: kind, endpoints with their clauses, notes, query. Ends without a line break. */
export function describePlan(plan: QueryPlan): string {
  switch (plan.kind) {
    case "direct":
      return [
        `direct (${plan.answer})`,
        `  endpoint ${endpointLabel(plan.endpoint)}`,
        ...graphLines("default graph", plan.defaultGraphs),
        ...graphLines("named graph", plan.namedGraphs),
        ...(plan.silent
          ? ["  silent: a failure before the first row is one empty solution, a later one leaves a partial answer"]
          : []),
        ...noteLines(plan.notes),
        ...queryLines("query", plan.query),
        ...(plan.silent ? queryLines("after a failure", plan.silent.query) : []),
      ].join("\n");
    case "federated":
      return [
        `federated (${plan.answer})`,
        ...(plan.members.length === 0 ? [`  no endpoint: ${whyNone(plan)}`] : []),
        ...(plan.over ? [overLine(plan.over)] : []),
        ...plan.members.map((member) => memberLine(member)),
        ...(sourcesOf(plan) ?? []).map((source) => sourceLine(source)),
        ...noteLines(plan.notes),
        ...queryLines("query", plan.query),
      ].join("\n");
    default:
      return rejectionLines(plan.reason).join("\n");
  }
}

const whyNone = ({ notes }: FederatedPlan): string =>
  notes.some(({ code }) => code === "CLAUSES_LEFT_OUT")
    ? "none is known to have a match"
    : "evaluated here over the empty dataset";

function overLine({ federation, members, selection }: MergedMembers): string {
  const where = federation === undefined ? "" : `federation ${federation}: `;
  const [only] = members;
  if (members.length === 1 && only) return `  ${where}patterns are matched at ${only.id ?? only.url} and joined here`;
  return `  ${where}${selectionText(members.length, selection)}`;
}

function selectionText(members: number, { leftOut = 0, patterns = {}, facts }: Partial<SourceSelection> = {}): string {
  if (members === 0 && leftOut > 0) return "no member has a match";
  const others = leftOut === 0 ? "" : `, ${leftOut} more ${leftOut === 1 ? "has" : "have"} no match`;
  const isListed = Object.keys(patterns).length > 0;
  const whom = isListed ? "the patterns below say who is asked" : "each pattern is asked at all of them";
  const of = facts === undefined ? "" : `facts of ${facts.known} of ${facts.members} members; `;
  return `${members} members${others}; ${of}${whom}; their answers are one graph`;
}

/** Members that are named one by one. */
const namedAtMost = 5;

function sourceLine({ pattern, members, excluded }: PlannedSources[number]): string {
  const more = members.length > namedAtMost ? ` and ${members.length - namedAtMost} more` : "";
  const asked = members.length === 0 ? "nobody" : `${members.slice(0, namedAtMost).join(", ")}${more}`;
  const without = excluded.map(({ kind, members: count, seenAt }) => {
    const [one, several, seen] = reasons[kind];
    const when = seenAt === undefined ? "" : ` (${seen} ${seenAt.slice(0, 16).replace("T", " ")})`;
    return `${count} left out: ${count === 1 ? one : several}${when}`;
  });
  return `  pattern ${pattern} at ${[asked, ...without].join("; ")}`;
}

/** What each kind of certificate says of one member, of several, and how it was found. */
const reasons: Readonly<Record<Certificate["kind"], readonly [one: string, several: string, seen: string]>> = {
  properties: ["lacks the property", "lack the property", "described"],
  classes: ["lacks the class", "lack the class", "described"],
  triples: ["has no such triple", "have no such triple", "read"],
  partition: ["holds other subjects", "hold other subjects", "written"],
  asked: ["has no match", "have no match", "asked"],
  unnamed: ["is not described with it", "are not described with it", "described"],
};

function memberLine({ endpoint, clauses, silent }: FederationMember): string {
  const interfaceName = endpoint.interface === undefined ? "" : `, interface ${endpoint.interface}`;
  const count = clauses === 0 ? "" : `, ${clauses} ${clauses === 1 ? "clause" : "clauses"}`;
  return `  member ${endpointLabel(endpoint)}${interfaceName}${count}${silent ? ", silent" : ""}`;
}

const endpointLabel = ({ id, url }: PlannedEndpoint): string => (id === undefined ? `<${url}>` : `${id} <${url}>`);

const graphLines = (label: string, graphs: readonly string[]): string[] => graphs.map((iri) => `  ${label} <${iri}>`);

const noteLines = (notes: readonly PlanNote[]): string[] =>
  notes.map(({ code, message }) => `  note ${code}: ${message}`);

function queryLines(label: string, query: string): string[] {
  const lines = query.match(/^[^\S\r\n]*\S.*$/gm) ?? [];
  return [`  ${label}`, ...lines.map((line) => `    ${line.trimEnd()}`)];
}

function rejectionLines({ code, message, details }: FedwayError): string[] {
  const { line, column } = details.where ?? {};
  return [
    `rejected ${code}`,
    `  ${message}`,
    ...(line === undefined ? [] : [`  at line ${line}, column ${column}`]),
    ...(details.endpoints ? [`  endpoints: ${details.endpoints.join(", ")}`] : []),
    ...(details.next === undefined ? [] : [`  next: ${details.next}`]),
  ];
}
