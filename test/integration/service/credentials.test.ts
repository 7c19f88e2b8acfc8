import { writeFile } from "node:fs/promises";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { startOtlpCollector } from "../../support/otlp-collector.ts";
import { type PrivateEndpoint, startPrivateEndpoint, startTokenServer } from "../../support/private-endpoint.ts";
import { entryTurtle, problemOf, type RunningService, startService } from "../../support/running-service.ts";
import { newFolder } from "../../support/scratch-folder.ts";

// Endpoints that want credentials: that they get them, and that no one else does.

const password = 'p4ssw0rd/with "quotes" & <marks>';
const basic = `Basic ${Buffer.from(`ada:${password}`).toString("base64")}`;
const token = "bearer-token-0123456789abcdef";
const key = "header-key 0123456789abcdef";
const clientSecret = "client-secret-0123456789";
const secrets = [password, basic.slice(6), token, key, clientSecret, "oauth-token-"];
const gates: Readonly<Record<string, (headers: IncomingHttpHeaders) => boolean>> = {
  basic: ({ authorization }) => authorization === basic,
  bearer: ({ authorization }) => authorization === `Bearer ${token}`,
  header: (headers) => headers["x-api-key"] === key,
  oauth: ({ authorization }) => authorization === `Bearer ${tokens.issued.at(-1)}`,
};

const folder = newFolder();
const file = join(folder, "credentials.json");
const members: Record<string, PrivateEndpoint> = {};
const member = (id: string): PrivateEndpoint => members[id] as PrivateEndpoint;
let tokens: Awaited<ReturnType<typeof startTokenServer>>;
let stranger: PrivateEndpoint;
let collector: Awaited<ReturnType<typeof startOtlpCollector>>;
let service: RunningService;

const write = (content: unknown): Promise<void> => writeFile(file, JSON.stringify(content), { mode: 0o600 });
const given = () => ({
  basic: { type: "basic", user: "ada", passwordFile: join(folder, "password") },
  bearer: { type: "bearer", token },
  header: { type: "header", name: "X-Api-Key", value: key },
  oauth: { type: "oauth", tokenUrl: tokens.url, clientId: "fedway", clientSecret, scope: "read" },
});

beforeAll(async () => {
  collector = await startOtlpCollector();
  tokens = await startTokenServer("fedway", clientSecret);
  for (const [id, gate] of Object.entries(gates)) {
    members[id] = await startPrivateEndpoint(`<urn:s> <urn:${id}> "${id}" .`, gate);
  }
  stranger = await startPrivateEndpoint('<urn:s> <urn:p> "stranger" .', () => true);
  await writeFile(join(folder, "password"), `${password}\n`);
  await write(given());
  service = await startService(
    { ...Object.fromEntries(Object.entries(members).map(([id, { url }]) => [id, url])), stranger: stranger.url },
    { FEDWAY_CREDENTIALS: file, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, FEDWAY_MONITOR: "on" },
  );
});
afterAll(async () => {
  await service.close();
  await Promise.all([...Object.values(members), stranger, tokens, collector].map((server) => server.close()));
});
beforeEach(() => {
  for (const one of [...Object.values(members), stranger]) {
    one.requests.length = 0;
    one.answerInstead(() => false);
  }
});

const ask = (id: string, query = "SELECT ?o { ?s ?p ?o }"): Promise<Response> =>
  service.query(query, { path: `/endpoints/${id}/sparql` });
const get = async (path: string): Promise<string> => (await fetch(service.url + path)).text();
const post = (path: string): Promise<Response> => fetch(service.url + path, { method: "POST" });

/** Everything that anybody may read of the service. */
async function everythingShown(): Promise<string> {
  const paths = [
    "/metrics",
    "/status",
    "/",
    "/openapi.json",
    "/api/endpoints",
    "/api/jobs",
    "/api/federations",
    "/api/incidents",
  ];
  const own = Object.keys(gates).flatMap((id) =>
    ["", "/availability", "/capabilities", "/void", "/incidents"].map((part) => `/api/endpoints/${id}${part}`),
  );
  const pages = Object.keys(gates).map((id) => `/endpoints/${id}`);
  return (await Promise.all([...paths, ...own, ...pages].map(get))).join("\n");
}

