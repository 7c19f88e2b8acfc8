import { describe, expect, it } from "vitest";
import type { Job } from "../../../src/jobs/job-queue.ts";
import type { ShardDataset } from "../../../shards/src/finished-folder.ts";
import { shardRoutes, type ShardService } from "../../../shards/src/service/routes.ts";
import { fakeSettings } from "../../support/fake-query-service.ts";
import { createFakeMonitor } from "../../support/fake-monitor.ts";
import { fakeNowMs } from "../../support/http-deps.ts";
import { pageDeps, readOnlyCatalog } from "../../support/page-deps.ts";
import { syntheticEntries } from "../../support/synthetic-catalog.ts";
import { start, type Started } from "./http-fixture.ts";

// Lists of the API and of pages: one shape, pages that lose and repeat nothing, foreign text as text.

const foreign = `<script>alert("x")</script>\u202e`;
const entries = syntheticEntries(30);
const federations = Array.from({ length: 120 }, (_, at) => ({
  id: `f${String(at).padStart(3, "0")}`,
  title: at === 0 ? foreign : `Federation ${at}`,
  members: entries.slice(0, at % 4).map(({ id }) => id),
  memberKeywords: [],
}));

/** Several in one millisecond: their order must not depend on it. */
const jobOf = (at: number): Job => ({
  id: `job-${at}`,
  kind: at === 0 ? foreign : "describe-endpoint",
  state: at % 2 === 0 ? "done" : "failed",
  payload: { secret: "of the operator" },
  attempts: 1,
  createdAt: new Date(1_790_000_000_000 + Math.floor(at / 3)).toISOString(),
  ...(at % 2 === 1 && { error: { code: "X", message: "of the operator" } }),
});

function queueOf(count: number) {
  const all = Array.from({ length: count }, (_, at) => jobOf(at)).toReversed();
  const list = async ({ state, limit = 100 }: { state?: Job["state"] | undefined; limit?: number | undefined } = {}) =>
    all.filter((job) => state === undefined || job.state === state).slice(0, limit);
  const queue = { get: async () => undefined, cancel: async () => false, watch: () => () => undefined, list };
  return { all, queue };
}

const datasets = [
  { dataset: "harbour", title: foreign, triples: 416, licence: "javascript:alert(1)", shards: [{}, {}] },
] as unknown as readonly ShardDataset[];

const startMany = (more = {}) =>
  start({
    ...pageDeps({ count: 0 }),
    config: { ...fakeSettings, adminToken: "a-token-of-these-tests" },
    catalog: readOnlyCatalog(entries, federations),
    monitor: createFakeMonitor({
      endpoints: entries,
      nowMs: fakeNowMs,
      fateOf: (_, at) => (at % 2 ? "down" : "recovered"),
    }),
    jobs: queueOf(125).queue,
    routes: [shardRoutes({ datasets } as unknown as ShardService)],
    ...more,
  });

type Listed = Readonly<Record<string, unknown>> & { readonly next?: string };

