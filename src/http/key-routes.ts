import { type Static, Type } from "typebox";
import { type Client, namePattern, Quota, roles } from "../clients/client-keys.ts";
import { clientOf, keyNameOf } from "../clients/client-name.ts";
import { Use } from "../clients/quotas.ts";
import { sendNow } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { ownerOf } from "./caller.ts";
import { resource } from "./resource.ts";
import { NoParameters, strictObject, view, documented, text } from "./schemas.ts";
import { adminOnly } from "./write-access.ts";

const heading = "Operation";
const doc = documented(heading);
const day = 86_400;
const role = Type.Enum([...roles], { description: "Each includes those before it." });
const expiresIn = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 3_660 * day, description: "Seconds after which the key ends; absent: never." }),
);
const NamePath = Type.Object({ name: Type.String({ pattern: namePattern, description: "Lower case, digits and -." }) });
const NewClient = strictObject({ name: NamePath.properties.name, role, quota: Type.Optional(Quota), expiresIn });
const Rotation = strictObject({
  graceSeconds: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 30 * day, description: "How long the old key still opens; a day by default." }),
  ),
  expiresIn,
});

const ClientView = view("Client", {
  name: Type.String(),
  role,
  quota: Type.Optional(Quota),
  keys: Type.Array(Type.Object({ madeAt: Type.String(), endsAt: Type.Optional(Type.String()), live: Type.Boolean() })),
});
const Clients = view("Clients", { clients: Type.Array(Type.Intersect([ClientView, Type.Object({ used: Use })])) });
const NewKey = view("NewKey", {
  key: text("Shown this once: only its hash is kept."),
  client: ClientView,
});
const Self = view("CallerIdentity", {
  client: Type.Optional(text("Absent: no client.")),
  role: Type.Optional(role),
  quota: Type.Optional(Quota),
  used: Type.Optional(Use),
});

const momentOf = (ms: number): string => new Date(ms).toISOString();

const endOf = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : Date.now() + seconds * 1_000;

const viewOf = (name: string, { role: its, quota, keys }: Client, nowMs = Date.now()): Static<typeof ClientView> => ({
  name,
  role: its,
  ...(quota && { quota }),
  keys: keys.map(({ madeMs, untilMs = Number.POSITIVE_INFINITY }) => ({
    madeAt: momentOf(madeMs),
    ...(Number.isFinite(untilMs) && { endsAt: momentOf(untilMs) }),
    live: untilMs > nowMs,
  })),
});

/** `/api/keys`: named clients, for administrators; `/api/keys/self`: one's own use. */
export function addKeyRoutes(app: TypedApp, shell: HttpShell): void {
  addUse(app, shell);
  addChanges(app, shell);
}

function addUse(app: TypedApp, { clients, quotas }: HttpShell): void {
  app.get("/api/keys/self", {
    schema: {
      ...doc("getOwnUse", "Who you are, what you may do, and what your calls have cost", Self),
      querystring: NoParameters,
    },
    handler: async (request, reply) => {
      const owner = ownerOf(request);
      const name = keyNameOf(owner);
      const own = name === undefined ? undefined : { quota: clients.get(name)?.quota, used: await quotas.use(name) };
      return sendNow(reply, { client: clientOf(owner), role: request.caller.role, ...own });
    },
  });
  const listed = async (name: string, client: Client) => ({ ...viewOf(name, client), used: await quotas.use(name) });
  const show = (client: object) => client;
  const kind = { heading, params: NamePath, view: ClientView, filter: NoParameters, list: Clients, show };
  const routes = resource(app, "keys", { ...kind, options: adminOnly });
  routes.list("List the clients with their roles, quotas, keys and use", async () => ({
    items: await Promise.all(clients.all().map(([name, client]) => listed(name, client))),
  }));
  routes.remove("remove", "Revoke all keys of a client", (name) => clients.remove(name));
}

function addChanges(app: TypedApp, { clients }: HttpShell): void {
  app.post("/api/keys", {
    ...adminOnly,
    schema: {
      ...doc("addClient", "Add a client; its key is in the answer, and nowhere else"),
      body: NewClient,
      response: { 201: NewKey },
    },
    handler: async ({ body }, reply) => {
      const { name, quota } = body;
      const made = await clients.add(name, { role: body.role, ...(quota && { quota }) }, endOf(body.expiresIn));
      return sendNow(reply, { key: made.key, client: viewOf(name, made.client) }, 201);
    },
  });
  app.post("/api/keys/:name/rotate", {
    ...adminOnly,
    schema: {
      ...doc("rotateKey", "Make a client another key; the old one still opens for a while", NewKey),
      params: NamePath,
      body: Rotation,
    },
    handler: async ({ params: { name }, body: { graceSeconds = day, expiresIn: seconds } }, reply) => {
      const made = await clients.rotate(name, graceSeconds * 1_000, endOf(seconds));
      return sendNow(reply, { key: made.key, client: viewOf(name, made.client) });
    },
  });
}
