import { html, type Html } from "../../html.ts";
import { isFound, stateOf, type Watch } from "../../watch/watch.ts";
import { moment } from "./figures.ts";
import { badge, page, table } from "./layout.ts";
import { type CellLevel, drawStrip } from "./strip.ts";

/** What the page of watched queries shows. */
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
  const text = `${levels.length} runs: ${count("good")} as usual, ${count("bad", "mixed")} not, ${count("none")} not judged`;
  return drawStrip([...Array.from({ length: cells - levels.length }, (): CellLevel => "none"), ...levels], text);
}

function rowOf(watch: Watch, { incidentOf }: ShownWatches): Html {
  const { id, name, endpoint, federation, drifts, results } = watch;
  const state = stateOf(watch);
  const found = Object.values(drifts).map((drift) => {
    const path = isFound(drift) ? incidentOf(drift.endpoint, drift.summary) : undefined;
    return html`<div>${path === undefined ? drift.summary : html`<a href="${path}">${drift.summary}</a>`}</div>`;
  });
  const last = results.at(-1);
  const where = endpoint === undefined ? html`${federation}` : html`<a href="/endpoints/${endpoint}">${endpoint}</a>`;
  return html`<tr><th scope="row"><a href="/api/watches/${id}">${name}</a></th><td>${where}</td><td>${badge(marks[state], state)}</td><td>${stripOf(watch)}</td><td>${last === undefined ? "" : moment(last.atMs, false)}</td><td>${found.length > 0 ? found : last?.why}</td></tr>
`;
}

/** The watched queries, with their latest runs and what changed. */
export function watchesPage(shown: ShownWatches): string {
  const heads = ["Query", "Endpoint", "State", "Latest runs", "Last", "What changed"];
  const rows = shown.watches.map((watch) => rowOf(watch, shown));
  const none = html`<p>No query is watched. <code>fedway watches add FOLDER</code> adds some.</p>`;
  return page({
    title: "Watched queries - Fedway",
    main: html`<h1>Watched queries</h1>
${rows.length === 0 ? none : table({ name: "Watched queries", heads, rows })}<p class="small"><a href="/api/watches">As JSON</a></p>`,
  });
}
