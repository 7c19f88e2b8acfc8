import { readdirSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import type { HttpDeps } from "../../../../src/http/http-deps.ts";
import { assetPaths } from "../../../../src/http/pages/assets.ts";
import { createHttpServer, type HttpServer } from "../../../../src/http/server.ts";
import { fakeNowMs, createFakeDeps } from "../../../support/http-deps.ts";
import { pageDeps } from "../../../support/page-deps.ts";

const serverOf = async (more: Partial<HttpDeps> = {}): Promise<HttpServer> =>
  createHttpServer(await createFakeDeps({ ...pageDeps(), ...more }));

const shared = serverOf();

type Asked = { readonly method?: "GET" | "HEAD"; readonly headers?: Readonly<Record<string, string>> };

async function get(path: string, asked: Asked = {}, server: Promise<HttpServer> = shared) {
  const { method = "GET", headers = {} } = asked;
  return (await server).inject({ method, url: path, headers });
}

const textOf = async (path: string, more?: Partial<HttpDeps>): Promise<string> =>
  (await get(path, {}, more && serverOf(more))).payload;

const incidentPath = `/incidents/gone-${fakeNowMs - 5 * 3_600_000}`;
const pages = [
  "/",
  "/?q=proteins",
  "/federations",
  "/federations/north",
  "/watches",
  "/endpoints/people",
  "/endpoints/hostile",
  "/endpoints/dark",
  "/status",
  incidentPath,
  "/runs/run-1",
  "/help",
  "/help/monitoring",
];
const policy =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

describe.each(pages)("%s", (path) => {
  it("loads its own stylesheet and icon only, and runs nothing", async () => {
    const { statusCode, headers, payload } = await get(path);
    expect(statusCode).toBe(200);
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(headers["content-security-policy"]).toBe(policy);
    expect(payload).not.toMatch(/<script|<style|<img|<iframe|<object|<[^>]* style=|<[^>]* on[a-z]+=/);
    const loaded = [...payload.matchAll(/<link rel="(?:stylesheet|icon)"[^>]* href="([^"]+)"/g)].map(([, url]) => url);
    expect(loaded).toStrictEqual([assetPaths.stylesheet, assetPaths.icon]);
  });

  it("leads to the web or to paths of this service", async () => {
    const links = [...(await textOf(path)).matchAll(/(?:href|action)="([^"]*)"/g)].map(([, url = ""]) => url);
    expect(links.length).toBeGreaterThan(8);
    expect(links.filter((url) => !/^(?:https?:\/\/|\/(?!\/)|#)/.test(url))).toStrictEqual([]);
  });

  it("has a name, a language, landmarks and one first heading", async () => {
    const text = await textOf(path);
    expect(text).toMatch(/<html lang="en">/);
    expect(text).toMatch(/<title>[^<]+Fedway[^<]*<\/title>|<title>Fedway[^<]+<\/title>/);
    for (const landmark of ["<header", "<nav", "<main", "<footer", "<h1"]) {
      expect(text.split(landmark).length - 1, landmark).toBeGreaterThan(0);
    }
    expect(text.match(/<h1/g)).toHaveLength(1);
    expect(text).toContain('<meta name="color-scheme" content="light dark">');
  });

  it("is not sent again when it is there", async () => {
    const { headers } = await get(path);
    const etag = String(headers.etag);
    expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
    const again = await get(path, { headers: { "if-none-match": `"other", ${etag}` } });
    expect([again.statusCode, again.payload, again.headers.etag]).toStrictEqual([304, "", etag]);
    expect((await get(path, { headers: { "if-none-match": '"other"' } })).statusCode).toBe(200);
  });

  it("answers HEAD without the page", async () => {
    const { statusCode, headers, payload } = await get(path, { method: "HEAD" });
    expect([statusCode, payload, headers["content-security-policy"]]).toStrictEqual([200, "", policy]);
  });

  it("is compressed when that is wanted", async () => {
    const { headers, rawPayload } = await get(path, { headers: { "accept-encoding": "gzip" } });
    expect([headers["content-encoding"], headers.vary]).toStrictEqual(["gzip", "Accept-Encoding"]);
    expect(gunzipSync(rawPayload).toString()).toBe(await textOf(path));
  });

  it("uses classes that the stylesheet has", async () => {
    const style = (await get(assetPaths.stylesheet)).payload;
    const used = [...(await textOf(path)).matchAll(/class="([^"]+)"/g)].flatMap(([, names = ""]) => names.split(" "));
    expect(used.length).toBeGreaterThan(6);
    const plain = new Set(["unknown", "all", "operation"]);
    expect([...new Set(used)].filter((name) => !plain.has(name) && !style.includes(`.${name}`))).toStrictEqual([]);
  });
});

describe("assets", () => {
  it("are kept for good under the name of this version", async () => {
    const { headers } = await get(assetPaths.stylesheet);
    expect(headers).toMatchObject({
      "content-type": "text/css; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
    });
    const again = await get(assetPaths.stylesheet, { headers: { "if-none-match": String(headers.etag) } });
    expect([again.statusCode, again.payload]).toStrictEqual([304, ""]);
    expect((await get(assetPaths.icon)).headers["content-type"]).toBe("image/svg+xml");
  });

  it("of another version are those that are here, not to be kept", async () => {
    const { statusCode, headers } = await get("/assets/fedway.0123456789abcdef.css");
    expect([statusCode, headers["cache-control"]]).toStrictEqual([200, "no-cache"]);
  });

  it("that do not exist are not found", async () => {
    for (const name of ["fedway.css", "fedway.0123456789abcdef.js", "..%2fpackage.json"]) {
      expect((await get(`/assets/${name}`)).statusCode, name).toBe(404);
    }
  });

  it("load nothing themselves", async () => {
    const style = (await get(assetPaths.stylesheet)).payload;
    expect(style.length).toBeGreaterThan(5000);
    expect(style).not.toMatch(/url\(|@import|https?:/);
  });
});

describe("/docs", () => {
  it("runs one script of this service, which may ask this service only", async () => {
    const { statusCode, headers, payload } = await get("/docs");
    expect(statusCode).toBe(200);
    expect(headers["content-security-policy"]).toBe(
      `${policy.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'").replace("data:", "data: blob:")}; script-src 'self'; connect-src 'self' http://127.0.0.1:0`,
    );
    expect(payload.match(/<script src="\/assets\/reference\.[0-9a-f]{16}\.js"><\/script>/g)).toHaveLength(1);
    expect(payload.match(/<script/g)).toHaveLength(1);
    expect(payload).not.toMatch(/<style|<img|<iframe|<[^>]* style=|<[^>]* on[a-z]+=/);
  });
});

describe("/query", () => {
  it("runs the console's own script and may ask this service only", async () => {
    const { statusCode, headers, payload } = await get("/query");
    expect(statusCode).toBe(200);
    const allowed = String(headers["content-security-policy"]).split("; ");
    expect(allowed).toContain("default-src 'none'");
    expect(allowed).toContain("script-src 'self'");
    expect(allowed).toContain("connect-src 'self'");
    expect(payload.match(/<script/g)).toHaveLength(1);
    expect(payload).not.toMatch(/<style|<img|<iframe|<[^>]* style=|<[^>]* on[a-z]+=/);
    const [script = "", sheet = ""] = [/src="([^"]+)"/, /href="(\/assets\/console[^"]+)"/].map(
      (pattern) => pattern.exec(payload)?.[1],
    );
    const loaded = await get(script, { headers: { "accept-encoding": "gzip" } });
    expect(loaded.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      "content-encoding": "gzip",
    });
    expect(gunzipSync(loaded.rawPayload).equals((await get(script)).rawPayload)).toBe(true);
    expect((await get(sheet)).payload).not.toMatch(/url\((?!["']?(?:data:|#))|@import|https?:/);
  });

  it("offers what the catalogue has, as text", async () => {
    const text = await textOf("/query");
    expect(text).toContain('<option value="endpoint:people">People of the north (people)</option>');
    expect(text).toContain('<option value="endpoint:hostile">&lt;script&gt;');
  });
});

const shouldRefuse = (path: string, status: number, ...texts: readonly string[]): void =>
  it(`${path} is refused with a page`, async () => {
    const { statusCode, headers, payload } = await get(path);
    expect([statusCode, headers["content-type"]]).toStrictEqual([status, "text/html; charset=utf-8"]);
    expect(headers["content-security-policy"]).toBe(policy);
    expect(headers["cache-control"]).toBe("no-store");
    for (const text of texts) expect(payload).toContain(text);
  });

describe("refusals", () => {
  shouldRefuse("/endpoints/peple", 404, 'href="/endpoints/people"', "ENDPOINT_UNKNOWN");
  shouldRefuse("/endpoints/%3Cscript%3E", 404, "&lt;script&gt;", 'href="/"');
  shouldRefuse("/incidents/none", 404, "INCIDENT_UNKNOWN");
  shouldRefuse("/runs/none", 404, "RUN_UNKNOWN", "lists those that are kept");
  shouldRefuse("/status?sort=uptme", 400, "Did you mean uptime?");
  shouldRefuse("/?cursor=x", 400, "REQUEST_INVALID");

  it("an unknown path leads a browser to the list of routes", async () => {
    const { payload } = await get("/nothing/here", { headers: { accept: "text/html" } });
    expect(payload).toContain('<a href="/docs">/docs</a> lists all routes.');
  });

  it("what nobody expected tells no internals, but the log does", async () => {
    const deps = await createFakeDeps({ ...pageDeps() });
    const broken = {
      ...deps.monitor,
      all: () => {
        throw new Error("secret path");
      },
    };
    const answer = await (await createHttpServer({ ...deps, monitor: broken })).inject("/status");
    expect(answer.statusCode).toBe(500);
    expect(answer.payload).toContain("INTERNAL");
    expect(answer.payload).not.toContain("secret");
    expect(deps.lines).toContainEqual({ err: expect.objectContaining({ message: "secret path" }) });
  });
});

const failing = async () => Promise.reject(new FedwayError("STORE_FAILED", "The store is away."));

describe("what cannot be read is said, and the rest is shown", () => {
  it("of an endpoint", async () => {
    const { monitor } = pageDeps();
    if (monitor === undefined) throw new Error("no monitor");
    const text = await textOf("/endpoints/people", { monitor: { ...monitor, incidents: failing, score: failing } });
    expect(text.match(/This could not be read now/g)).toHaveLength(2);
    expect(text).not.toContain("None is recorded.");
    expect(text).toContain("Last 90 days");
  });

  it("of the status", async () => {
    const { monitor } = pageDeps();
    if (monitor === undefined) throw new Error("no monitor");
    const text = await textOf("/status", { monitor: { ...monitor, incidents: failing } });
    expect(text).toContain("Incidents cannot be read now.");
    expect(text).not.toContain("There is no open incident");
    expect(text).toContain("People of the north");
  });
});

const rowOf = (text: string, name: string): string =>
  text.split("<tr>").find((row) => row.includes(`>${name}<`)) ?? `no row ${name}`;

describe("unknown", () => {
  it("is neither up nor nothing on the status page", async () => {
    const row = rowOf(await textOf("/status"), "Coins that nobody has probed");
    expect(row).toContain('<span class="badge unknown">unknown</span>');
    expect(row.match(/no data/g)).toHaveLength(3);
    expect(row).toContain("25 hours: 25 without data");
    expect(row).not.toMatch(/%|class="[gmb]"/);
  });

  it("is neither up nor nothing on the endpoint's page", async () => {
    const text = await textOf("/endpoints/dark");
    expect(text).toContain("90 days: 90 without data");
    expect(text).toContain("No latency is known");
    expect(text).toContain("It has never been probed.");
    expect(text).not.toMatch(/\d %/);
  });

  it("counts are unknown, and lower bounds are marked", async () => {
    const text = await textOf("/endpoints/people");
    expect(rowOf(text, "distinct objects").match(/unknown/g)).toHaveLength(2);
    expect(rowOf(text, "distinct subjects")).toMatch(/≥ 40.*lower bound/);
    expect(rowOf(text, "triples")).toMatch(/100.*exact/);
  });

  it("what was not probed is not wrong", async () => {
    const text = await textOf("/endpoints/people");
    expect(rowOf(text, "MINUS")).toContain('<span class="verdict wrong">wrong</span>');
    expect(rowOf(text, "Subqueries")).toContain("not probed");
    expect(text).toContain("The probing ended early.");
  });
});

describe("the monitor itself", () => {
  const shouldSay = (heartbeat: Parameters<typeof pageDeps>[0], text: string): void =>
    it(text, async () => {
      for (const path of ["/", "/status", "/endpoints/people"])
        expect(await textOf(path, pageDeps(heartbeat))).toContain(text);
    });
  shouldSay({ heartbeat: { alive: false } }, "Monitoring stopped at <time");
  shouldSay({ heartbeat: { enabled: false } }, "Monitoring is switched off.");
  const offline = { heartbeat: { offline: { sinceMs: fakeNowMs, incident: "000000000._network" } } };
  shouldSay(offline, "This service has not been able to reach the network since <a");

  it("does not speak of the network on the page of an endpoint that is hosted here", async () => {
    const hosted = { contentTypes: [] } as unknown as ReturnType<HttpDeps["hosted"]>;
    const text = await textOf("/endpoints/people", { ...pageDeps(offline), hosted: () => hosted });
    expect(text).not.toContain("reach the network");
  });

  it("is silent while it runs", async () => expect(await textOf("/status")).not.toContain("Monitoring "));

  it("tells its gaps", async () => {
    const gaps = [{ fromMs: fakeNowMs - 7_200_000, toMs: fakeNowMs - 3_600_000 }];
    expect(await textOf("/status", pageDeps({ heartbeat: { gaps } }))).toContain("1 gap in the record");
  });
});

describe("the catalogue", () => {
  it("marks descriptions that Fedway made", async () => {
    const text = await textOf("/?q=proteins+without+words");
    expect(text).toMatch(/10 people, [^<]+<span class="made"[^>]*>generated from its data/);
    expect(await textOf("/?q=people+north")).not.toContain("generated from its data");
  });

  it("says why something was found", async () =>
    expect(await textOf("/?q=ancient&keyword=coins")).toMatch(
      /Found by title <mark>ancient<\/mark>.*keyword <mark>coins/,
    ));

  it("finds what the agents' tool finds, before what has the words, and says why", async () => {
    const hit = { title: "The north", status: "up", score: 1, terms: [], mentions: [] } as const;
    const dark = { ...hit, id: "dark", why: [{ field: "class", term: "insulin", matched: "Hormone" }] };
    const north = { ...hit, id: "north", federation: { members: 9, matching: ["gone", "people"] }, why: [] };
    const { finder } = await createFakeDeps({ ...pageDeps() });
    Object.assign(finder, {
      rankEndpoints: async () => ({
        hits: [
          { ids: ["dark"], isFederation: false, lookUp: () => dark, reasons: () => dark.why },
          { ids: ["gone", "people"], isFederation: true, lookUp: () => north, reasons: () => north.why },
        ],
        total: 2,
        ranking: "lexical" as const,
        complete: true,
      }),
    });
    const text = await textOf("/?q=ancient", { finder });
    const shown = [...text.matchAll(/<h3><a href="\/endpoints\/([^"]*)"/g)].map(([, id]) => id);
    expect(shown.slice(0, 3)).toStrictEqual(["dark", "gone", "people"]);
    expect(shown.length).toBeGreaterThan(3);
    expect(text).toContain("Found by class <mark>Hormone</mark>");
    expect(text).toContain('lies at several members of <a href="/federations/north">The north</a>');
    const down = await textOf("/?q=ancient&status=down", { finder });
    expect(down.match(/<h3>/g)?.length).toBeGreaterThan(0);
    expect(down).not.toContain('href="/endpoints/dark"');
  });

  it("puts working endpoints first", async () => {
    const text = await textOf("/?limit=200");
    const states = [...text.matchAll(/<\/h3><span class="badge (\w+)"/g)].map(([, state = ""]) => state);
    const order = ["up", "degraded", "flapping", "unknown", "down"];
    expect(new Set(states).size).toBeGreaterThan(2);
    expect(states).toStrictEqual(states.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
  });

  it("keeps filters in forms and pages", async () => {
    const text = await textOf("/?q=dataset&interface=sparql");
    expect(text).toContain('value="dataset"');
    expect(text).toContain('<option value="sparql" selected>');
    expect(text).toContain('href="/?q=dataset&amp;interface=sparql&amp;cursor=25"');
    expect(text).toContain("1 to 25 of 60");
  });

  it("says that nothing fits, and that a page is beyond the last", async () => {
    expect(await textOf("/?q=xyzzy")).toContain("No endpoint fits all of this.");
    expect(await textOf("/?cursor=1000")).toContain("There is no such page.");
  });

  it("shows the README's first query where its endpoints are hosted", async () => {
    const hosted = { contentTypes: [] } as unknown as ReturnType<HttpDeps["hosted"]>;
    expect(await textOf("/", { hosted: () => hosted })).toContain("LIMIT 12&#39;");
    expect(await textOf("/")).not.toContain("LIMIT 12");
  });
});

describe("a federation", () => {
  it("draws the links of its members, and has them in a table", async () => {
    const text = await textOf("/federations/north");
    const picture = /<svg class="graph".*?<\/svg>/s.exec(text)?.[0] ?? "";
    expect(picture.match(/<g class="node">/g)?.length).toBeGreaterThan(4);
    expect(picture).toContain("<title>People of the north to &lt;script&gt;");
    expect(picture).toContain(">owl:sameAs, 7</text>");
    expect(text).toMatch(/People of the north<\/a><\/th><td>owl:sameAs<\/td><td><a href="\/endpoints\/hostile">/);
    expect(text).toContain("owl:sameAs: from ");
    expect(text).toMatch(/class="button" href="\/query#federation=north&amp;query=SELECT/);
  });

  it("says how long its members were up, and what was not measured", async () => {
    const text = await textOf("/federations/north");
    expect(rowOf(text, "People of the north")).toMatch(/\d %/);
    expect(rowOf(text, "Coins that nobody has probed")).toContain("no data");
  });
});

describe("an endpoint", () => {
  it("draws its classes, and names its federations and links", async () => {
    const text = await textOf("/endpoints/people");
    const picture = /<svg class="graph".*?<\/svg>/s.exec(text)?.[0] ?? "";
    expect(picture.match(/<g class="node">/g)).toHaveLength(2);
    expect(picture).toContain('<text class="detail"');
    expect(picture).toContain(">not counted</text>");
    expect(text).toContain('<a href="/federations/north">');
    expect(text).toMatch(/Links with other endpoints.*<a href="\/endpoints\/hostile">/s);
    expect(await textOf("/endpoints/dark")).toContain("No link to another endpoint is known.");
  });
});

describe("incidents", () => {
  it("stand on top of the status page", async () => {
    const text = await textOf("/status");
    expect(text.indexOf("4 open incidents")).toBeGreaterThan(0);
    expect(text.indexOf("4 open incidents")).toBeLessThan(text.indexOf("<table>"));
    expect(text).toContain(`href="${incidentPath}"`);
  });

  it("are counted by the states when not all were read", async () => {
    const { monitor } = pageDeps();
    if (monitor === undefined) throw new Error("no monitor");
    const one = async () => (await monitor.incidents({ open: true })).slice(0, 1);
    const text = await textOf("/status", { monitor: { ...monitor, incidents: one } });
    expect(text).toContain("4 open incidents");
    expect(text).toContain("3 older ones not shown.");
  });

  it("show their evidence", async () => {
    const text = await textOf(incidentPath);
    expect(text).toContain("Incident of Museums, once");
    expect(text).toContain("&lt;img src=x onerror=&quot;alert(1)&quot;&gt; instead of results");
    expect(text).toMatch(/an error of its server.*503.*early probe/);
  });
});

it("pages the status: totals and what is down first, a hundred endpoints at once", async () => {
  const all = Array.from({ length: 250 }, (_, at) => ({
    endpoint: `e${at}`,
    url: `http://e${at}.example/`,
    state: at === 249 ? ("down" as const) : ("up" as const),
    streak: 0,
    hours: [],
  }));
  const { monitor } = pageDeps();
  if (monitor === undefined) throw new Error("the pages have a monitor");
  const shown = (path: string): Promise<string> => textOf(path, { monitor: { ...monitor, all: () => all } });
  const rows = (text: string) =>
    [...text.matchAll(/<tr><th scope="row"><a href="\/endpoints\/(\w+)"/g)].map(([, id]) => id);
  const first = await shown("/status");
  expect(first).toContain("<b>250</b> endpoints");
  expect(rows(first)).toHaveLength(100);
  expect(rows(first).slice(0, 2)).toEqual(["e249", "e0"]);
  const [, next = ""] = /<a rel="next" href="([^"]*)"/.exec(first) ?? [];
  expect(rows(await shown(next.replaceAll("&amp;", "&")))).toEqual(
    Array.from({ length: 100 }, (_, at) => `e${at + 99}`),
  );
  const last = await shown("/status?cursor=200");
  expect(rows(last)).toHaveLength(50);
  expect(last).not.toContain('rel="next"');
});

it("sorts the status by the filter and says so to screen readers", async () => {
  const text = await textOf("/status?sort=uptime&order=desc");
  expect(text).toContain(
    '<th scope="col" class="n" aria-sort="descending"><a href="/status?sort=uptime&amp;order=asc">',
  );
  expect(text.match(/aria-sort/g)).toHaveLength(1);
  const shown = await textOf("/status?state=down");
  expect(shown.match(/<tr><th scope="row">/g)).toHaveLength(4);
});

describe("the guide", () => {
  const guide = readdirSync(new URL("../../../../deploy/guide", import.meta.url)).filter(
    (name) => name !== "README.md",
  );

  it("lists every page", async () => {
    const index = await textOf("/help");
    for (const name of guide) expect(index, name).toContain(`href="/help/${name.replace(".md", "")}"`);
  });

  it("links pages and anchors that are there", async () => {
    for (const name of guide) {
      const path = `/help/${name.replace(".md", "")}`;
      const text = await textOf(path);
      for (const [, target = "", anchor] of text.matchAll(/href="((?:\/help(?:\/[\w-]+)?)?)#([^"]+)"/g)) {
        const there = target === "" ? text : await textOf(target);
        expect(there, `${path} -> ${target}#${anchor}`).toContain(`id="${anchor}"`);
      }
    }
  });

  it("names this service in commands", async () => {
    expect(await textOf("/help/monitoring")).toContain("curl -s http://127.0.0.1:0/api/status");
  });

  it("has no page of another folder", async () => {
    for (const path of ["/help/..%2f..%2fREADME", "/help/none", "/help/README"]) {
      expect((await get(path)).statusCode, path).toBeGreaterThanOrEqual(400);
    }
  });
});
