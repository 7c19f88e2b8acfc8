import type { PlanDescription } from "../query/records.ts";
import { codeView, noteFact, runView } from "./run-view.ts";
import { type Cell, firstOf, type View, viewText } from "./view.ts";
import { amountText, momentText } from "../figures.ts";

/** A plan as indented text. */
export const planText = (plan: PlanDescription): string => viewText(planView(plan));

/** Parts of a run that its plan has shown. */
const said = { plan: undefined, queryHash: undefined, asked: undefined };

/** A plan: its endpoints, what is asked where, notes and the query; with its run when it was analysed. */
export function planView(plan: PlanDescription): View {
  const { kind, answer, problem, query, silent, run, notes } = plan;
  if (problem !== undefined) return rejectionView(problem);
  return {
    title: answer === undefined ? kind : `${kind} (${answer})`,
    lines: [...endpointLines(plan), ...(plan.sources ?? []).map(sourceLine)],
    facts: notes.map(noteFact),
    children: [
      ...codeView("query", query),
      ...codeView("after a failure", silent?.query),
      ...(run === undefined ? [] : [runView({ ...run, notes: [], ...said })]),
    ],
  };
}

function rejectionView({
  code,
  detail,
  where: { line, column } = {},
  endpoints = [],
  next,
}: NonNullable<PlanDescription["problem"]>): View {
  return {
    title: `rejected ${code}`,
    lines: [detail, ...(line === undefined ? [] : [`at line ${line}, column ${column}`])],
    facts: [
      ["endpoints:", endpoints.length === 0 ? undefined : endpoints.join(", ")],
      ["next:", next],
    ],
  };
}

type Planned = PlanDescription["endpoints"][number];

const labelOf = ({ endpoint, url }: Planned): string => (endpoint === url ? `<${url}>` : `${endpoint} <${url}>`);

function endpointLines({ kind, endpoints, graphs, silent, over, ...plan }: PlanDescription): readonly Cell[] {
  if (kind === "direct") {
    return [
      ...endpoints.map((each) => `endpoint ${labelOf(each)}`),
      ...(graphs?.default ?? []).map((iri) => `default graph <${iri}>`),
      ...(graphs?.named ?? []).map((iri) => `named graph <${iri}>`),
      ...(silent === undefined ? [] : [silentText]),
    ];
  }
  return [
    ...(endpoints.length === 0 ? [`no endpoint: ${whyNone(plan)}`] : []),
    ...(over === undefined ? [] : [overText(over, plan)]),
    ...endpoints.map(memberText),
  ];
}

const silentText = "silent: a failure before the first row is one empty solution, a later one leaves a partial answer";

const whyNone = ({ notes }: Pick<PlanDescription, "notes">): string =>
  notes.some(({ code }) => code === "CLAUSES_LEFT_OUT")
    ? "none is known to have a match"
    : "evaluated here over the empty dataset";

type Over = NonNullable<PlanDescription["over"]>;

function overText(
  { federation, members, leftOut, only }: Over,
  { facts, sources = [] }: Pick<PlanDescription, "facts" | "sources">,
): string {
  const where = federation === undefined ? "" : `federation ${federation}: `;
  if (only !== undefined) return `${where}patterns are matched at ${only} and joined here`;
  if (members === 0 && leftOut > 0) return `${where}no member has a match`;
  const others = leftOut === 0 ? "" : `, ${leftOut} more ${leftOut === 1 ? "has" : "have"} no match`;
  const of = facts === undefined ? "" : `facts of ${facts.known} of ${amountText(facts.members, "member")}; `;
  const whom = sources.length > 0 ? "the patterns below name those asked" : "each pattern is asked at all of them";
  return `${where}${amountText(members, "member")}${others}; ${of}${whom}; their answers are one graph`;
}

function memberText(member: Planned): string {
  const { interface: its, clauses, silent } = member;
  const about = [its && `interface ${its}`, clauses > 0 && amountText(clauses, "clause"), silent && "silent"];
  return [`member ${labelOf(member)}`, ...about.filter(Boolean)].join(", ");
}

type Source = NonNullable<PlanDescription["sources"]>[number];
type Excluded = Source["excluded"][number];

/** Members that are named one by one. */
const namedAtMost = 5;

function sourceLine({ pattern, members, excluded }: Source): string {
  const asked = members.length === 0 ? "none" : firstOf(members, namedAtMost).join(", ");
  return `pattern ${pattern} at ${[asked, ...excluded.map(excludedText)].join("; ")}`;
}

function excludedText({ kind, members, seenAt }: Excluded): string {
  const [one, several, seen] = reasons[kind];
  const when = seenAt === undefined ? "" : ` (${seen} ${momentText(seenAt)})`;
  return `${members} left out: ${members === 1 ? one : several}${when}`;
}

/** Evidence about one member, about several, and how it was found. */
const reasons: Readonly<Record<Excluded["kind"], readonly [one: string, several: string, seen: string]>> = {
  properties: ["lacks the property", "lack the property", "described"],
  classes: ["lacks the class", "lack the class", "described"],
  triples: ["has no such triple", "have no such triple", "read"],
  partition: ["holds other subjects", "hold other subjects", "written"],
  asked: ["has no match", "have no match", "asked"],
  unnamed: ["is not described with it", "are not described with it", "described"],
};
