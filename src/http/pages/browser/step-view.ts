import type { RunRecord } from "../../../query/run-log.ts";
import { counted, kilobytes } from "../../../query/run-text.ts";
import { element, shape } from "./elements.ts";

type StepReport = NonNullable<RunRecord["steps"]>[number];

/** Units of the picture's coordinates. */
const size = { width: 340, row: 34, bar: 8 };
const longestText = 60;

/** Others than the owner do not see what was asked. */
const clipped = (text = "a step"): string => (text.length > longestText ? `${text.slice(0, longestText - 1)}…` : text);

const number = (value: number): string => Math.round(value).toLocaleString("en");

function about({ rows, estimate, requests, keys, bytes, ms }: StepReport): string {
  const expected = estimate === undefined ? "" : ` (${number(estimate)} expected)`;
  const sent = keys === 0 ? "" : `, ${counted(keys, "join key")}`;
  return `${counted(rows, "row")}${expected}, ${counted(requests, "request")}${sent}, ${kilobytes(bytes)}, ${number(ms)} ms`;
}

/** When each step of a run was asked, and for how long; the same facts as a list. */
export function stepView(steps: readonly StepReport[]): readonly Node[] {
  if (steps.length === 0) return [];
  const end = Math.max(1, ...steps.map(({ at, ms }) => at + ms));
  const across = (ms: number): number => (ms / end) * size.width;
  const svg = shape("svg", {
    viewBox: `0 0 ${size.width} ${steps.length * size.row}`,
    class: "plan steps",
    role: "img",
    "aria-label": `${counted(steps.length, "step")} in ${number(end)} ms; the list has each of them`,
  });
  for (const [index, { pattern, at, ms }] of steps.entries()) {
    const y = index * size.row;
    svg.append(
      shape("text", { x: 0, y: y + 14 }, clipped(pattern)),
      shape("rect", {
        class: "node",
        x: across(at),
        y: y + 20,
        width: Math.max(1, across(ms)),
        height: size.bar,
        rx: 2,
      }),
    );
  }
  const items = steps.map((step) =>
    element("li", {}, element("code", {}, clipped(step.pattern)), ` at ${whereOf(step)}: ${about(step)}`),
  );
  return [svg, element("details", {}, element("summary", {}, "Steps"), element("ol", {}, ...items))];
}

function whereOf({ endpoints, asked }: StepReport): string {
  const more = asked - endpoints.length;
  return more > 0 ? `${endpoints.join(", ")} and ${more} more` : endpoints.join(", ");
}
