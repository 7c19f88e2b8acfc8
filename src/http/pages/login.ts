import type { FastifyReply } from "fastify";
import { Type } from "typebox";
import type { Role } from "../../clients/client-keys.ts";
import { clientOf } from "../../clients/client-name.ts";
import { html, type Html } from "../../html.ts";
import { addressKey, guessing, type HttpCaller } from "../caller.ts";
import type { HttpShell, TypedApp } from "../http-deps.ts";
import {
  createCodeCheck,
  endedSession,
  guarded,
  isToken,
  openAccess,
  openToAll,
  sessionCookie,
  sessionOf,
} from "../write-access.ts";
import { page, toCopy } from "./layout.ts";
import { searchOf } from "./list-page.ts";
import { seeOther, sendPrivatePage } from "./page-reply.ts";
import { knownEntry } from "../registry-routes.ts";
import { IdPath, documented } from "../schemas.ts";

const tokenForm = Type.Object({ token: Type.String({ maxLength: 512 }) });

/** Fault of a sign-in. */
type Mistake = "token" | "link";

const mistakes: Readonly<Record<Mistake, string>> = {
  token: "This is neither a key that is valid nor the admin token.",
  link: "This link was used already, or is older than an hour: sign in with a key or the admin token.",
};

const rights: Readonly<Record<Role, string>> = {
  read: "read the catalogue and the state of endpoints",
  query: "query endpoints",
  write: "make changes",
  admin: "make changes and manage keys",
};

const signedInPage = ({ owner, role = "read" }: HttpCaller): string =>
  page({
    title: "Signed in",
    main: html`<h1>Signed in</h1>
<form class="card" method="post" action="/logout"><p>This browser may ${rights[role]}${clientOf(owner) === undefined ? "" : html` as ${clientOf(owner)}`}.</p><div class="act"><button>Sign out</button></div></form>`,
  });

function loginPage(mistake: Mistake | undefined): string {
  return page({
    title: "Sign in",
    main: html`<h1>Sign in</h1>
<form class="card" method="post" action="/login">
${mistake === undefined ? "" : html`<p role="alert">${mistakes[mistake]}</p>\n`}<div><label for="token">API key or admin token</label><input type="password" id="token" name="token" maxlength="512" required autocomplete="current-password" aria-describedby="where"></div>
<p id="where" class="small muted">The admin token is the value of FEDWAY_ADMIN_TOKEN. When that is unset, the service shows it in its start message and keeps it in its data folder, by default <code>.fedway/admin-token</code>.</p>
<div class="act"><button>Sign in</button></div>
</form>`,
  });
}

/**
 * `/login`: the code of the start message's link, once and for an hour, or a key or the admin token from the form, for a cookie;
 * `/logout` takes it back and ends the session. The URL that the code stood in is left at once.
 */
export function addLogin(app: TypedApp, { config, clients }: HttpShell): void {
  const { adminToken } = config;
  const isCode = createCodeCheck(adminToken);
  const answer = (reply: FastifyReply, cookie: string | undefined, mistake: Mistake): FastifyReply => {
    if (adminToken === openAccess) return seeOther(reply, "/");
    if (cookie !== undefined) return seeOther(reply.header("Set-Cookie", cookie), "/");
    return sendPrivatePage(reply.code(401), loginPage(mistake));
  };
  const cookieFor = (given: string): string | undefined => {
    if (isToken(given, adminToken)) return sessionCookie(config);
    const name = clients.nameOf(given);
    const [secret] = name === undefined ? [] : clients.sessionSecrets(name, given);
    return secret === undefined ? undefined : sessionCookie(config, name, `${adminToken} ${secret}`);
  };
  // Of forms only the one here sends something.
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: 4096 },
    (_, text, done) => done(null, text),
  );
  app.get("/login", {
    ...openToAll,
    schema: { tags: ["Pages"], summary: "Sign in with a key or the admin token, for pages" },
    handler: (request, reply) => {
      const code = searchOf(request).get("token");
      if (code !== null || adminToken === openAccess) {
        return answer(reply, isCode(code ?? "") ? sessionCookie(config) : undefined, "link");
      }
      const { caller } = request;
      const text = caller.by === "nothing" ? loginPage(undefined) : signedInPage(caller);
      return sendPrivatePage(reply, text);
    },
  });
  app.post("/login", {
    ...openToAll,
    // The schema documents; of a form only the field is read.
    validatorCompiler: () => () => true,
    schema: {
      ...documented("Pages")("signIn", "Sign in with the form of that page"),
      body: { content: { "application/x-www-form-urlencoded": { schema: tokenForm } } },
    },
    handler: ({ body, ip }, reply) => {
      const token = (typeof body === "string" ? new URLSearchParams(body).get("token") : null) ?? "";
      return answer(reply, unlessGuessing(clients, ip, token, cookieFor), "token");
    },
  });
  app.post("/logout", {
    ...openToAll,
    schema: { tags: ["Pages"], operationId: "signOut", summary: "Sign out of this browser" },
    handler: async ({ headers }, reply) => {
      const session = sessionOf(headers.cookie, config, clients);
      reply.header("Set-Cookie", endedSession(config));
      if (session !== undefined) await clients.signOut(session);
      return seeOther(reply, "/login");
    },
  });
}

/** The cookie for a key. @throws FedwayError `RATE_LIMITED` after wrong ones in a row */
function unlessGuessing(
  { wrongKeys }: HttpShell["clients"],
  ip: string,
  key: string,
  cookieFor: (key: string) => string | undefined,
): string | undefined {
  const address = addressKey(ip);
  const waitMs = wrongKeys.waitMs(address, key);
  if (waitMs > 0) throw guessing(waitMs);
  const cookie = cookieFor(key);
  if (cookie === undefined) wrongKeys.wrong(address, key);
  else wrongKeys.right(address);
  return cookie;
}

/** Work that a page can ask for, as the last part of its path; what the button says, and what is done. */
const works = {
  describe: { button: "Describe it", done: "described" },
  capabilities: { button: "Probe it", done: "probed" },
} as const;

/** Viewer of an endpoint's page. */
export interface Asker {
  readonly id: string;
  /** URL of the endpoint in the JSON API, for commands. */
  readonly endpointApi: string;
  /** Signed in. */
  readonly mayAsk: boolean;
}

/** Part of a command: the token as a shell on the service's machine finds it. */
const tokenHeader = '-H "Authorization: Bearer $(cat .fedway/admin-token)"';

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
        return seeOther(reply, `/endpoints/${id}`);
      },
    });
  }
}