function expectNoSecret(...texts: readonly string[]): void {
  // Nor the beginning of one, which an excerpt has cut.
  for (const secret of secrets) for (const text of texts) expect(text).not.toContain(secret.slice(0, 10));
}

describe("an endpoint that wants credentials", () => {
  it.each(Object.keys(gates))("is asked with them: %s", async (id) => {
    const response = await ask(id);
    expect(await response.text()).toContain(`"${id}"`);
    expect(response.status).toBe(200);
    expect(member(id).requests.filter(({ headers }) => !gates[id]?.(headers))).toEqual([]);
  });
  it("is a member of federated queries, one token for all requests at once", async () => {
    const before = tokens.issued.length;
    const clauses = Object.keys(gates).map((id) => `{ SERVICE <${member(id).url}> { ?s <urn:${id}> ?o } }`);
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => service.query(`SELECT ?o { ${clauses.join(" UNION ")} }`)),
    );
    for (const response of responses) {
      const { results } = (await response.json()) as { results: { bindings: readonly { o: { value: string } }[] } };
      expect(results.bindings.map(({ o }) => o.value).toSorted()).toEqual(Object.keys(gates).toSorted());
    }
    expect(tokens.issued.length - before).toBeLessThanOrEqual(1);
    expect(new Set(tokens.bodies)).toEqual(new Set(["grant_type=client_credentials&scope=read"]));
  });
  it.each(Object.keys(gates))("is described, probed and looked at for what it can: %s", async (id) => {
    for (const what of ["describe", "capabilities"]) {
      const response = await post(`/api/endpoints/${id}/${what}`);
      expect(response.status, await response.text()).toBe(202);
    }
    await eventually(async () => expect(await get(`/api/endpoints/${id}/availability`)).toContain('"up"'));
    await eventually(async () => expect(await get("/api/jobs")).not.toMatch(/"state":"(waiting|running)"/u));
    expect(member(id).requests.length).toBeGreaterThan(3);
    expect(member(id).requests.filter(({ headers }) => !gates[id]?.(headers))).toEqual([]);
  });
  it("is not asked for pages of other sites, alone or as a member", async () => {
    const queries = [
      "SELECT ?o { ?s ?p ?o }",
      `SELECT ?o { SERVICE <${member("basic").url}> { ?s ?p ?o } SERVICE <${stranger.url}> { ?x ?y ?z } }`,
    ];
    const evil = "https://evil.example";
    const pages: readonly Record<string, string>[] = [{ Origin: evil }, { "Sec-Fetch-Site": "cross-site" }];
    for (const headers of pages) {
      for (const [at, query] of queries.entries()) {
        const path = at === 0 ? "/endpoints/basic/sparql" : "/sparql";
        const response = await fetch(`${service.url}${path}?query=${encodeURIComponent(query)}`, { headers });
        expect([headers, query, (await problemOf(response)).code]).toEqual([headers, query, "SERVICE_TARGET_REFUSED"]);
      }
      const open = await fetch(`${service.url}/endpoints/stranger/sparql?query=ASK%7B%7D`, { headers });
      expect([open.status, open.headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
    }
    expect(member("basic").requests).toEqual([]);
  });
  it("is not asked why an answer to a page of another site is empty", async () => {
    const [own, other] = [member("basic").url, stranger.url];
    const nothing = `SERVICE <${other}> { ?s <urn:none> ?z }`;
    const queries = [
      `SELECT ?o { ${nothing} OPTIONAL { SERVICE <${own}> { ?s <urn:basic> ?o } } }`,
      `SELECT ?s { ${nothing} FILTER EXISTS { SERVICE <${own}> { ?s <urn:basic> ?o } } }`,
    ];
    const shown = async (query: string, headers: Readonly<Record<string, string>>): Promise<unknown> => {
      const body = JSON.stringify({ query });
      const type = { "Content-Type": "application/json" };
      const response = await fetch(`${service.url}/api/query`, {
        method: "POST",
        headers: { ...type, ...headers },
        body,
      });
      return ((await response.json()) as { status: unknown }).status;
    };
    for (const query of queries) {
      // Before and after the operator's own page has had the diagnosis.
      expect(await shown(query, { Origin: "https://evil.example" })).toBe("empty");
      expect(member("basic").requests).toEqual([]);
      expect(await shown(query, {})).toBe("empty");
      expect(member("basic").requests.length).toBeGreaterThan(0);
      member("basic").requests.length = 0;
      expect(await shown(query, { Origin: "https://evil.example" })).toBe("empty");
      expect(member("basic").requests).toEqual([]);
    }
  });
  it("gets a new token once where the one in use was withdrawn", async () => {
    await (await ask("oauth")).text();
    const before = tokens.issued.length;
    let refusals = 0;
    member("oauth").answerInstead(({ headers }, response) => {
      if (headers.authorization !== `Bearer ${tokens.issued[before - 1]}`) return false;
      refusals += 1;
      response.writeHead(401).end();
      return true;
    });
    expect((await Promise.all([ask("oauth"), ask("oauth"), ask("oauth")])).map(({ status }) => status)).toEqual([
      200, 200, 200,
    ]);
    expect(tokens.issued).toHaveLength(before + 1);
    expect(refusals).toBeGreaterThan(0);
    // One that is refused although it is new costs no token with every query.
    member("oauth").answerInstead((_, response) => response.writeHead(401).end() !== undefined);
    for (let n = 0; n < 5; n += 1) expect((await ask("oauth")).status).toBe(502);
    expect(tokens.issued.length).toBeLessThanOrEqual(before + 2);
  });
});

