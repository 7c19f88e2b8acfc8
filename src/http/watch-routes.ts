import { type Static, Type } from "typebox";
import { figuresOf, isFound, longestQuery, stateOf, type Watch } from "../watch/watch.ts";
import { sendJson, sendNothing, sendNow, uncached } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { sendAccepted } from "./job-view.ts";
import { accepted } from "./registry-schemas.ts";
import { answers, nothing, strictObject, view, documented, text } from "./schemas.ts";
import { guarded, hasAccess } from "./write-access.ts";

const doc = documented("Availability");
const id = Type.String({ pattern: "^[a-z0-9][a-z0-9._-]{0,63}$", description: "1 to 64 of a-z, 0-9 and . _ -" });
const fields = {
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
  query: Type.String({ minLength: 1, maxLength: longestQuery }),
  endpoint: Type.Optional(Type.String({ maxLength: 2_000, description: "Catalogue id or URL." })),
  federation: Type.Optional(Type.String({ maxLength: 64, description: "Catalogue id." })),
  everyMinutes: Type.Optional(
    Type.Integer({
      minimum: 5,
      maximum: 43_200,
      description: "60 when left out, 1,440 where public endpoints are asked.",
    }),
  ),
};
const NewWatch = strictObject({ id: Type.Optional(id), ...fields });
const WatchView = view("Watch", {
  ...fields,
  id,
  query: Type.Optional(text("For the operator only.")),
  state: text("drift, suspect (to be confirmed), not run, learning, holds."),
  next: Type.String({ format: "date-time" }),
  drifts: Type.Any({ description: "By kind: what changed, with evidence and, for the operator, the mended query." }),
  results: Type.Array(Type.Any({ description: "A run; drifts: the kinds of its deviations." })),
});

/** A run as the API shows it. */
function shownRun(run: Watch["results"][number]): object {
  const { atMs, size: _size, ms: _ms, ...rest } = run;
  return { ...rest, ...figuresOf(run), at: new Date(atMs).toISOString() };
}

/** A watch as the API shows it. */
function shown(watch: Watch, isOperator: boolean): object {
  const { baseline: _baseline, latest: _latest, everyMs, nextMs, query, drifts, results, ...rest } = watch;
  const found = Object.entries(drifts).map(([kind, drift]) => {
    const { endpoint, summary, evidence, sinceMs, seen, repair } = drift;
    const since = new Date(sinceMs).toISOString();
    const shared = { endpoint, summary, evidence, since, seen, found: isFound(drift) };
    return [kind, isOperator ? Object.assign(shared, { repair }) : shared];
  });
  return {
    ...rest,
    ...(isOperator && { query }),
    everyMinutes: everyMs / 60_000,
    state: stateOf(watch),
    next: new Date(nextMs).toISOString(),
    drifts: Object.fromEntries(found),
    results: results.map(shownRun),
  };
}

/** Watched queries: to list, read, change, run and accept. */
export function addWatchRoutes(app: TypedApp, { watches }: HttpShell): void {
  const params = Type.Object({ id });
  const one = { params, response: answers(WatchView) };
  const save = ({ everyMinutes, ...given }: Static<typeof NewWatch>) =>
    watches.save({ ...given, everyMs: everyMinutes && everyMinutes * 60_000 });
  app.get("/api/watches", {
    schema: {
      ...doc(
        "listWatches",
        "List watched queries with their latest runs",
        view("WatchList", { watches: Type.Array(WatchView) }),
      ),
    },
    handler: async (request, reply) => {
      const isOperator = hasAccess(request);
      return sendNow(reply, {
        watches: (await watches.list()).map((watch) => shown(watch, isOperator)),
      });
    },
  });
  app.post("/api/watches", {
    ...guarded,
    schema: { ...doc("addWatch", "Have a query watched"), body: NewWatch, response: { 201: WatchView } },
    handler: async (request, reply) => {
      const watch = await save(request.body);
      return sendJson(reply.headers({ ...uncached, Location: `/api/watches/${watch.id}` }), shown(watch, true), 201);
    },
  });
  app.get("/api/watches/:id", {
    schema: { ...doc("getWatch", "Get a watched query"), ...one },
    handler: async (request, reply) => sendNow(reply, shown(await watches.get(request.params.id), hasAccess(request))),
  });
  app.put("/api/watches/:id", {
    ...guarded,
    schema: { ...doc("putWatch", "Add or change a watched query"), ...one, body: strictObject(fields) },
    handler: async (request, reply) => sendNow(reply, shown(await save({ ...request.body, ...request.params }), true)),
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
    handler: async (request, reply) => sendNow(reply, shown(await watches.accept(request.params.id), true)),
  });
}
