import { afterAll, beforeAll, expect, it } from "vitest";
import { type CollectedSpan, type OtlpCollector, startOtlpCollector } from "../../support/otlp-collector.ts";
import { startScriptedModel } from "../../support/scripted-model.ts";
import { type RunningService, startService } from "../../support/running-service.ts";

// Calls of tools as traces and sessions tell of them.

let collector: OtlpCollector;
let service: RunningService;
let model: Awaited<ReturnType<typeof startScriptedModel>>;
beforeAll(async () => {
  collector = await startOtlpCollector();
  model = await startScriptedModel();
  service = await startService(
    {},
    {
      FEDWAY_EXAMPLES: "on",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      FEDWAY_CHAT: model.url,
      FEDWAY_CHAT_MODEL: "scripted",
    },
  );
});
afterAll(async () => {
  await collector?.close();
  await model?.close();
});

const call = async (name: string, body: object): Promise<number> => {
  const headers = { "Content-Type": "application/json", "Fedway-Session": "errand" };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`${service.url}/api/tools/${name}`, init);
  await response.arrayBuffer();
  return response.status;
};

it("a tool's call is a span of its own, around what it runs, without what was asked", async () => {
  const query = 'SELECT * { SERVICE <people> { ?person ?p "TheSecretWord" } }';
  expect(await call("describe_endpoint", { endpoint: "nobody-has-this" })).toBe(404);
  expect(await call("find_endpoints", { question: "TheSecretWord of people" })).toBe(200);
  expect(await call("run_query", { query })).toBe(200);
  model.answer({ text: query });
  const asked = { question: "Who of the people is TheSecretWord?", rounds: 0 };
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked) };
  expect((await fetch(`${service.url}/api/ask`, init)).status).toBe(200);
  const figures = await fetch(`${service.url}/api/sessions/errand`);
  expect(await figures.json()).toMatchObject({
    queries: 1,
    informed: 1,
    tools: { describe_endpoint: 1, find_endpoints: 1 },
  });
  await service.close();
  const { spans } = collector;
  const named = (name: string): CollectedSpan | undefined => spans.find((span) => span.name === name);
  const ran = named("execute_tool run_query");
  expect(ran).toMatchObject({ kind: 1, error: undefined });
  expect(ran?.attributes).toEqual({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "run_query",
    "gen_ai.tool.type": "function",
  });
  expect(named("run")?.parentSpanId).toBe(ran?.spanId);
  expect(named("execute_tool describe_endpoint")).toMatchObject({
    error: "ENDPOINT_UNKNOWN",
    attributes: { "error.type": "ENDPOINT_UNKNOWN" },
  });
  const agent = named("invoke_agent fedway");
  const chat = named("chat scripted");
  expect(chat).toMatchObject({ kind: 3, parentSpanId: agent?.spanId, error: undefined });
  expect(chat?.attributes).toEqual({
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "scripted",
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 10,
  });
  const below = spans.filter(({ parentSpanId }) => parentSpanId === agent?.spanId).map(({ name }) => name);
  expect(below).toEqual(expect.arrayContaining(["execute_tool find_endpoints", "execute_tool run_query"]));
  expect(collector.received).not.toContain("TheSecretWord");
  expect(collector.received).not.toContain("errand");
});
