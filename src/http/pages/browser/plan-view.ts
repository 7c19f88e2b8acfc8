import type { Problem } from "../../../errors/fedway-error.ts";
import type { PlanDescription } from "../../../query/explain.ts";
import type { RunRecord } from "../../../query/run-log.ts";
import { counted, marks } from "../../../query/run-text.ts";
import { element, shape } from "./elements.ts";
import { stepView } from "./step-view.ts";

type Source = RunRecord["sources"][number];

/** One endpoint of a query: what is planned for it, and what it has contributed. */
interface Member {
  readonly name: string;
  readonly clauses?: number;
  readonly silent: boolean;
  readonly source: Source | undefined;
}

/** What the plan view shows; the record's sources may name endpoints that the plan does not. */
export interface ShownPlan {
  readonly plan: PlanDescription | undefined;
  readonly sources: readonly Source[];
  readonly status: RunRecord["status"];
  /** What the steps of a federated plan took. */
  readonly steps?: RunRecord["steps"];
}

/** What is shown of a run: its plan arrives at one time, what endpoints contribute at others. */
export function createPlanDisplay(place: HTMLElement) {
  let shown: ShownPlan = { plan: undefined, sources: [], status: "running" };
  const show = (change: Partial<ShownPlan>): void => {
    shown = { ...shown, ...change };
    const isOpen = place.querySelector("details")?.open === true;
    place.replaceChildren(...planView(shown));
    const details = place.querySelector("details");
    if (details !== null) details.open = isOpen;
  };
  const noPlan = ({ code, detail }: Problem): void =>
    place.replaceChildren(element("p", { class: "muted" }, `No plan: ${detail} (${code})`));
  return {
    show,
    planned: (plan: PlanDescription | Problem): void => ("kind" in plan ? show({ plan }) : noPlan(plan)),
    ran: ({ sources, steps, status }: Omit<ShownPlan, "plan">): void => show({ sources, steps, status }),
  };
}

/** The plan as a picture, the endpoints as a table beneath it, and the plan's text: the same facts in three forms. */
function planView(shown: ShownPlan): readonly Node[] {
  const { plan } = shown;
  const members = membersOf(shown);
  const views: Node[] = plan === undefined ? [] : [picture(plan, members, shown.status)];
  if (members.length > 0) views.push(memberTable(members, shown.status));
  views.push(...stepView(shown.steps ?? []));
  if (plan === undefined) return views;
  const text = element("pre", { tabindex: "0", role: "group", "aria-label": "Plan as text" }, plan.text);
  return [...views, element("details", {}, element("summary", {}, "As text"), text)];
}

function membersOf({ plan, sources }: ShownPlan): readonly Member[] {
  const planned = (plan?.endpoints ?? []).map(
    ({ endpoint, clauses, silent }): Member => ({
      name: endpoint,
      clauses,
      silent,
      source: sources.find((source) => source.endpoint === endpoint),
    }),
  );
  const names = new Set(planned.map(({ name }) => name));
  const more = sources.filter(({ endpoint }) => !names.has(endpoint));
  return [...planned, ...more.map((source) => ({ name: source.endpoint, silent: false, source }))];
}

/** States of a source that had more to give than a whole answer needed: it is no fault that they were stopped. */
const stopped: Readonly<Partial<Record<RunRecord["status"], string>>> = {
  ok: "stopped: enough rows",
  empty: "stopped: not needed",
};

const stateOf = ({ source }: Member, status: RunRecord["status"]): string => {
  if (source === undefined) return status === "running" ? "waiting" : "not asked";
  if (source.status !== "pending" && source.status !== "cancelled") return source.status;
  if (source.status === "pending" && status === "running") return "asking";
  return stopped[status] ?? (source.status === "pending" ? "not finished" : source.status);
};

const rowsText = ({ source }: Member): string => (source?.rows === undefined ? "" : source.rows.toLocaleString("en"));

