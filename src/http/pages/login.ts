import type { FastifyInstance, FastifyReply } from "fastify";
import { html } from "../../html.ts";
import type { HttpDeps } from "../http-deps.ts";
import { isToken, openAccess, sessionCookie } from "../write-access.ts";
import { page } from "./layout.ts";
import { pageHeaders } from "./page-reply.ts";

const uncached = { ...pageHeaders, "Cache-Control": "no-store" };

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
export function addLogin(app: FastifyInstance, { config, version }: HttpDeps): void {
  const signIn = (reply: FastifyReply, token: string | undefined): FastifyReply => {
    const { adminToken } = config;
    void reply.headers(uncached);
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
    schema: { hide: true },
    handler: ({ body }, reply) =>
      signIn(reply, (typeof body === "string" ? new URLSearchParams(body).get("token") : null) ?? ""),
  });
}
