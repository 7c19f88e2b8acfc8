import type { HealthState } from "../../monitor/monitor.ts";
import { healthStates } from "../../monitor/monitor.ts";
import type { CatalogEntry, Federation } from "../../registry/catalog/catalog.ts";
import { html, joined, type Piece } from "../../html.ts";
import type { HttpShell, TypedApp } from "../http-deps.ts";
import { pageAt } from "../paging.ts";
import { numberText } from "../../figures.ts";
import { badge } from "./layout.ts";
import { listPage, searchOf } from "./list-page.ts";
import { sendPage } from "./page-reply.ts";
import { watchesPage } from "./watches-page.ts";

const tags = ["Pages"];
const shownAtOnce = 50;

/** `3 up, 1 down`, each as a badge. */
function statesOf(members: readonly CatalogEntry[], stateOf: (id: string) => HealthState): Piece {
  const counted = Map.groupBy(members, ({ id }) => stateOf(id));
  const present = healthStates.filter((state) => counted.has(state));
  return joined(
    present.map((state) => badge(state, `${numberText(counted.get(state)?.length ?? 0)} ${state}`)),
    " ",
  );
}

const longest = 200;

const nameOf = ({ id, title, description = "" }: Federation): Piece =>
  html`<a href="/federations/${id}">${title}</a><div class="small muted">${description.length > longest ? `${description.slice(0, longest)}…` : description}</div>`;

function addFederations(app: TypedApp, { catalog, monitor }: HttpShell): void {
  app.get("/federations", {
    schema: { tags, summary: "The federations of the catalogue as a page to read" },
    handler: async (request, reply) => {
      const cursor = searchOf(request).get("cursor") ?? undefined;
      const { items, next } = pageAt(catalog.federations, { limit: shownAtOnce, cursor });
      const states = new Map(monitor.all().map(({ endpoint, state }) => [endpoint, state]));
      const text = listPage({
        title: "Federations",
        part: "federations",
        path: "/federations",
        intro: html`Each answers a query without <code>SERVICE</code> from all of its members, as one dataset.`,
        columns: [
          { head: "Federation", cell: ({ federation }) => nameOf(federation) },
          { head: "#Members", cell: ({ members }) => numberText(members.length) },
          { head: "State", cell: ({ members }) => statesOf(members, (id) => states.get(id) ?? "unknown") },
        ],
        rows: items.map((federation) => ({ federation, members: catalog.membersOf(federation) })),
        empty: "The catalogue has no federation.",
        cursor,
        next,
      });
      return sendPage(request, reply, text);
    },
  });
}

function addWatches(app: TypedApp, { watches, monitor }: HttpShell): void {
  app.get("/watches", {
    schema: { tags, summary: "Watched queries and what changed in their answers, as a page to read" },
    handler: async (request, reply) => {
      const open = await monitor.incidents({ open: true, limit: 1_000 });
      const incidentOf = (endpoint: string, summary: string): string | undefined => {
        const found = open.find((one) => one.endpoint === endpoint && one.summary?.endsWith(summary));
        return found && `/incidents/${found.id}`;
      };
      return sendPage(request, reply, watchesPage({ watches: await watches.list(), incidentOf }));
    },
  });
}

/** Pages that list federations and watched queries. */
export function addListPages(app: TypedApp, shell: HttpShell): void {
  addFederations(app, shell);
  addWatches(app, shell);
}
