import { type Html, html } from "../../html.ts";

/** Meaning of one cell of a strip: every probe was good, some were, none was, or there was none. */
export type CellLevel = "good" | "mixed" | "bad" | "none";

/** Equal spans of time, one beside the other. */
export interface StripScale {
  /** Beginning of the first span, in milliseconds. */
  readonly fromMs: number;
  readonly spanMs: number;
  readonly cells: 25 | 90;
  /** Name of the spans, in the singular. */
  readonly unit: "hour" | "day";
}

const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** The last 24 hours and the one that runs. */
export const hourScale = (nowMs: number): StripScale => ({
  fromMs: Math.floor(nowMs / hourMs) * hourMs - 24 * hourMs,
  spanMs: hourMs,
  cells: 25,
  unit: "hour",
});

/** The last 90 days (UTC), the one that runs included. */
export const dayScale = (nowMs: number): StripScale => ({
  fromMs: Math.floor(nowMs / dayMs) * dayMs - 89 * dayMs,
  spanMs: dayMs,
  cells: 90,
  unit: "day",
});

interface Probes {
  readonly fromMs: number;
  readonly probes: number;
  readonly good: number;
}

function levelOf({ probes, good }: Probes): CellLevel {
  if (probes === 0) return "none";
  if (good === probes) return "good";
  return good === 0 ? "bad" : "mixed";
}

/** The summary of each span of the scale; undefined where there is none. */
export function summariesBySpan<Summary extends Probes>(
  { fromMs, spanMs, cells }: StripScale,
  summaries: readonly Summary[],
): readonly (Summary | undefined)[] {
  const spans: (Summary | undefined)[] = [];
  for (let at = 0; at < cells; at++) spans.push(undefined);
  for (const summary of summaries) {
    const at = Math.floor((summary.fromMs - fromMs) / spanMs);
    if (at >= 0 && at < cells) spans[at] = summary;
  }
  return spans;
}

/** Levels of the cells of a strip. */
export const levelsOf = (scale: StripScale, summaries: readonly Probes[]): readonly CellLevel[] =>
  summariesBySpan(scale, summaries).map((summary) => (summary === undefined ? "none" : levelOf(summary)));

/** Trouble stands out: worse cells are taller. Heights repeat the colours. */
const shapes: Readonly<Record<CellLevel, { readonly style: string; readonly top: number }>> = {
  none: { style: "o", top: 8 },
  good: { style: "g", top: 4 },
  mixed: { style: "m", top: 2 },
  bad: { style: "b", top: 0 },
};
const levels: readonly CellLevel[] = ["none", "good", "mixed", "bad"];
const height = 10;

/** One path a level, and one box a run of equal cells, so that a thousand strips stay small. */
function pathsOf(cells: readonly CellLevel[]): readonly Html[] {
  const boxes: Record<CellLevel, string> = { none: "", good: "", mixed: "", bad: "" };
  let from = 0;
  for (const [at, level] of cells.entries()) {
    if (cells[at + 1] === level) continue;
    const { top } = shapes[level];
    const width = at + 1 - from;
    boxes[level] += `M${from} ${top}h${width}V${height}H${from}z`;
    from = at + 1;
  }
  return levels
    .filter((level) => boxes[level] !== "")
    .map((level) => html`<path class="${shapes[level].style}" d="${boxes[level]}"/>`);
}

/** The cells in words: `22 hours good, 1 with faults, 2 without data`. */
export function stripText(cells: readonly CellLevel[], unit: StripScale["unit"]): string {
  const count = (wanted: CellLevel): number => cells.filter((level) => level === wanted).length;
  const words: readonly (readonly [CellLevel, string])[] = [
    ["good", "good"],
    ["mixed", "with faults"],
    ["bad", "down"],
    ["none", "without data"],
  ];
  const told = words.filter(([level]) => count(level) > 0).map(([level, text]) => `${count(level)} ${text}`);
  return `${cells.length} ${unit}s: ${told.join(", ")}`;
}

/** One strip with what it says in words. */
export const drawStrip = (cells: readonly CellLevel[], text: string, look = `strip s${cells.length}`): Html =>
  html`<svg class="${look}" viewBox="0 0 ${cells.length} ${height}" preserveAspectRatio="none" role="img" aria-label="${text}">${pathsOf(cells)}</svg>`;

/** Draws strips of one scale, oldest cell first; equal ones, of which a page has many, are drawn once. */
export function createStrips(scale: StripScale, size?: "large"): (summaries: readonly Probes[]) => Html {
  const drawn = new Map<string, Html>();
  const look = `strip s${scale.cells}${size === undefined ? "" : ` ${size}`}`;
  return (summaries) => {
    const cells = levelsOf(scale, summaries);
    const key = cells.join(" ");
    const known = drawn.get(key);
    if (known !== undefined) return known;
    const drawing = drawStrip(cells, stripText(cells, scale.unit), look);
    drawn.set(key, drawing);
    return drawing;
  };
}

const sample = (level: CellLevel, text: string): Html =>
  html`<li><svg viewBox="0 0 1 ${height}" preserveAspectRatio="none" aria-hidden="true">${pathsOf([level])}</svg>${text}</li>`;

/** Legend of strips. */
export const stripKey = (
  unit: StripScale["unit"] | "span",
): Html => html`<ul class="key" aria-label="What the strips mean">
${sample("good", `every probe of the ${unit} was good`)}
${sample("mixed", "some failed")}
${sample("bad", "all failed")}
${sample("none", "no data")}
</ul>`;