function memberRow(member: Member, status: RunRecord["status"]): HTMLElement {
  const { name, source } = member;
  const state = stateOf(member, status);
  const stateCell = element("td", {}, element("span", { class: `badge ${marks[state] ?? ""}` }, state));
  if (source?.reason !== undefined && state !== stopped[status])
    stateCell.append(element("span", { class: "reason" }, source.reason));
  const cells = [
    stateCell,
    element("td", { class: "n" }, source === undefined ? "" : String(source.requests)),
    element("td", { class: "n" }, rowsText(member)),
    element("td", { class: "n" }, source === undefined ? "" : `${Math.round(source.ms).toLocaleString("en")} ms`),
  ];
  return element("tr", {}, element("th", { scope: "row" }, name), ...cells);
}

function memberTable(members: readonly Member[], status: RunRecord["status"]): HTMLElement {
  const heads = ["Endpoint", "State"].map((text) => element("th", { scope: "col" }, text));
  const numbers = ["Requests", "Rows", "Took"].map((text) => element("th", { scope: "col", class: "n" }, text));
  const table = element(
    "table",
    {},
    element("thead", {}, element("tr", {}, ...heads, ...numbers)),
    element("tbody", {}, ...members.map((member) => memberRow(member, status))),
  );
  return element("div", { class: "scroll", role: "group", "aria-label": "Endpoints", tabindex: "0" }, table);
}

/** Units of the picture's coordinates; a unit is a pixel where there is room for all of it. */
const size = { width: 340, left: 104, box: 178, row: 52, height: 40 };
const mostDrawn = 20;
const longestName = 22;

const clipped = (text: string): string => (text.length > longestName ? `${text.slice(0, longestName - 1)}…` : text);

const kinds: Readonly<Record<string, readonly [title: string, subtitle: string]>> = {
  direct: ["Passed on", "one request"],
  federated: ["Joined here", "by Fedway"],
};

function memberShapes(member: Member, at: number, { middle, state }: { middle: number; state: string }): SVGElement[] {
  const { clauses = 0, silent, source } = member;
  const y = at * size.row + 6;
  const x = size.width - size.box - 1;
  const about = [
    clauses > 0 ? counted(clauses, "clause") : undefined,
    silent ? "silent" : undefined,
    source === undefined ? undefined : counted(source.requests, "request"),
    source?.rows === undefined ? undefined : counted(source.rows, "row"),
  ].filter((text) => text !== undefined);
  const centre = y + size.height / 2;
  const bend = (size.left + x) / 2;
  return [
    shape("path", { class: "edge", d: `M${size.left} ${middle}C${bend} ${middle} ${bend} ${centre} ${x} ${centre}` }),
    shape("rect", { class: `node ${marks[state] ?? ""}`, x, y, width: size.box, height: size.height, rx: 6 }),
    shape("text", { x: x + 10, y: y + 17, class: "name" }, clipped(member.name)),
    shape("text", { x: x + 10, y: y + 32 }, about.join(", ")),
  ];
}

/** Who is asked from where; for those who do not see it, one sentence, and the table has the rest. */
function picture(plan: PlanDescription, members: readonly Member[], status: RunRecord["status"]): SVGElement {
  const drawn = members.slice(0, mostDrawn);
  const more = members.length - drawn.length;
  const height = Math.max(1, drawn.length) * size.row + (more > 0 ? 24 : 0);
  const middle = (Math.max(1, drawn.length) * size.row) / 2;
  const [title, subtitle] = members.length === 0 ? ["Evaluated here", "no endpoint"] : (kinds[plan.kind] ?? ["", ""]);
  const names = drawn.map(({ name }) => name).join(", ");
  const svg = shape("svg", {
    viewBox: `0 0 ${size.width} ${height}`,
    class: "plan",
    role: "img",
    "aria-label": `Plan: ${title.toLowerCase()}, ${counted(members.length, "endpoint")}${names === "" ? "" : `: ${names}`}`,
  });
  for (const [at, member] of drawn.entries()) {
    svg.append(...memberShapes(member, at, { middle, state: stateOf(member, status) }));
  }
  svg.append(
    shape("rect", { class: "node root", x: 1, y: middle - 20, width: size.left - 1, height: 40, rx: 6 }),
    shape("text", { x: 10, y: middle - 3, class: "name" }, title),
    shape("text", { x: 10, y: middle + 12 }, subtitle),
  );
  if (more > 0) {
    svg.append(shape("text", { x: size.width - size.box, y: height - 8 }, `and ${more} more, in the table`));
  }
  return svg;
}
