import { amountText } from "../../figures.ts";
import { html, type Html, type Piece } from "../../html.ts";
import { isFound, stateOf, type Watch } from "../../watch/watch.ts";
import { moment } from "./figures.ts";
import { badge } from "./layout.ts";
import { listPage } from "./list-page.ts";
import { type CellLevel, drawStrip } from "./strip.ts";

/** Content of the page of watched queries. */
interface ShownWatches {
  readonly watches: readonly Watch[];
  /** Path of the open incident about a drift. */
  readonly incidentOf: (endpoint: string, summary: string) => string | undefined;
}

const marks = { drift: "down", suspect: "work", "not run": "unknown", learning: "unknown", holds: "up" } as const;
const cells = 25;

function levelOf({ status, drifts }: Watch["results"][number]): CellLevel {
  if (status === "not run") return "none";
  if (drifts !== undefined) return "bad";
  return status === "failed" ? "mixed" : "good";
}

function stripOf({ results }: Watch): Html {
  const levels = results.slice(-cells).map(levelOf);
  const count = (...wanted: CellLevel[]): number => levels.filter((level) => wanted.includes(level)).length;
  const text = `${amountText(levels.length, "run")}: ${count("good")} as usual, ${count("bad", "mixed")} not, ${count("none")} not judged`;
  return drawStrip([...Array.from({ length: cells - levels.length }, (): CellLevel => "none"), ...levels], text);
}

const whereOf = ({ endpoint, federation }: Watch): Html =>
  endpoint === undefined
    ? html`<a href="/federations/${federation}">${federation}</a>`
    : html`<a href="/endpoints/${endpoint}">${endpoint}</a>`;

function changesOf({ drifts, results }: Watch, incidentOf: ShownWatches["incidentOf"]): Piece {
  const found = Object.values(drifts).map((drift) => {
    const path = isFound(drift) ? incidentOf(drift.endpoint, drift.summary) : undefined;
    return html`<div>${path === undefined ? drift.summary : html`<a href="${path}">${drift.summary}</a>`}</div>`;
  });
  return found.length > 0 ? found : (results.at(-1)?.why ?? "");
}

/** The watched queries, with their latest runs and what changed. */
export const watchesPage = ({ watches, incidentOf }: ShownWatches): string =>
  listPage({
    title: "Watched queries",
    path: "/watches",
    intro: "Queries that run on a schedule; a changed answer opens an incident.",
    columns: [
      ["Query", ({ id, name }) => html`<a href="/api/watches/${id}">${name}</a>`],
      ["Endpoint", whereOf],
      ["State", (watch) => badge(marks[stateOf(watch)], stateOf(watch))],
      ["Latest runs", stripOf],
      ["Last", ({ results }) => (results.length === 0 ? "" : moment(results.at(-1)?.atMs ?? 0, false))],
      ["What changed", (watch) => changesOf(watch, incidentOf)],
    ],
    rows: watches,
    empty: html`No query is watched. <code>fedway watches add FOLDER</code> adds some.`,
  });
