// Writes dashboards/fedway.json, or the file that is named, from state-rows.mjs and load-rows.mjs. A test compares the two, so run this, and the
// formatter, after a change.
import { writeFile } from "node:fs/promises";
import { loadRows } from "./load-rows.mjs";
import { stateRows } from "./state-rows.mjs";

const rows = [...stateRows, ...loadRows];
const target = process.argv[2] ?? new URL("dashboards/fedway.json", import.meta.url);
const datasource = { type: "prometheus", uid: "fedway-prometheus" };
const j = 'job="fedway"';

const sizes = { stat: { w: 3, h: 4 }, timeseries: { w: 8, h: 8 }, table: { w: 8, h: 8 } };
const letters = "ABCDEFGH";

function panel({ kind, title, description, queries, unit, thresholds }, id, gridPos) {
  const instant = kind !== "timeseries";
  return {
    id,
    type: kind,
    title,
    description,
    datasource,
    gridPos,
    targets: queries.map(({ expr, legendFormat }, index) => ({
      refId: letters[index],
      datasource,
      expr,
      legendFormat,
      instant,
      range: !instant,
      ...(kind === "table" && { format: "table" }),
    })),
    fieldConfig: { defaults: { unit, ...(thresholds && { thresholds }) }, overrides: [] },
    ...(kind === "timeseries" && {
      options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi" } },
    }),
    ...(kind === "stat" && {
      options: { colorMode: thresholds ? "value" : "none", reduceOptions: { calcs: ["lastNotNull"] } },
    }),
    ...(kind === "table" && {
      transformations: [{ id: "organize", options: { excludeByName: { Time: true, job: true } } }],
    }),
  };
}

function layOut() {
  const panels = [];
  let y = 0;
  for (const [title, inRow] of rows) {
    panels.push({
      id: panels.length + 1,
      type: "row",
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: 24, h: 1 },
      panels: [],
    });
    y += 1;
    let x = 0;
    let height = 0;
    for (const one of inRow) {
      const { w, h } = sizes[one.kind];
      if (x + w > 24) {
        x = 0;
        y += height;
      }
      panels.push(panel(one, panels.length + 1, { x, y, w, h }));
      x += w;
      height = h;
    }
    y += height;
  }
  return panels;
}

const variable = (name, label, query) => ({
  name,
  label,
  type: "query",
  datasource,
  query: { query, refId: name },
  definition: query,
  refresh: 2,
  includeAll: true,
  multi: true,
  allValue: ".*",
  current: { text: "All", value: "$__all" },
  sort: 1,
});

const dashboard = {
  uid: "fedway",
  title: "Fedway",
  description: "Is it up? Which endpoint? Theirs, or our network? Who loads it? Will it run out?",
  tags: ["fedway"],
  schemaVersion: 41,
  version: 1,
  editable: false,
  graphTooltip: 1,
  time: { from: "now-6h", to: "now" },
  refresh: "30s",
  templating: {
    list: [
      variable("instance", "Process", `label_values(fedway_build_info{${j}}, instance)`),
      variable(
        "endpoint",
        "Endpoint",
        `label_values({__name__=~"fedway_endpoint_up|fedway_upstream_requests_total", ${j}}, endpoint)`,
      ),
    ],
  },
  annotations: { list: [] },
  panels: layOut(),
};

await writeFile(target, `${JSON.stringify(dashboard, null, 2)}\n`);
