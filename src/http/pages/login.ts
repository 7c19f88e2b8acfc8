import type { FastifyReply } from "fastify";
import { Type } from "typebox";
import { html, type Html } from "../../html.ts";
import { uncached } from "../common-headers.ts";
import type { HttpShell, TypedApp } from "../http-deps.ts";
import { isToken, openAccess, sessionCookie, guarded } from "../write-access.ts";
import { page, toCopy } from "./layout.ts";
import { pageHeaders } from "./page-reply.ts";
import { knownEntry } from "../registry-routes.ts";
import { IdPath } from "../schemas.ts";

const tokenForm = Type.Object({ token: Type.String({ maxLength: 512 }) });

/** Headers of pages that differ from reader to reader. */
const privateHeaders = { ...pageHeaders, ...uncached };

function loginPage(version: string, isWrong: boolean): string {
  return page({
    title: "Sign in - Fedway",
    version,
    main: html`<h1>Sign in</h1>
<form class="card" method="post" action="/login">
${isWrong ? html`<p role="alert">This is not the admin token.</p>\n` : ""}<div><label for="token">Admin token</label><input type="password" id="token" name="token" maxlength="512" required autocomplete="current-password" aria-describedby="where"></div>
<p id="where" class="small muted">It is the value of FEDWAY_ADMIN_TOKEN. When that is unset, the service shows it in its start message and keeps it in its data folder, by default <code>.fedway/admin-token</code>.</p>
<div class="act"><button>Sign in</button></div>
</form>`,
  });
}

/**
 * `/login`: the admin token, from the link of the start message or the form, for a cookie. The URL that it stood in is
 * left at once, and is told to nobody.
 */
export function addLogin(app: TypedApp, { config, version }: HttpShell): void {
  const signIn = (reply: FastifyReply, token: string | undefined): FastifyReply => {
    const { adminToken } = config;
    void reply.headers(privateHeaders);
    if (adminToken === openAccess) return reply.redirect("/", 303);
    if (token !== undefined && isToken(token, adminToken)) {
      return reply.header("Set-Cookie", sessionCookie(config)).redirect("/", 303);
    }
    return reply.code(token === undefined ? 200 : 401).send(loginPage(version, token !== undefined));
  };
  // Of forms only the one here sends something.
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: 4096 },
    (_, text, done) => done(null, text),
  );
  app.get("/login", {
    schema: { tags: ["Pages"], summary: "Sign in with the admin token, for pages" },
    handler: (request, reply) => {
      const [, search = ""] = request.originalUrl.split("?", 2);
      return signIn(reply, new URLSearchParams(search).get("token") ?? undefined);
    },
  });
  app.post("/login", {
    // The schema documents; of a form only the field is read.
    validatorCompiler: () => () => true,
    schema: {
      tags: ["Pages"],
      operationId: "signIn",
      summary: "Sign in with the form of that page",
      body: { content: { "application/x-www-form-urlencoded": { schema: tokenForm } } },
    },
    handler: ({ body }, reply) =>
      signIn(reply, (typeof body === "string" ? new URLSearchParams(body).get("token") : null) ?? ""),
  });
}

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
  return html`${toCopy(`Command that has it ${done}`, command)}
<p class="small muted">The service keeps its admin token in its data folder. <a href="/login">Sign in</a> to ask from here.</p>`;
}

/** The routes behind those buttons. */
export function addAsking(app: TypedApp, shell: HttpShell): void {
  const ask: Readonly<Record<keyof typeof works, (id: string) => Promise<unknown>>> = {
    describe: (id) => shell.descriptions.request(id, { priority: 1, again: false }),
    capabilities: (id) => shell.capabilities.request(id),
  };
  for (const work of ["describe", "capabilities"] as const) {
    app.post(`/endpoints/:id/${work}`, {
      ...guarded,
      schema: { tags: ["Pages"], summary: `Have an endpoint ${works[work].done}, from its page`, params: IdPath },
      handler: async ({ params }, reply) => {
        const { id } = knownEntry(shell, params.id);
        await ask[work](id);
        return reply.headers(privateHeaders).redirect(`/endpoints/${id}`, 303);
      },
    });
  }
}
