import type { FastifyInstance } from "fastify";
import { type Html, html } from "../../html.ts";
import type { HttpDeps } from "../http-deps.ts";
import { knownEntry } from "../registry-routes.ts";
import { IdPath } from "../schemas.ts";
import { guarded } from "../write-access.ts";
import { pageHeaders } from "./page-reply.ts";

/** Work that a page can ask for, as the last part of its path; what the button says, and what is done. */
const works = {
  describe: { button: "Describe it", done: "described" },
  capabilities: { button: "Probe it", done: "probed" },
} as const;

/** Who looks at the page of which endpoint. */
export interface Asker {
  readonly id: string;
  /** URL of the endpoint in the JSON API, for commands. */
  readonly endpointApi: string;
  /** Signed in. */
  readonly mayAsk: boolean;
}

/** Part of a command: the token as a shell on the service's machine finds it. */
export const tokenHeader = '-H "Authorization: Bearer $(cat .fedway/admin-token)"';

/** A button for those who are signed in, a command for others. */
export function askFor(work: keyof typeof works, { id, endpointApi, mayAsk }: Asker): Html {
  const { button, done } = works[work];
  if (mayAsk)
    return html`<form method="post" action="/endpoints/${id}/${work}"><div><button>${button}</button></div></form>`;
  const command = `curl -X POST '${endpointApi}/${work}' \\\n  ${tokenHeader}`;
  return html`<pre class="copy" tabindex="0" role="group" aria-label="Command that has it ${done}">${command}</pre>
<p class="small muted">The service keeps its admin token in its data folder. <a href="/login">Sign in</a> to ask from here.</p>`;
}

/** The routes behind those buttons. */
export function addAsking(app: FastifyInstance, deps: HttpDeps): void {
  const ask: Readonly<Record<keyof typeof works, (id: string) => Promise<unknown>>> = {
    describe: (id) => deps.descriptions.request(id, { priority: 1, again: false }),
    capabilities: (id) => deps.capabilities.request(id),
  };
  for (const work of ["describe", "capabilities"] as const) {
    app.post<{ Params: { id: string } }>(`/endpoints/:id/${work}`, {
      ...guarded,
      schema: { tags: ["Pages"], summary: `Have an endpoint ${works[work].done}, from its page`, params: IdPath },
      handler: async ({ params }, reply) => {
        const { id } = knownEntry(deps, params.id);
        await ask[work](id);
        return reply.headers({ ...pageHeaders, "Cache-Control": "no-store" }).redirect(`/endpoints/${id}`, 303);
      },
    });
  }
}