/** What an endpoint says that quotes its request: status, media type, body. */
type Echo = readonly [what: string, status: number, mediaType: string, body: (header: string) => string];

const rows = '{"head":{"vars":["o"]},"results":{"bindings":[{"o":{"type":"literal","value":"1"}}';
const echoes: readonly Echo[] = [
  ["text", 500, "text/plain", (header) => `cannot handle ${header} now`],
  ["JSON", 400, "application/json", (header) => JSON.stringify({ message: `bad request: ${header}` })],
  [
    "HTML",
    500,
    "text/html",
    (header) => `<html><body>${header.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</body></html>`,
  ],
  ["an excerpt that ends in it", 403, "text/plain", (header) => `${"x".repeat(276)} ${header}`],
  ["a URL", 500, "text/plain", (header) => `/login?back=${encodeURIComponent(header)}`],
  [
    "a page in place of an answer",
    200,
    "text/html",
    (header) => `<html><body>${header.replaceAll("<", "&lt;")}</body></html>`,
  ],
  ["the end of an answer", 200, "application/sparql-results+json", (header) => `${rows}\nError: ${header}`],
  [
    "the cut end of an answer",
    200,
    "application/sparql-results+json",
    (header) => `${rows}\nError: ${"x".repeat(272)} ${header}`,
  ],
  ["a media type", 200, "text/", () => ""],
];

describe("an endpoint that quotes what it was sent", () => {
  const sentBy = ({ authorization = "", ...headers }: IncomingHttpHeaders, id: string): string =>
    id === "basic" ? `${authorization} ${password}` : `${authorization}${String(headers["x-api-key"] ?? "")}`;

  it.each(echoes.flatMap((echo) => Object.keys(gates).map((id) => [echo[0], id, echo] as const)))(
    "in %s shows no secret: %s",
    async (_, id, [, status, mediaType, body]) => {
      const echo = ({ headers }: { readonly headers: IncomingHttpHeaders }, response: ServerResponse): boolean => {
        const header = sentBy(headers, id);
        response.writeHead(status, {
          "content-type": mediaType === "text/" ? `text/${header.split(" ")[1] ?? ""}` : mediaType,
        });
        return response.end(body(header)) !== undefined;
      };
      // The failures of the test before have opened its breaker.
      await eventually(async () => expect((await ask(id)).status).toBe(200));
      member(id).answerInstead(echo);
      const federated = `SELECT * { { SERVICE <${member(id).url}> { ?s <urn:x> ?o } } UNION { SERVICE <stranger> { ?s ?p ?o } } }`;
      const responses = await Promise.all([
        ask(id, "SELECT ?o { ?s ?p ?o }"),
        service.query(federated.replace("<stranger>", `<${stranger.url}>`)),
      ]);
      const texts = await Promise.all(responses.map((response) => response.text().catch(String)));
      const runs = responses.map(({ headers }) => headers.get("Fedway-Run") ?? "");
      const kept = await Promise.all(runs.flatMap((run) => [get(`/api/runs/${run}`), get(`/runs/${run}`)]));
      expect(texts.join("")).toContain("[secret]");
      expectNoSecret(...texts, ...kept, JSON.stringify(responses.map(({ headers }) => Array.from(headers))));
    },
  );
  it("leaves nothing in what the service shows, or in its traces", async () => {
    expectNoSecret(await everythingShown());
    await eventually(() => expect(collector.spans.length).toBeGreaterThan(50));
    expectNoSecret(collector.received);
  });
});

