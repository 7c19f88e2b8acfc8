import {
  ArcElement,
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  PieController,
  PointElement,
  Tooltip,
} from "chart.js";
import type { Cells } from "./cells.ts";
import { choice, labelOf, sentence } from "./parts.ts";

Chart.register(ArcElement, BarController, BarElement, CategoryScale, Legend, LinearScale);
Chart.register(LineController, LineElement, PieController, PointElement, Tooltip);

const kinds = ["bar", "line", "pie"] as const;
type Kind = (typeof kinds)[number];

const mostRows = 500;
const colours = ["#2f86d0", "#2f9e69", "#c9722b", "#8a5fc7", "#b9455f", "#5f7d8c", "#8f8a22", "#2b9aa8"];

/** Draws columns of numbers over the first other column. */
export function drawChart(place: HTMLElement, given: Cells): () => void {
  const canvas = document.createElement("canvas");
  canvas.setAttribute("role", "img");
  const frame = document.createElement("div");
  frame.className = "canvas";
  frame.append(canvas);
  let chart: Chart | undefined;
  const kind = choice("Kind", kinds, () => show());
  const values = choice("Values", [all, ...given.numbers], () => show());
  const axis = choice("Labels", [...given.columns, rowNumber], () => show());
  axis.select.value = given.columns.find((column) => !given.numbers.includes(column)) ?? rowNumber;
  const show = (): void => {
    chart?.destroy();
    const shown = kinds.find((each) => each === kind.select.value) ?? "bar";
    const axisName = axis.select.value;
    const series = seriesOf(given, shown, values.select.value).filter((column) => column !== axisName);
    canvas.setAttribute("aria-label", `${shown} chart of ${series.join(", ")} by ${axisName}`);
    chart = new Chart(canvas, configOf(given, shown, { axis: axisName, series }));
  };
  place.append(kind.label, values.label, axis.label, ...limits(given), frame);
  show();
  return () => chart?.destroy();
}

const rowNumber = "(row)";
const all = "(all)";

/** A pie shows one column. */
function seriesOf({ numbers }: Cells, kind: Kind, chosen: string): readonly string[] {
  if (chosen !== all) return [chosen];
  return kind === "pie" ? numbers.slice(0, 1) : numbers;
}

interface Shown {
  /** Column of the labels. */
  readonly axis: string;
  readonly series: readonly string[];
}

function configOf({ rows }: Cells, type: Kind, { axis, series }: Shown) {
  const shown = rows.slice(0, mostRows);
  const text = getComputedStyle(document.body).color;
  return {
    type,
    data: {
      labels: shown.map((row, at) => (axis === rowNumber ? String(at + 1) : labelOf(row[axis]))),
      datasets: series.map((column, at) => ({
        label: column,
        // A missing value leaves a gap: unknown is not zero.
        data: shown.map((row) => (row[column] === undefined ? null : Number(row[column].value))),
        backgroundColor: type === "pie" ? colours : colours[at % colours.length],
        borderColor: type === "pie" ? undefined : colours[at % colours.length],
      })),
    },
    options: { animation: false as const, maintainAspectRatio: false, color: text, scales: scalesOf(type, text) },
  };
}

const scalesOf = (type: Kind, color: string) =>
  type === "pie" ? {} : { x: { ticks: { color } }, y: { beginAtZero: true, ticks: { color } } };

const limits = ({ rows }: Cells): readonly HTMLElement[] =>
  rows.length > mostRows ? [sentence(`The first ${mostRows} of ${rows.length} rows.`)] : [];
