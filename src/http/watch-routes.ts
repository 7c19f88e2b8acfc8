import { type Static, Type } from "typebox";
import { Drift, figuresOf, isFound, Run, stateOf, type Watch, WatchDefinition } from "../watch/watch.ts";
import { sendJson, sendNothing, sendNow, uncached } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { sendAccepted } from "./job-view.ts";
import { shown, shownFields } from "./monitor-schemas.ts";
import { accepted } from "./registry-schemas.ts";
import { answers, nothing, strictObject, view, documented, text } from "./schemas.ts";
import { guarded, hasAccess } from "./write-access.ts";

const doc = documented("Availability");
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

const WatchList = view("WatchList", { watches: Type.Array(WatchView) });

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
  const one = { params, response: answers(WatchView) };
  const save = ({ everyMinutes, ...given }: Static<typeof NewWatch>) =>
    watches.save({ ...given, everyMs: everyMinutes && everyMinutes * 60_000 });
  app.get("/api/watches", {
    schema: { ...doc("listWatches", "List watched queries with their latest runs", WatchList) },
    handler: async (request, reply) => {
      const all = await watches.list();
      return sendNow(reply, { watches: all.map((watch) => watchView(watch, hasAccess(request))) });
    },
  });
  app.post("/api/watches", {
    ...guarded,
    schema: { ...doc("addWatch", "Have a query watched"), body: NewWatch, response: { 201: WatchView } },
    handler: async (request, reply) => {
      const watch = await save(request.body);
      return sendJson(
        reply.headers({ ...uncached, Location: `/api/watches/${watch.id}` }),
        watchView(watch, true),
        201,
      );
    },
  });
  app.get("/api/watches/:id", {
    schema: { ...doc("getWatch", "Get a watched query"), ...one },
    handler: async (request, reply) =>
      sendNow(reply, watchView(await watches.get(request.params.id), hasAccess(request))),
  });
  app.put("/api/watches/:id", {
    ...guarded,
    schema: { ...doc("putWatch", "Add or change a watched query"), ...one, body: strictObject(fields) },
    handler: async (request, reply) =>
      sendNow(reply, watchView(await save({ ...request.body, ...request.params }), true)),
  });
  app.delete("/api/watches/:id", {
    ...guarded,
    schema: { ...doc("removeWatch", "Watch a query no longer"), params, response: nothing },
    handler: async (request, reply) => {
      await watches.remove(request.params.id);
      return sendNothing(reply);
    },
  });
  app.post("/api/watches/:id/run", {
    ...guarded,
    schema: { ...doc("runWatch", "Run a watched query now"), params, response: accepted },
    handler: async (request, reply) => sendAccepted(reply, await watches.run(request.params.id)),
  });
  app.post("/api/watches/:id/accept", {
    ...guarded,
    schema: { ...doc("acceptWatch", "Make the latest answer the normal one"), ...one },
    handler: async (request, reply) => sendNow(reply, watchView(await watches.accept(request.params.id), true)),
  });
}
