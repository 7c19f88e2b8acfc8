import { amountText } from "../../figures.ts";
import { html, type Html, type Piece } from "../../html.ts";
import type { Incident } from "../../monitor/monitor.ts";
import { isFound, stateOf, type Watch } from "../../watch/watch.ts";
import type { HttpShell, TypedApp } from "../http-deps.ts";
import { moment } from "./figures.ts";
import { badge, endpointLink } from "./layout.ts";
import { addListPage } from "./list-page.ts";
import { type CellLevel, drawStrip } from "./strip.ts";

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
  endpoint === undefined ? html`<a href="/federations/${federation}">${federation}</a>` : endpointLink(endpoint);

function changesOf({ drifts, results }: Watch, open: readonly Incident[]): Piece {
  const found = Object.values(drifts).map((drift) => {
    const incident =
      isFound(drift) &&
      open.find(({ endpoint, summary }) => endpoint === drift.endpoint && summary?.endsWith(drift.summary));
    return html`<div>${incident ? html`<a href="/incidents/${incident.id}">${drift.summary}</a>` : drift.summary}</div>`;
  });
  return found.length > 0 ? found : (results.at(-1)?.why ?? "");
}

function lastOf({ results }: Watch): Piece {
  const last = results.at(-1);
  return last === undefined ? "" : moment(last.atMs, false);
}

/** `/watches`: the watched queries, with their latest runs and what changed. */
export const addWatches = (app: TypedApp, { watches, monitor }: HttpShell): void =>
  addListPage<Watch>(
    app,
    "/watches",
    "Watched queries and what changed in their answers, as a page to read",
    async () => {
      const open = await monitor.incidents({ open: true, limit: 1_000 });
      return {
        title: "Watched queries",
        intro: "Queries that run on a schedule; a changed answer opens an incident.",
        columns: [
          ["Query", ({ id, name }) => html`<a href="/api/watches/${id}">${name}</a>`],
          ["Endpoint", whereOf],
          ["State", (watch) => badge(marks[stateOf(watch)], stateOf(watch))],
          ["Latest runs", stripOf],
          ["Last", lastOf],
          ["What changed", (watch) => changesOf(watch, open)],
        ],
        rows: await watches.list(),
        empty: html`No query is watched. <code>fedway watches add FOLDER</code> adds some.`,
      };
    },
  );
