import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { AskAnswer } from "../../../src/agent/ask/ask-answer.ts";
import { cli } from "../../support/run-cli.ts";
import { openService, type RunningService, startService } from "../../support/running-service.ts";
import { newFolder } from "../../support/scratch-folder.ts";
import { startScriptedModel } from "../../support/scripted-model.ts";

// The reference agent at a whole service with the example federation, over a model that says what it is told to say.

const key = "sk-key-of-these-tests";
const token = "a-token-of-these-tests";
const question = "What are the names of the people?";
const right = "SELECT ?name { SERVICE <people> { ?person <http://xmlns.com/foaf/0.1/name> ?name } } LIMIT 3";
const empty = 'SELECT ?p { SERVICE <people> { ?p <http://xmlns.com/foaf/0.1/name> "Nobody at all" } }';
const fenced = (query: string) => ({ text: `Here it is:\n\`\`\`sparql\n${query}\n\`\`\`` });

let model: Awaited<ReturnType<typeof startScriptedModel>>;
let env: Record<string, string>;
/** The service of these settings, or that of the test when it has others. */
let usual: RunningService;
let service: RunningService;
let own: RunningService | undefined;
beforeAll(async () => {
  model = await startScriptedModel();
  env = {
    FEDWAY_EXAMPLES: "on",
    FEDWAY_ADMIN_TOKEN: token,
    FEDWAY_CHAT: model.url,
    FEDWAY_CHAT_MODEL: "scripted",
    FEDWAY_CHAT_KEY: key,
    FEDWAY_CHAT_PRICE: "1/10",
  };
  usual = await startService({}, env);
});
afterAll(async () => {
  await usual?.close();
  await model?.close();
});
beforeEach(() => {
  service = usual;
});
afterEach(async () => {
  await own?.close();
  own = undefined;
});

async function startOwn(more: Record<string, string>): Promise<void> {
  own = await startService({}, { ...env, ...more });
  service = own;
}

interface Asked {
  readonly status: number;
  readonly text: string;
  readonly answer: AskAnswer;
}

async function ask(body: object = { question }, signal?: AbortSignal): Promise<Asked> {
  const response = await fetch(`${service.url}/api/ask`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  const text = await response.text();
  return { status: response.status, text, answer: JSON.parse(text) as AskAnswer };
}

describe("a question", () => {
  it("is answered with rows, the query, its endpoints, tokens and cost", async () => {
    model.answer(fenced(right));
    const { status, answer, text } = await ask();
    expect(status).toBe(200);
    expect(answer).toMatchObject({
      status: "ok",
      stopped: "answered",
      query: right,
      endpoints: expect.arrayContaining(["people"]),
      turns: 1,
      rounds: 0,
      tokens: { input: 100, output: 10, estimated: false },
      cost: 0.0002,
      diagnosis: null,
      result: { status: "ok" },
    });
    expect(answer.steps.map(({ step }) => step)).toEqual(
      expect.arrayContaining(["find_endpoints", "describe_endpoint", "search_terms", "model", "run_query"]),
    );
    const [sent] = model.sent;
    expect(sent).toMatchObject({ authorization: `Bearer ${key}`, model: "scripted" });
    expect(sent).not.toHaveProperty("tools");
    expect(sent?.messages[1]?.content).toContain(question);
    expect(JSON.stringify(sent?.messages) + text).not.toContain(key);
    const figures = await fetch(`${service.url}/api/sessions/${answer.session}`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(await figures.json()).toMatchObject({ queries: 1, informed: 1, validity: 1 });
  });

  it("is kept with its query for the next one, where pairs are kept", async () => {
    await startOwn({ FEDWAY_EXPERIENCE: "10" });
    model.answer(fenced(empty), fenced(right));
    expect((await ask()).answer).toMatchObject({ status: "ok", rounds: 1 });
    const found = await fetch(`${service.url}/api/tools/find_examples`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ question }),
    });
    expect(await found.text()).toContain(JSON.stringify(right).slice(1, -1));
  });

  it("is asked again with what went wrong, for as many rounds as wanted", async () => {
    const script = [fenced("SELECT ?name { SERVICE <people> { ?p ?name } }"), fenced(empty), fenced(right)];
    model.answer(...script);
    expect((await ask()).answer).toMatchObject({ status: "ok", turns: 3, rounds: 2 });
    expect(model.sent[1]?.messages.at(-1)?.content).toContain("QUERY_SYNTAX");
    expect(model.sent[2]?.messages.at(-1)?.content).toContain("empty");
    model.answer(...script);
    expect((await ask({ question, rounds: 1 })).answer).toMatchObject({
      status: "empty",
      stopped: "rounds",
      rounds: 1,
    });
    model.answer(...script);
    const once = await ask({ question, rounds: 0 });
    expect(once).toMatchObject({ status: 400, answer: { status: "failed", stopped: "rounds", turns: 1 } });
  });

  it("that the model cannot answer is unknown, which is neither empty nor failed", async () => {
    model.answer({ text: "<think>SELECT { no }</think>UNKNOWN" });
    expect(await ask()).toMatchObject({
      status: 200,
      answer: { status: "unknown", stopped: "unknown", query: null, result: null },
    });
  });

  it("lets a model call tools where it can, and answers calls of tools that there are not", async () => {
    await startOwn({ FEDWAY_CHAT_MODE: "tools" });
    model.answer(
      {
        calls: [
          ["find_endpoints", '{"question": "people"}'],
          ["delete_everything", "{}"],
          ["describe_endpoint", "not JSON"],
        ],
      },
      { calls: [["run_query", JSON.stringify({ query: right })]] },
    );
    const { answer } = await ask();
    expect(answer).toMatchObject({ status: "ok", query: right, turns: 2 });
    const offered = model.sent[0]?.tools?.map((tool) => tool.function.name);
    expect(offered).toContain("search_terms");
    expect(offered).not.toContain("run_query");
    const replies = model.sent[1]?.messages.slice(-3).map(({ content }) => content);
    expect(replies?.[0]).toContain("people");
    expect(replies?.[1]).toContain("TOOL_UNKNOWN");
    expect(replies?.[2]).toContain("REQUEST_INVALID");
  });
});

