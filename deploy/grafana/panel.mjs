// The parts that panels of the dashboard are made of.
export const j = 'job="fedway"';
export const of = `${j}, instance=~"$instance"`;
export const at = `${j}, endpoint=~"$endpoint"`;

/** A query and the legend of its series. */
export const q = (expr, legendFormat = "") => ({ expr, legendFormat });
export const rate = (metric, labels, by) => `sum by (${by}) (rate(${metric}{${labels}}[$__rate_interval]))`;
export const percentile = (share, buckets, by) =>
  `histogram_quantile(${share}, sum by (${by}, le) (rate(${buckets}[$__rate_interval])))`;

export const red = {
  mode: "absolute",
  steps: [
    { color: "green", value: null },
    { color: "red", value: 1 },
  ],
};
export const low = (limit) => ({
  mode: "absolute",
  steps: [
    { color: "red", value: null },
    { color: "green", value: limit },
  ],
});
export const share = (limit) => ({
  mode: "absolute",
  steps: [
    { color: "green", value: null },
    { color: "red", value: limit },
  ],
});

export const stat = ([title, description], query, { unit = "short", thresholds } = {}) => ({
  kind: "stat",
  title,
  description,
  queries: [query],
  unit,
  thresholds,
});
export const graph = ([title, description], queries, unit = "short") => ({
  kind: "timeseries",
  title,
  description,
  queries,
  unit,
});
export const table = ([title, description], query, unit = "short") => ({
  kind: "table",
  title,
  description,
  queries: [query],
  unit,
});
