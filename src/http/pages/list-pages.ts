import type { Job, JobState } from "../../jobs/job-queue.ts";
import type { HealthState } from "../../monitor/monitor.ts";
import { healthStates } from "../../monitor/monitor.ts";
import type { CatalogEntry, Federation } from "../../registry/catalog.ts";
import { html, joined, type Piece } from "../../html.ts";
import type { HttpShell, TypedApp } from "../http-deps.ts";
import { pageAt } from "../paging.ts";
import { hasAccess } from "../write-access.ts";
import { jobView, listedJobs } from "../job-view.ts";
import { choiceOf } from "./catalog-filter.ts";
import { latencyText, numberText } from "../../figures.ts";
import { momentOf } from "./figures.ts";
import { badge, choicesOf } from "./layout.ts";
import { addListPage, searchOf } from "./list-page.ts";

const shownAtOnce = 50;

/** `3 up, 1 down`, each as a badge. */
function statesOf(members: readonly CatalogEntry[], stateOf: (id: string) => HealthState): Piece {
  const counted = Map.groupBy(members, ({ id }) => stateOf(id));
  const badges = healthStates.flatMap((state) => {
    const those = counted.get(state);
    return those === undefined ? [] : badge(state, `${numberText(those.length)} ${state}`);
  });
  return joined(badges, " ");
}

const longest = 200;

const nameOf = ({ id, title, description = "" }: Federation): Piece =>
  html`<a href="/federations/${id}">${title}</a><div class="small muted">${description.length > longest ? `${description.slice(0, longest)}…` : description}</div>`;

type FederationRow = { readonly federation: Federation; readonly members: readonly CatalogEntry[] };

const addFederations = (app: TypedApp, { catalog, monitor }: HttpShell): void =>
  addListPage<FederationRow>(
    app,
    "/federations",
    "The federations of the catalogue as a page to read",
    async (request) => {
      const cursor = searchOf(request).get("cursor") ?? undefined;
      const { items, next } = pageAt(catalog.federations, { limit: shownAtOnce, cursor });
      const states = new Map(monitor.all().map(({ endpoint, state }) => [endpoint, state]));
      return {
        title: "Federations",
        part: "federations",
        intro: html`Each answers a query without <code>SERVICE</code> from all of its members, as one dataset.`,
        columns: [
          ["Federation", ({ federation }) => nameOf(federation)],
          ["#Members", ({ members }) => numberText(members.length)],
          ["State", ({ members }) => statesOf(members, (id) => states.get(id) ?? "unknown")],
        ],
        rows: items.map((federation) => ({ federation, members: catalog.membersOf(federation) })),
        empty: "The catalogue has no federation.",
        cursor,
        next,
      };
    },
  );

const jobStates: readonly JobState[] = ["waiting", "running", "done", "failed", "cancelled"];
const stateBadges = { waiting: "unknown", running: "work", done: "up", failed: "down", cancelled: "unknown" } as const;

function tookOf({ startedAt, finishedAt }: Partial<Job>): Piece {
  if (startedAt === undefined) return "";
  return finishedAt === undefined
    ? html`since ${momentOf(startedAt)}`
    : latencyText(Date.parse(finishedAt) - Date.parse(startedAt));
}

const aboutJob = ({ progress, error }: Partial<Job>): Piece =>
  error === undefined ? (progress?.stage ?? "") : html`${error.message} <code>${error.code}</code>`;

const addJobs = (app: TypedApp, { jobs }: HttpShell): void =>
  addListPage<Partial<Job>>(app, "/jobs", "Work in the background as a page to read", async (request) => {
    const search = searchOf(request);
    const [kind, cursor] = ["kind", "cursor"].map((name) => search.get(name)?.slice(0, 400) || undefined);
    const state = choiceOf(search, "state", jobStates);
    const { items, next } = await listedJobs(jobs, { kind, state, limit: shownAtOnce, cursor });
    return {
      title: "Jobs",
      intro: html`Work in the background, newest first. ${hasAccess(request) ? "" : html`<a href="/login">Sign in</a> as an operator to see progress and errors.`}`,
      fields: [
        { name: "kind", label: "Kind", value: kind },
        { name: "state", label: "State", value: state, choices: choicesOf(jobStates) },
      ],
      columns: [
        ["Job", ({ id = "" }) => html`<a href="/api/jobs/${id}">${id}</a>`],
        ["State", ({ state: now = "waiting" }) => badge(stateBadges[now], now)],
        ["Kind", (job) => job.kind],
        ["Asked for", ({ createdAt = "" }) => momentOf(createdAt)],
        ["Took", tookOf],
        ["#Attempts", ({ attempts }) => attempts],
        ...(hasAccess(request) ? ([["About", aboutJob]] as const) : []),
      ],
      rows: items.map(jobView(request)),
      empty: "No job is known.",
      cursor,
      next,
      isPrivate: true,
    };
  });

/** Pages that list federations and jobs. */
export function addListPages(app: TypedApp, shell: HttpShell): void {
  addFederations(app, shell);
  addJobs(app, shell);
}