async function walk({ url }: Started, name: string, limit: number, between = () => undefined as void) {
  const ids: string[] = [];
  let [cursor, pages] = ["", 0];
  do {
    const response = await fetch(
      `${url}/api/${name}?limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    const body = (await response.json()) as Listed;
    const items = body[name] as { id: string }[];
    expect([response.status, items.length <= limit]).toEqual([200, true]);
    ids.push(...items.map(({ id }) => id));
    cursor = body.next ?? "";
    pages += 1;
    between();
  } while (cursor !== "" && pages < 100);
  return { ids, pages };
}

const textOf = async ({ url }: Started, path: string, headers: Record<string, string> = {}): Promise<string> =>
  (await fetch(url + path, { headers: { Accept: "text/html", ...headers } })).text();

describe("lists of the API", () => {
  it.each([
    ["endpoints", 30, 7],
    ["federations", 120, 50],
    ["jobs", 125, 10],
    ["incidents", 30, 4],
  ])("/api/%s gives all %i, %i at a time, each once", async (name, count, limit) => {
    const { ids, pages } = await walk(await startMany(), name, limit);
    expect([ids.length, new Set(ids).size, pages]).toEqual([count, count, Math.ceil(count / limit)]);
  });

  it("repeat and lose nothing while jobs are added", async () => {
    const { all, queue } = queueOf(60);
    const before = all.map(({ id }) => id);
    const app = await startMany({ jobs: queue });
    const { ids } = await walk(
      app,
      "jobs",
      10,
      () => void all.unshift(jobOf(1000 + all.length), jobOf(1001 + all.length)),
    );
    expect(ids.toSorted()).toEqual(before.toSorted());
  });

  it.each(["endpoints", "federations", "jobs", "incidents", "runs", "shards"])(
    "/api/%s has its name when it is empty",
    async (name) => {
      const app = await start({
        catalog: readOnlyCatalog([]),
        monitor: createFakeMonitor({ endpoints: [], nowMs: fakeNowMs }),
        routes: [shardRoutes({ datasets: [] } as unknown as ShardService)],
      });
      const body = (await (await fetch(`${app.url}/api/${name}`)).json()) as Listed;
      // Runs come from a query service that knows some; the federation of all endpoints is always there.
      if (!["runs", "federations"].includes(name)) expect(body[name]).toEqual([]);
      expect([Array.isArray(body[name]), body.next]).toEqual([true, undefined]);
    },
  );

  it("refuse cursors that no page gave", async () => {
    const app = await startMany();
    for (const name of ["endpoints", "federations", "jobs", "incidents", "shards"])
      for (const cursor of ["true", "-1", "1~", "~", "1e9", "99999999999999999~x", "a".repeat(500)]) {
        const response = await fetch(`${app.url}/api/${name}?cursor=${cursor}`);
        expect([name, cursor, response.status, await response.json()]).toEqual([
          name,
          cursor,
          400,
          expect.objectContaining({ code: "REQUEST_INVALID", detail: expect.stringContaining("cursor") as string }),
        ]);
      }
  });
});

describe("pages that list", () => {
  it.each(["/federations", "/jobs?cursor=1790000000000~job-3", "/shards", "/watches", "/runs", "/incidents"])(
    "%s shows foreign text as text",
    async (path) => {
      const text = await textOf(await startMany(), path);
      expect(text).toContain("<h1>");
      expect(text).not.toMatch(/<script|javascript:alert\(1\)"|\u202e/u);
    },
  );

  it("lead from page to page, and back to the first", async () => {
    const app = await startMany();
    const seen: string[] = [];
    for (let path = "/federations"; path !== ""; ) {
      const text = await textOf(app, path);
      seen.push(...[...text.matchAll(/href="\/federations\/([a-z0-9]+)"/g)].map(([, id = ""]) => id));
      path = /rel="next" href="([^"]*)"/.exec(text)?.[1]?.replaceAll("&amp;", "&") ?? "";
      if (path === "") expect(text).toContain('<a href="/federations">First page</a>');
    }
    expect([seen.length, new Set(seen).size]).toEqual([120, 120]);
  });

  it("shows the incidents that the API lists, by the same parameters", async () => {
    const app = await startMany();
    for (const search of ["", "?open=true", "?open=false", `?endpoint=${entries[1]?.id ?? ""}`]) {
      const listed = (await (await fetch(`${app.url}/api/incidents${search}`)).json()) as Listed;
      const ids = (listed["incidents"] as { id: string }[]).map(({ id }) => `/incidents/${id}`);
      const text = await textOf(app, `/incidents${search}`);
      const shown = [...text.matchAll(/href="(\/incidents\/[^"]*)"/g)].map(([, path]) =>
        decodeURIComponent(path ?? ""),
      );
      expect([search, shown]).toEqual([search, ids]);
      expect(ids.length).toBeGreaterThan(0);
      expect(text).toContain(`href="/api/incidents${search}"`);
    }
    expect(await textOf(app, "/incidents?open=perhaps")).toContain("Known are true, false.");
    expect(await textOf(app, "/status")).toContain('<a href="/incidents">');
  });

  it("say what there is to do where nothing is, and where nothing fits", async () => {
    const app = await start({ catalog: readOnlyCatalog([]) });
    expect(await textOf(app, "/jobs")).toContain("No job is known.");
    expect(await textOf(app, "/jobs?state=failed")).toContain('Nothing fits. <a href="/jobs">Show all</a>');
    expect(await textOf(app, "/jobs?state=lost")).toContain("Known are waiting, running, done, failed, cancelled.");
    expect(await textOf(app, "/federations?cursor=x")).toContain(
      "The cursor is not one that a page of this list gave.",
    );
  });

  it("show errors of jobs to operators only", async () => {
    const app = await startMany();
    const Authorization = "Bearer a-token-of-these-tests";
    expect(await textOf(app, "/jobs")).not.toContain("of the operator");
    expect(await textOf(app, "/jobs", { Authorization })).toContain("of the operator <code>X</code>");
  });
});