const entriesPath = (id: string): string => `${service.url}/api/endpoints/${id}`;
const put = async (id: string, url: string): Promise<void> => {
  const headers = { "content-type": "text/turtle" };
  const response = await fetch(entriesPath(id), { method: "PUT", headers, body: entryTurtle(id, url) });
  expect(response.ok, await response.text()).toBe(true);
};

describe("credentials go nowhere else", () => {
  const secretsAtStranger = (): unknown =>
    stranger.requests.filter(({ headers }) => headers.authorization ?? headers["x-api-key"]);

  it.each(Object.keys(gates))("behind a redirect, nor back again: %s", async (id) => {
    member(id).answerInstead(({ path }, response) => {
      if (path.includes("back")) return false;
      return response.writeHead(307, { location: `${stranger.origin}/sparql` }).end() !== undefined;
    });
    expect(await (await ask(id)).text()).toContain("stranger");
    stranger.answerInstead(
      (_, response) => response.writeHead(307, { location: `${member(id).url}?back` }).end() !== undefined,
    );
    const problem = await problemOf(await ask(id));
    expect(problem).toMatchObject({ code: "ENDPOINT_REFUSED", upstreamStatus: 401 });
    expect(problem.next).toContain("FEDWAY_CREDENTIALS are not sent behind a redirect");
    expect(stranger.requests.length).toBeGreaterThan(1);
    expect(secretsAtStranger()).toEqual([]);
  });
  it("to a mirror, which answers with its name and without them", async () => {
    const mirror = entryTurtle("copy", `${stranger.origin}/copy`).replace(
      /\.$/u,
      '; <https://w3id.org/fedway/ns#mirrorOf> "basic" .',
    );
    await fetch(entriesPath("copy"), { method: "PUT", headers: { "content-type": "text/turtle" }, body: mirror });
    member("basic").answerInstead((_, response) => response.writeHead(500).end("down") !== undefined);
    const response = await ask("basic");
    expect(await response.text()).toContain("stranger");
    expect(response.headers.get("Fedway-Notes")).toBe("MIRROR_ANSWERED");
    const run = await get(`/api/runs/${response.headers.get("Fedway-Run")}`);
    expect(JSON.parse(run)).toMatchObject({ sources: [{ endpoint: "basic", mirror: "copy", status: "ok" }] });
    expect(secretsAtStranger()).toEqual([]);
    expect((await fetch(entriesPath("copy"), { method: "DELETE" })).ok).toBe(true);
  });
  it("to where a change over the API points, until its origin is named", async () => {
    const url = `${stranger.origin}/other`;
    await put("bearer", url);
    stranger.answerInstead((_, response) => response.writeHead(401).end("who?") !== undefined);
    const problem = await problemOf(await ask("bearer"));
    expect(problem.detail).toContain("no credentials were sent");
    expect(problem.next).toContain('Set "origin" of "bearer" in the file that FEDWAY_CREDENTIALS names');
    await (
      await service.query(`SELECT * { SERVICE <${url}> { ?s ?p ?o } SERVICE <${member("basic").url}> { ?s ?q ?r } }`)
    ).text();
    expect(stranger.requests.length).toBeGreaterThan(1);
    expect(secretsAtStranger()).toEqual([]);
    await write({ ...given(), bearer: { ...given().bearer, origin: stranger.origin } });
    await eventually(async () => {
      await (await ask("bearer")).text();
      expect(secretsAtStranger()).not.toEqual([]);
    });
    expect((await fetch(entriesPath("bearer"), { method: "DELETE" })).ok).toBe(true);
  });
});
