import { amountText } from "../../../figures.ts";
import { type Html, html } from "../../../html.ts";
import type { PlanDescription, RunRecord } from "../../../query/records.ts";
import { planView } from "../../../views/plan-view.ts";
import { endpointsView, stateOf, stepsView } from "../../../views/run-view.ts";
import { viewHtml } from "../../../views/view-html.ts";
import { viewText } from "../../../views/view.ts";
import { draw } from "./elements.ts";

/** Content of the plan view; the record's sources may name endpoints that the plan does not. */
interface ShownPlan extends Pick<RunRecord, "sources" | "status" | "steps"> {
  readonly plan: PlanDescription | undefined;
}

/** Returns a function that draws what is known of a run: its plan arrives at one time, contributions at others. */
export function planDisplay(place: HTMLElement): (change: Partial<ShownPlan>) => void {
  let shown: ShownPlan = { plan: undefined, sources: [], status: "running" };
  place.replaceChildren();
  return (change) => {
    shown = { ...shown, ...change };
    draw(place, planHtml(shown));
  };
}

/** The plan as a picture, its endpoints and steps as tables, and its text: the same facts in three forms. */
function planHtml({ plan, sources, status, steps = [] }: ShownPlan): Html {
  const views = [endpointsView(sources, status, plan?.endpoints), ...stepsView(steps)];
  const tables = views.map((view) => viewHtml(view));
  if (plan === undefined) return html`${tables}`;
  const text = html`<pre tabindex="0" role="group" aria-label="Plan as text">${viewText(planView(plan))}</pre>`;
  return html`${picture({ plan, sources, status })}${tables}<details><summary>As text</summary>${text}</details>`;
}

/** Units of the picture's coordinates; a unit is a pixel where there is room for all of it. */
const size = { width: 340, left: 104, box: 178, row: 52, height: 40 };
const mostDrawn = 20;
const longestName = 22;

const clipped = (text: string): string => (text.length > longestName ? `${text.slice(0, longestName - 1)}…` : text);

const kinds: Readonly<Record<PlanDescription["kind"], readonly [title: string, subtitle: string]>> = {
  direct: ["Passed on", "one request"],
  federated: ["Joined here", "by Fedway"],
  rejected: ["Rejected", "no request"],
};

type Drawn = ShownPlan & { readonly plan: PlanDescription };

/** One box an endpoint, with the line that leads to it. */
function memberShapes({ plan, sources, status }: Drawn, name: string, [at, middle]: readonly [number, number]): Html {
  const planned = plan.endpoints.find(({ endpoint }) => endpoint === name);
  const source = sources.find(({ endpoint }) => endpoint === name);
  const y = at * size.row + 6;
  const x = size.width - size.box - 1;
  const about = [
    planned && planned.clauses > 0 && amountText(planned.clauses, "clause"),
    planned?.silent && "silent",
    source && amountText(source.requests, "request"),
    source?.rows !== undefined && amountText(source.rows, "row"),
  ].filter((text) => typeof text === "string");
  const centre = y + size.height / 2;
  const bend = (size.left + x) / 2;
  return html`<path class="edge" d="M${size.left} ${middle}C${bend} ${middle} ${bend} ${centre} ${x} ${centre}"/><rect class="node ${stateOf(source, status).mark ?? ""}" x="${x}" y="${y}" width="${size.box}" height="${size.height}" rx="6"/><text x="${x + 10}" y="${y + 17}" class="name">${clipped(name)}</text><text x="${x + 10}" y="${y + 32}">${about.join(", ")}</text>`;
}

/** The endpoints asked, and from where; one sentence for screen readers, as the table has the rest. */
function picture(drawn: Drawn): Html {
  const { plan, sources } = drawn;
  const names = [...new Set([...plan.endpoints, ...sources].map(({ endpoint }) => endpoint))];
  const first = names.slice(0, mostDrawn);
  const more = names.length - first.length;
  const middle = (Math.max(1, first.length) * size.row) / 2;
  const height = middle * 2 + (more > 0 ? 24 : 0);
  const [title, subtitle] = names.length === 0 ? ["Evaluated here", "no endpoint"] : kinds[plan.kind];
  const label = `Plan: ${title.toLowerCase()}, ${amountText(names.length, "endpoint")}${first.length === 0 ? "" : `: ${first.join(", ")}`}`;
  return html`<svg viewBox="0 0 ${size.width} ${height}" class="plan" role="img" aria-label="${label}">${first.map((name, at) => memberShapes(drawn, name, [at, middle]))}<rect class="node root" x="1" y="${middle - 20}" width="${size.left - 1}" height="40" rx="6"/><text x="10" y="${middle - 3}" class="name">${title}</text><text x="10" y="${middle + 12}">${subtitle}</text>${more > 0 ? html`<text x="${size.width - size.box}" y="${height - 8}">and ${more} more, in the table</text>` : ""}</svg>`;
}
