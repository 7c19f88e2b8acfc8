import { amountText, latencyText, momentText, numberText, sizeText } from "../figures.ts";
import type { PlanDescription, RunRecord, RunStatus } from "../query/records.ts";
import { type Cell, type Fact, firstOf, unknown, type Value, type View } from "./view.ts";

type Source = RunRecord["sources"][number];
type Step = NonNullable<RunRecord["steps"]>[number];

/** Badges of the states of runs and their sources; a state without one is outlined. */
export const marks: Readonly<Record<string, string>> = {
  ok: "up",
  partial: "work",
  silenced: "work",
  skipped: "work",
  timeout: "down",
  failed: "down",
  cancelled: "down",
};

/** One run: how it ended, what each endpoint gave, and when each step was asked. */
export function runView(record: RunRecord): View {
  const { id, status, notes, sources, steps = [], asked } = record;
  return {
    title: `run ${status}`,
    lines: [meaningOf(record)],
    facts: [["id", { text: id, look: "code" }], ...factsOf(record), ...notes.map(noteFact)],
    children: [endpointsView(sources, status), ...stepsView(steps), ...codeView("query sent", asked?.query)],
  };
}

/** Text with line ends of its own, where there is any. */
export const codeView = (title: string, code: string | undefined): readonly View[] =>
  code === undefined ? [] : [{ title, code }];

/** A note by its code. */
export const noteFact = ({ code, message }: RunRecord["notes"][number]): Fact => [`note ${code}:`, message];

const meanings: Readonly<Record<RunStatus, string>> = {
  running: "Not finished yet.",
  ok: "Complete.",
  empty: "Complete: nothing fits the query.",
  partial: "Something is missing. Every row that was given is in the true answer.",
  failed: "The query failed. If part of an answer was sent, do not use it.",
  cancelled: "Cancelled before the answer was complete.",
};

/** The status of a run as a sentence, with the reason of a failure. */
export function meaningOf({ status, partial, detail }: Pick<RunRecord, "status" | "partial" | "detail">): string {
  const meaning = partial === "uncertain" ? uncertain : meanings[status];
  return detail === undefined ? meaning : `${meaning} ${detail}`;
}

const uncertain =
  "Something is missing. Some rows may be wrong, because the query uses MINUS, counts or OPTIONAL on missing data.";

/** Rows, requests, bytes and time. */
function factsOf({ rows, durationMs, startedAt, bytes, plan, call, code, ...record }: RunRecord): readonly Fact[] {
  const requests = record.sources.reduce((sum, source) => sum + source.requests, 0);
  return [
    ["rows", known(rows)],
    ["took", durationMs === undefined ? undefined : latencyText(durationMs)],
    ["started", { text: momentText(startedAt), time: startedAt }],
    ["requests", numberText(requests)],
    ["received", sizeText(bytes)],
    ["plan", plan ?? call],
    ["code", code && { text: code, look: "code" }],
    ["SHA-256 of the query", record.queryHash && { text: record.queryHash, look: "code" }],
  ];
}

const known = (value: number | undefined): Cell => (value === undefined ? unknown : numberText(Math.round(value)));

/** Endpoints of a plan or run: what each gives, or has given. */
export function endpointsView(
  sources: readonly Source[],
  status: RunStatus | undefined,
  planned: PlanDescription["endpoints"] = [],
): View {
  const names = new Set([...planned, ...sources].map(({ endpoint }) => endpoint));
  const found = new Map(sources.map((source) => [source.endpoint, source]));
  const row = (endpoint: string): readonly Cell[] => [
    { text: endpoint, endpoint },
    stateOf(found.get(endpoint), status),
    ...amountsOf(found.get(endpoint)),
  ];
  return {
    title: names.size === 0 ? "no endpoint asked" : amountText(names.size, "endpoint"),
    ...(names.size > 0 && {
      table: { columns: ["Endpoint", "State", "#Requests", "#Rows", "#Received", "#Took"], rows: [...names].map(row) },
    }),
  };
}

const amountsOf = (source: Source | undefined): readonly Cell[] =>
  source === undefined
    ? []
    : [numberText(source.requests), known(source.rows), sizeText(source.bytes), latencyText(source.ms)];

/** The state of a source. One that had more to give than a complete answer needed has not failed. */
export function stateOf(source: Source | undefined, run: RunStatus | undefined): Value {
  if (source === undefined) return { text: unasked[run ?? "planned"] ?? "not asked", mark: "" };
  const { status } = source;
  if (status === "pending" && run === "running") return { text: "asking", mark: "" };
  const isStopped = status === "pending" || status === "cancelled";
  if (isStopped && (run === "ok" || run === "empty")) return { text: "stopped: no more was needed", mark: "" };
  const text = status === "pending" ? "not finished" : status;
  return { text, mark: marks[status] ?? "", more: reasonsOf(source) };
}

const unasked: Readonly<Record<string, string>> = { planned: "planned", running: "waiting" };

function reasonsOf({ mirror, reason, leftAlone, learned = [], cached = 0, shared = 0 }: Source): Cell {
  const reasons: readonly Cell[] = [
    leftAlone === undefined ? reason : `cooling down since ${leftAlone.since}, asked again at ${leftAlone.until}`,
    mirror && { text: `asked at its mirror ${mirror}`, endpoint: mirror },
    cached + shared > 0 ? `${amountText(cached + shared, "answer")} without a request` : undefined,
    ...learned,
  ];
  return reasons.some((each) => each !== undefined) ? reasons.filter((each) => each !== undefined) : undefined;
}

const mostEndpoints = 10;

/** Steps on one axis of time, each with its expected and actual rows. */
export function stepsView(steps: readonly Step[]): readonly View[] {
  if (steps.length === 0) return [];
  const end = Math.max(1, ...steps.map(({ at, ms }) => at + ms));
  const row = ({
    pattern = "a step",
    endpoints,
    asked,
    estimate,
    rows,
    requests,
    keys,
    whole,
    bytes,
    at,
    ms,
  }: Step): readonly Cell[] => [
    {
      text: pattern,
      look: "code",
      more: firstOf(
        endpoints.map((endpoint) => ({ text: endpoint, endpoint })),
        mostEndpoints,
        asked,
      ),
    },
    { text: `${latencyText(at)} to ${latencyText(at + ms)}`, bar: { from: at, to: at + ms, of: end } },
    known(estimate),
    numberText(rows),
    numberText(requests),
    keys === 0
      ? "none"
      : { text: numberText(keys), ...(whole > 0 && { more: `${amountText(whole, "request")} without` }) },
    sizeText(bytes),
    latencyText(ms),
  ];
  const columns = [
    "Step",
    `When, of ${latencyText(end)}`,
    "#Expected",
    "#Rows",
    "#Requests",
    "#Join keys",
    "#Received",
    "#Took",
  ];
  return [
    {
      title: "steps",
      lines: ["In the order of their first requests. Expected are the rows without join keys."],
      table: { columns, rows: steps.map(row) },
    },
  ];
}
