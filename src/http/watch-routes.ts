import type { FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { Drift, figuresOf, isFound, Run, stateOf, type Watch, WatchDefinition } from "../watch/watch.ts";
import { sendJson, sendNow, uncached } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { shown, shownFields } from "./monitor-schemas.ts";
import { resource } from "./resource.ts";
import { answers, strictObject, view, documented, text } from "./schemas.ts";
import { guarded, hasAccess } from "./write-access.ts";

const heading = "Availability";
const doc = documented(heading);
const fields = {
  ...Type.Omit(WatchDefinition, ["id", "everyMs"]).properties,
  everyMinutes: Type.Optional(
    Type.Integer({
      minimum: 5,
      maximum: 43_200,
      description: "60 when left out, 1,440 where public endpoints are asked.",
    }),
  ),
};
const NewWatch = strictObject({ id: WatchDefinition.properties.id, ...fields });
const params = Type.Required(Type.Pick(WatchDefinition, ["id"]));
const ShownRun = { ...shownFields(Run), ...Type.Partial(Type.Pick(Run, ["size", "ms"])).properties };
const ShownDrift = {
  ...shownFields(Type.Omit(Drift, ["clean"])),
  found: Type.Boolean({ description: "False: to be confirmed." }),
};
const WatchView = view("Watch", {
  ...fields,
  ...params.properties,
  query: Type.Optional(text("For the operator only.")),
  state: text("drift, suspect (to be confirmed), not run, learning, holds."),
  next: Type.String({ format: "date-time" }),
  drifts: Type.Record(Type.String(), Type.Object(ShownDrift), { description: "What changed, by kind." }),
  results: Type.Array(Type.Object(ShownRun)),
});

function runView(run: Run): object {
  const { atMs, size: _size, ms: _ms, ...rest } = run;
  return { ...rest, ...figuresOf(run), atMs };
}

/** A watch as the API shows it. */
function watchView(watch: Watch, isOperator: boolean): object {
  const { baseline: _baseline, latest: _latest, everyMs, nextMs, query, drifts, results, ...rest } = watch;
  const found = Object.entries(drifts).map(([kind, drift]) => {
    const { endpoint, summary, evidence, sinceMs, seen, repair } = drift;
    const shared = { endpoint, summary, evidence, sinceMs, seen, found: isFound(drift) };
    return [kind, isOperator ? Object.assign(shared, { repair }) : shared];
  });
  return shown({
    ...rest,
    ...(isOperator && { query }),
    everyMinutes: everyMs / 60_000,
    state: stateOf(watch),
    nextMs,
    drifts: Object.fromEntries(found),
    results: results.map(runView),
  });
}

/** Watched queries: to list, read, change, run and accept. */
export function addWatchRoutes(app: TypedApp, { watches }: HttpShell): void {
  const show = (watch: Watch, request: FastifyRequest) => watchView(watch, hasAccess(request));
  const routes = resource(app, "watches", { heading, params, view: WatchView, show });
  routes.list("List watched queries with their latest runs", async () => ({ items: await watches.list() }));
  routes.get("Get a watched query", (id) => watches.get(id));
  routes.job(["run"], "Run a watched query now", (id) => watches.run(id));
  routes.remove("remove", "Watch a query no longer", (id) => watches.remove(id));

  const one = { params, response: answers(WatchView) };
  const save = ({ everyMinutes, ...given }: Static<typeof NewWatch>) =>
    watches.save({ ...given, everyMs: everyMinutes && everyMinutes * 60_000 });
  app.post("/api/watches", {
    ...guarded,
    schema: { ...doc("addWatch", "Have a query watched"), body: NewWatch, response: { 201: WatchView } },
    handler: async (request, reply) => {
      const watch = await save(request.body);
      const headers = { ...uncached, Location: `/api/watches/${watch.id}` };
      return sendJson(reply.headers(headers), watchView(watch, true), 201);
    },
  });
  app.put("/api/watches/:id", {
    ...guarded,
    schema: { ...doc("putWatch", "Add or change a watched query"), ...one, body: strictObject(fields) },
    handler: async (request, reply) =>
      sendNow(reply, watchView(await save({ ...request.body, ...request.params }), true)),
  });
  app.post("/api/watches/:id/accept", {
    ...guarded,
    schema: { ...doc("acceptWatch", "Make the latest answer the normal one"), ...one },
    handler: async (request, reply) => sendNow(reply, watchView(await watches.accept(request.params.id), true)),
  });
}