describe("a setup", () => {
  const setup = { tools: ["run_sparql_query", "submit_final_query"], prompt: "Only this.", lookup: false };
  const calls = (name: string, query: string) => ({ calls: [[name, JSON.stringify({ query })] as const] });

  it("is another agent: its tools, its prompt, nothing looked up, and it ends the question itself", async () => {
    await startOwn({ FEDWAY_CHAT_MODE: "tools" });
    model.answer(calls("run_sparql_query", empty), calls("find_endpoints", "x"), calls("run_sparql_query", right), {
      calls: [["submit_final_query", JSON.stringify({ query: right })]],
    });
    const { answer } = await ask({ question, setup });
    expect(answer).toMatchObject({ status: "ok", stopped: "submitted", query: right, turns: 4, endpoints: [] });
    expect(answer.steps.map(({ step, query, outcome }) => [step, query, outcome])).toEqual([
      ["model", undefined, undefined],
      ["run_sparql_query", empty, "empty"],
      ["model", undefined, undefined],
      ["find_endpoints", undefined, "TOOL_UNKNOWN"],
      ["model", undefined, undefined],
      ["run_sparql_query", right, "ok"],
      ["model", undefined, undefined],
      ["submit_final_query", right, "submitted"],
    ]);
    expect(model.sent[0]?.messages).toEqual([
      { role: "system", content: "Only this." },
      { role: "user", content: `Question: ${question}` },
    ]);
    expect(model.sent[0]?.tools?.map((tool) => tool.function.name)).toEqual(setup.tools);
    const session = await fetch(`${service.url}/api/sessions/${answer.session}?format=calls`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    const runs = answer.steps.flatMap(({ run }) => run ?? []);
    expect(await session.json()).toMatchObject({
      forgotten: 0,
      calls: [
        { kind: "query", run: runs[0], status: "empty", contacted: ["people"] },
        { kind: "query", run: runs[1], status: "ok", requests: 1 },
        { kind: "tool", tool: "submit_final_query", query: right },
      ],
    });
  });

  it("submits what it did not run, and has limits of its own", async () => {
    await startOwn({ FEDWAY_CHAT_MODE: "tools" });
    model.answer(calls("submit_final_query", "SELECT"));
    expect((await ask({ question, setup })).answer).toMatchObject({
      status: "unknown",
      stopped: "submitted",
      query: "SELECT",
    });
    model.answer(calls("run_sparql_query", empty));
    expect((await ask({ question, setup: { ...setup, turns: 3 } })).answer).toMatchObject({
      stopped: "turns",
      turns: 3,
      query: empty,
    });
    expect((await ask({ question, setup: { ...setup, tokens: 1_000 } })).answer).toMatchObject({ stopped: "tokens" });
    model.answer(fenced(right));
    expect((await ask({ question, setup })).answer).toMatchObject({ status: "ok", stopped: "answered", query: right });
  });

  it("with a tool that is not there is refused before the model is asked", async () => {
    model.answer("silence");
    const { status, answer } = await ask({ question, setup: { ...setup, tools: ["run_sparql"] } });
    expect({ status, answer }).toMatchObject({ status: 400, answer: { code: "REQUEST_INVALID" } });
    expect(model.sent).toEqual([]);
  });
});

describe("the text2sparql API", () => {
  const asked = async (parameters: Record<string, string>) => {
    const response = await fetch(`${service.url}/api/text2sparql?${new URLSearchParams(parameters).toString()}`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    const body: unknown = await response.json();
    return { status: response.status, body };
  };

  it("answers with the query of a question; an empty one when the model knows none", async () => {
    model.answer(fenced(right), { text: "UNKNOWN" });
    for (const [dataset, query] of [
      [`${service.url}/endpoints/people/sparql`, right],
      ["http://benchmark.example/federations/catalog", ""],
    ] as const)
      expect(await asked({ question, dataset })).toEqual({ status: 200, body: { dataset, question, query } });
    expect(await asked({ question, dataset: "elsewhere" })).toMatchObject({ status: 404 });
    expect(await asked({ question })).toMatchObject({ status: 400 });
    model.answer({ status: 401, body: "no" });
    expect(await asked({ question, dataset: "people" })).toMatchObject({ status: 502, body: { code: "MODEL_FAILED" } });
  });
});

describe("a model that does harm", () => {
  const page = `<html>${"x".repeat(1 << 20)}`;
  it.each([
    ["sends a megabyte", { status: 200, body: JSON.stringify({ choices: [{ message: { content: page } }] }) }],
    ["sends no JSON", { status: 200, body: '{"choices": [' }],
    ["sends something else", { status: 200, body: '{"choices": []}' }],
    ["fails", { status: 500, body: `no: ${key}` }],
    ["refuses the key", { status: 401, body: `Incorrect API key: ${key}` }],
  ])("and %s fails the question, in words that keep the key", async (_how, reply) => {
    model.answer(reply);
    const { status, answer, text } = await ask();
    expect(status).toBe(502);
    expect(answer).toMatchObject({ status: "failed", stopped: "model", diagnosis: { code: "MODEL_FAILED" } });
    expect(text).not.toContain(key);
    expect(text.length).toBeLessThan(5_000);
  });

  it("and calls tools for ever is stopped after ten turns", async () => {
    await startOwn({ FEDWAY_CHAT_MODE: "tools" });
    const calls = Array.from({ length: 200 }, () => ["search_terms", '{"query": "name"}'] as const);
    model.answer({ calls });
    const { answer } = await ask();
    expect(answer).toMatchObject({ status: "unknown", stopped: "turns", turns: 10 });
    expect(answer.steps.filter(({ step }) => step === "search_terms").length).toBeLessThanOrEqual(41);
  });

  it("and writes no query is stopped by its rounds, and by its tokens", async () => {
    await startOwn({ FEDWAY_ASK_TOKENS: "5000" });
    model.answer({ text: "I shall think about it." });
    expect((await ask()).answer).toMatchObject({ status: "unknown", stopped: "rounds", turns: 3 });
    model.answer({ text: "I shall think about it. ".repeat(400) });
    expect((await ask({ question, rounds: 9 })).answer).toMatchObject({ status: "unknown", stopped: "tokens" });
  });

  it("and never answers costs the time of the question, and no more than four at once", async () => {
    await startOwn({ FEDWAY_ASK_TIMEOUT_MS: "1000" });
    model.answer("silence");
    const asked = await Promise.all(Array.from({ length: 6 }, () => ask()));
    const times = asked.filter(({ answer }) => answer.stopped === "time");
    expect(times.length).toBe(4);
    expect(times[0]).toMatchObject({ status: 504, answer: { diagnosis: { code: "DEADLINE_EXCEEDED" } } });
    expect(asked.filter(({ status }) => status === 503).length).toBe(2);
  });

  it("is left when the client leaves", async () => {
    model.answer("silence");
    const leaving = new AbortController();
    const asked = ask({ question }, leaving.signal).catch(() => "left");
    await expect.poll(() => model.sent.length).toBe(1);
    leaving.abort();
    expect(await asked).toBe("left");
    await expect.poll(() => model.left).toBe(1);
  });
});

it("fedway ask writes the rows, and what they cost", async () => {
  model.answer(fenced(right));
  const openApp = () => openService({}, { ...env, FEDWAY_DATA_DIR: newFolder() });
  const { signal: interrupted } = new AbortController();
  const { code, out, err } = await cli(["ask", question], { openApp, interrupted });
  expect({ code, err }).toMatchObject({
    code: 0,
    err: expect.stringContaining("100 tokens in and 10 out, cost 0.0002"),
  });
  expect(out).toContain("status: ok");
  expect(err).toContain(`query:\n  ${right}`);
  model.answer({ text: "UNKNOWN" });
  expect(await cli(["ask", question], { openApp, interrupted })).toMatchObject({
    code: 1,
    out: expect.stringContaining("not known"),
  });
  const without = () => openService({}, { ...env, FEDWAY_CHAT: "", FEDWAY_DATA_DIR: newFolder() });
  expect(await cli(["ask", question], { openApp: without })).toMatchObject({
    code: 2,
    out: "",
    err: expect.stringContaining("no language model.\nnext: Set FEDWAY_CHAT"),
  });
  expect((await cli(["ask", question, "--rounds", "12"])).code).toBe(2);
});

it("fedway ask --url asks a running service, with its token", async () => {
  model.answer(fenced(empty));
  const { text } = await ask({ question, rounds: 0 });
  const json = (): Response => new Response(text, { headers: { "Content-Type": "application/json" } });
  const words = ["ask", question, "--rounds", "0", "--endpoint", "people", "--url", "http://127.0.0.1:1/"];
  const { code, out, calls } = await cli(words, { fetch: json, adminToken: token });
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("status: empty") });
  expect(calls).toMatchObject([
    { url: "http://127.0.0.1:1/api/ask", init: { headers: { Authorization: `Bearer ${token}` } } },
  ]);
  expect(calls[0]?.init?.body).toBe(JSON.stringify({ question, rounds: 0, endpoints: ["people"] }));
});

