import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionFigures } from "../../../src/query/session-figures.ts";
import { type RunningService, startService } from "../../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";

// Who sent a query sees its text again, and how the session went; nobody else does.

const token = "a-token-of-these-tests";
const admin = { Authorization: `Bearer ${token}` };

let servers: readonly SparqlTestServer[] = [];
let service: RunningService;
beforeAll(async () => {
  servers = await Promise.all([
    startSparqlTestServer('<x:a> <x:name> "Ada" .'),
    startSparqlTestServer('<x:a> <x:age> "36" .'),
  ]);
  const [names, ages] = servers.map(({ url }) => url);
  const env = { FEDWAY_EXPERIENCE: "10", FEDWAY_ADMIN_TOKEN: token, FEDWAY_TRUST_PROXY: "127.0.0.0/8" };
  service = await startService({ names: names ?? "", ages: ages ?? "" }, env);
});
afterAll(async () => {
  await service?.close();
  for (const server of servers) await server.close();
});

type Headers = Readonly<Record<string, string>>;

const from = (address: string): Headers => ({ "X-Forwarded-For": address });

async function ask(query: string, headers: Headers): Promise<{ readonly run: string; readonly status: number }> {
  const response = await fetch(`${service.url}/api/query`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify({ query }),
  });
  await response.text();
  return { run: response.headers.get("Fedway-Run") ?? "", status: response.status };
}