it("the route needs the admin token, and says what to set where there is no model", async () => {
  const body = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ question }) };
  expect((await fetch(`${service.url}/api/ask`, body)).status).toBe(401);
  expect((await ask({ question: "" })).status).toBe(400);
  const unknown = await ask({ question, endpoints: ["peple"] });
  expect(unknown).toMatchObject({ status: 404, answer: { code: "ENDPOINT_UNKNOWN", endpoints: ["people"] } });
  await startOwn({ FEDWAY_CHAT: "" });
  const missing = { code: "NOT_FOUND", next: expect.stringContaining("FEDWAY_CHAT_MODEL") };
  expect(await ask()).toMatchObject({ status: 404, answer: missing });
  const headers = { Authorization: `Bearer ${token}` };
  const compared = await fetch(`${service.url}/api/text2sparql?question=x&dataset=people`, { headers });
  expect([compared.status, await compared.json()]).toMatchObject([404, missing]);
});

describe("the page of questions", () => {
  const form = (fields: Record<string, string>, headers: Record<string, string>): Promise<Response> =>
    fetch(`${service.url}/ask`, { method: "POST", headers, body: new URLSearchParams(fields) });
  const get = async (path: string, headers: Record<string, string> = {}): Promise<string> =>
    (await fetch(service.url + path, { headers })).text();
  const authorization = { authorization: `Bearer ${token}` };

  it("asks to sign in, has a form, and shows rows, query, steps and cost", async () => {
    expect(await get("/ask")).toContain('<a href="/login">sign in</a>');
    expect(await get("/")).toContain('<a href="/ask">Ask</a>');
    expect(await get("/ask", authorization)).toContain('<textarea id="question"');
    expect((await form({ question }, {})).status).toBe(401);
    model.answer(fenced(right));
    const answer = await form({ question: `${question} <b>`, dataset: "people" }, authorization);
    const page = await answer.text();
    expect(answer.status).toBe(200);
    expect(page).toContain(`href="/query#${new URLSearchParams({ query: right }).toString()}"`);
    expect(page).toMatch(/100 in, 10 out.*0\.0002.*name:string.*Gonçalo.*run_query/s);
    expect(page).toContain("&lt;b&gt;");
    expect(page).toContain('<option value="people" selected>');
    expect((await form({ question: " " }, authorization)).status).toBe(400);
    expect((await form({ question, dataset: "nobody" }, authorization)).status).toBe(404);
  });

  it("shows a failure as one", async () => {
    model.answer({ status: 500, body: "broken" });
    const page = await (await form({ question: "ж".repeat(3_000), dataset: "people" }, authorization)).text();
    expect(page).toMatch(/class="badge down">failed/);
    expect(page).not.toContain("Open in the query console");
  });

  it("says what to set where there is no model, and is in no navigation", async () => {
    await startOwn({ FEDWAY_CHAT: "" });
    expect(await get("/ask")).toContain("Set FEDWAY_CHAT to");
    expect(await get("/")).not.toContain('href="/ask"');
    expect((await form({ question }, authorization)).status).toBe(404);
  });
});