async function read(path: string, headers: Headers) {
  const response = await fetch(`${service.url}${path}`, { headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const both = "SELECT * { SERVICE <names> { ?s <x:name> ?n } SERVICE <ages> { ?s <x:age> ?age } }";
const one = "SELECT * { SERVICE <names> { ?s <x:name> ?n } }";
const nobody = 'SELECT * { SERVICE <names> { ?s <x:name> "Nobody" } }';
const either = "SELECT * { { SERVICE <names> { ?s <x:name> ?n } } UNION { SERVICE <ages> { ?s <x:name> ?n } } }";

describe("a run", () => {
  it("tells its owner what was asked, and others only what became of it", async () => {
    const owner = { ...from("192.0.2.1"), "Fedway-Session": "errand-1" };
    const { run } = await ask(both, owner);
    const { body } = await read(`/api/runs/${run}`, owner);
    expect(body).toMatchObject({ status: "ok", asked: { query: both, session: "errand-1", repairs: [] } });
    for (const other of [from("192.0.2.2"), admin, {}]) {
      const seen = await read(`/api/runs/${run}`, other);
      expect(seen).toMatchObject({ status: 200, body: { id: run, status: "ok" } });
      expect(JSON.stringify(seen.body)).not.toContain("x:name");
      expect(seen.body).not.toHaveProperty("asked");
    }
  });

  it("belongs to the admin where the token is shown, from any address; a wrong token changes nothing", async () => {
    const { run } = await ask(one, { ...from("192.0.2.3"), ...admin });
    expect((await read(`/api/runs/${run}`, { ...from("192.0.2.4"), ...admin })).body).toHaveProperty("asked");
    expect((await read(`/api/runs/${run}`, from("192.0.2.3"))).body).not.toHaveProperty("asked");
    const wrong = { ...from("192.0.2.3"), Authorization: "Bearer wrong" };
    expect((await read(`/api/runs/${run}`, wrong)).body).not.toHaveProperty("asked");
  });

  it("forgets no outcome for a text that is too long to be kept", async () => {
    const owner = from("192.0.2.5");
    const { run } = await ask(`${one}${" ".repeat(20_000)}`, owner);
    const { body } = await read(`/api/runs/${run}`, owner);
    expect(body).toMatchObject({ status: "ok", asked: { repairs: [] } });
    expect(body["asked"]).not.toHaveProperty("query");
  });
});

describe("a session", () => {
  const owner = { ...from("192.0.2.9"), "Fedway-Session": "errand" };
  const figuresOf = async (parameters = ""): Promise<SessionFigures> =>
    (await read(`/api/sessions/errand${parameters}`, owner)).body as unknown as SessionFigures;

  it("has the figures of its queries, for its owner", async () => {
    const sent = ["SELECT * { ?s ?p", nobody, one, one, both, either, "SELECT * { ?s ?p ?o }"];
    const statuses: number[] = [];
    for (const query of sent) statuses.push((await ask(query, owner)).status);
    expect(statuses).toEqual([400, 200, 200, 200, 200, 200, 400]);
    expect(await figuresOf()).toMatchObject({
      queries: 7,
      outcomes: { ok: 4, empty: 1, partial: 0, failed: 2, cancelled: 0 },
      validity: 6 / 7,
      informed: 0,
      consultation: null,
      allEndpoints: 2 / 5,
      trivial: 1 / 5,
      repeated: 1,
      corrections: 2,
      corrected: 1,
      switches: 1,
      repairs: 0,
      forgotten: 0,
    });
    expect(await figuresOf("?holding=names,elsewhere")).toMatchObject({ consultation: 0.5 });
    expect((await read("/api/sessions/errand", from("192.0.2.8"))).body).toMatchObject({ code: "SESSION_UNKNOWN" });
    expect((await read("/api/sessions/errand?federation=none", owner)).body).toMatchObject({
      code: "FEDERATION_UNKNOWN",
    });
  });

  it("counts the tools that were used before its queries", async () => {
    const { sessions } = service.app.queries;
    const whose = { owner: "192.0.2.10", session: "tools" };
    const headers = { ...from(whose.owner), "Fedway-Session": whose.session };
    await ask(one, headers);
    sessions.used({ ...whose, tool: "describe_endpoint", informs: true });
    await ask(one, headers);
    const { body } = await read("/api/sessions/tools", headers);
    expect(body).toMatchObject({ queries: 2, informed: 0.5, tools: { describe_endpoint: 1 } });
  });

  it.each(["a b", "é", "x".repeat(101), ""])("refuses the name %.20j", async (name) => {
    const headers = { "Fedway-Session": Buffer.from(name).toString("latin1") };
    expect((await ask(one, headers)).status).toBe(400);
    const response = await fetch(`${service.url}/sparql?query=${encodeURIComponent(one)}`, { headers });
    expect(response.status).toBe(400);
  });

  it("of many keeps the latest calls, and says how many it does not count", async () => {
    const { sessions } = service.app.queries;
    const whose = { owner: "192.0.2.11", session: "long" };
    for (let count = 0; count < 1_200; count += 1)
      sessions.used({ ...whose, tool: "describe_endpoint", informs: true });
    expect(await sessions.calls(whose)).toMatchObject({ forgotten: 200, calls: { length: 1_000 } });
    for (let count = 0; count < 30_000; count += 1) {
      sessions.used({ owner: "192.0.2.12", session: `s${count}`, tool: "describe_endpoint", informs: true });
    }
    expect(await sessions.calls(whose)).toBeUndefined();
    expect(await sessions.calls({ owner: "192.0.2.12", session: "s29999" })).toBeDefined();
  });
});

describe("an export of a session", () => {
  const whose = { owner: "192.0.2.20", session: "export" };
  const headers = { ...from(whose.owner), "Fedway-Session": whose.session };
  const call = (name: string, given: object, session = whose.session) =>
    service.app.toolbox("full").call(name, given, { ...whose, session, signal: new AbortController().signal });

  it("is a trace by the conventions for GenAI, or the questions whose last query was ok; for its owner", async () => {
    await call("find_endpoints", { question: "names" });
    await call("run_query", { query: nobody, question: "Who has a name?" });
    await call("run_query", { query: one, question: "Who has a name?" });
    await call("run_query", { query: `${one} # 2`, question: "Is somebody called Nobody?" });
    await call("run_query", { query: `${nobody} # 2`, question: "Is somebody called Nobody?" });
    await call("run_query", { query: `${one} # 3` });
    await call("run_query", { query: "SELECT", question: "What is broken?" });
    const { body } = await read("/api/sessions/export?format=otlp", headers);
    const [{ scopeSpans }] = body["resourceSpans"] as [{ scopeSpans: [{ spans: Record<string, unknown>[] }] }];
    const [root, ...spans] = scopeSpans[0].spans;
    expect(root).toMatchObject({ name: "invoke_agent", traceId: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(spans.map(({ name }) => name)).toEqual([
      "execute_tool find_endpoints",
      ...Array(6).fill("execute_tool run_query"),
    ]);
    for (const span of spans)
      expect(span).toMatchObject({
        traceId: root?.["traceId"],
        parentSpanId: root?.["spanId"],
        spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
        startTimeUnixNano: expect.stringMatching(/^[1-9]\d{18}$/),
        endTimeUnixNano: expect.stringMatching(/^[1-9]\d{18}$/),
        attributes: expect.arrayContaining([
          { key: "gen_ai.conversation.id", value: { stringValue: "export" } },
          { key: "gen_ai.operation.name", value: { stringValue: "execute_tool" } },
        ]),
      });
    expect(spans.map(({ status }) => (status as { code: number }).code)).toEqual([0, 0, 0, 0, 0, 0, 2]);
    expect(JSON.stringify(body)).not.toContain("x:name");
    const pairs = await fetch(`${service.url}/api/sessions/export?format=pairs`, { headers });
    expect(pairs.headers.get("content-type")).toContain("application/jsonl");
    const lines = (await pairs.text()).trim().split("\n");
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      { question: "Who has a name?", query: one, rows: 1, schema: { names: null } },
    ]);
    for (const format of ["otlp", "pairs"])
      expect((await read(`/api/sessions/export?format=${format}`, from("192.0.2.21"))).status).toBe(404);
    expect((await read("/api/sessions/export?format=csv", headers)).status).toBe(400);
  });

  it("and all else of a session is nothing to another one behind the same address", async () => {
    const { data } = await call("run_query", { query: one });
    const ran = await call("run_query", { query: nobody });
    const kept = service.app.mcpParts().resources;
    const many = await call("run_query", {
      query: "SELECT * { SERVICE <names> { { ?s ?p ?o } UNION { ?s ?p ?o } } }",
      max_rows: 1,
    });
    const { next_cursor: cursor, resource } = many.data as { next_cursor: string; resource: string };
    expect(data["cached"]).toBe(true);
    expect((await call("run_query", { query: one }, "another")).data["cached"]).toBe(false);
    expect((await call("check_query", { query: one }, "third")).data["repeat_of"]).toBeNull();
    for (const session of ["another", undefined]) {
      const asOther = (name: string, given: object) =>
        service.app
          .toolbox("full")
          .call(name, given, { owner: whose.owner, session, signal: new AbortController().signal });
      expect((await asOther("run_query", { cursor })).problem?.code).toBe("RESULT_UNKNOWN");
      expect((await asOther("explain_result", { run_id: ran.data["run"] })).problem?.code).toBe("RUN_UNKNOWN");
      await expect(kept.read(resource, { owner: whose.owner, session })).rejects.toMatchObject({
        code: "RESULT_UNKNOWN",
      });
    }
    expect((await call("run_query", { cursor })).problem).toBeUndefined();
    expect((await call("explain_result", { run_id: ran.data["run"] })).problem).toBeUndefined();
    expect((await kept.read(resource, whose)).mimeType).toBe("text/csv");
  });
});

describe("the budget of a session", () => {
  it.each([
    ["FEDWAY_SESSION_REQUESTS", "2", "The session has used its 2 requests to endpoints."],
    ["FEDWAY_SESSION_ROWS", "2", "The session has used its 2 rows."],
    ["FEDWAY_SESSION_BYTES", "20", "The session has used its 20 bytes from endpoints."],
    ["FEDWAY_SESSION_MS", "1", "The session has used its 1 milliseconds."],
  ])("%s ends it with a clear error, and no other session", async (name, most, detail) => {
    const own = await startService({ names: servers[0]?.url ?? "" }, { [name]: most });
    const call = (tool: string, given: object, session?: string) =>
      own.app.toolbox("full").call(tool, given, { owner: "192.0.2.1", session, signal: new AbortController().signal });
    try {
      let last = await call("run_query", { query: one }, "busy");
      expect(last.problem).toBeUndefined();
      for (let at = 0; at < 50 && last.problem === undefined; at++)
        last = await call("run_query", { query: `${one} # ${at}` }, "busy");
      expect(last.problem).toMatchObject({ code: "SESSION_SPENT", status: 429, detail });
      expect(last.text).toContain("next: Answer with what is known, or begin another session.");
      expect((await call("explain_result", { run_id: "x" }, "busy")).problem?.code).toBe("SESSION_SPENT");
      expect((await call("find_endpoints", { question: "names" }, "busy")).problem).toBeUndefined();
      const sent = { method: "POST", body: new URLSearchParams({ query: one }) };
      const busy = { ...sent, headers: { "Fedway-Session": "busy" } };
      // Over HTTP it is another owner's session of that name.
      expect((await fetch(`${own.url}/sparql`, busy)).status).toBe(200);
      for (const session of ["other", undefined])
        expect((await call("run_query", { query: one }, session)).problem).toBeUndefined();
    } finally {
      await own.close();
    }
  });
});
