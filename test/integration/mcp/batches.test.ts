import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { AgentResources } from "../../../src/agent/resources.ts";
import type { Toolbox } from "../../../src/agent/toolbox.ts";
import { createHttpHandler } from "../../../src/mcp/http-handler.ts";
import { createMcpServer } from "../../../src/mcp/create-server.ts";
import { start } from "../http/http-fixture.ts";

it("the calls of a batch begin in turns of their own, in their order", async () => {
  let turn = 0;
  const ending = new AbortController();
  const begun: (readonly [name: string, turn: number])[] = [];
  const toolbox: Toolbox = {
    tools: [],
    callable: [],
    hint: (sentence) => sentence,
    async call(name) {
      begun.push([name, turn]);
      return { text: name, data: {} };
    },
  };
  const resources = { templates: [] } as unknown as AgentResources;
  const { url } = await start({
    mcp: async () =>
      createHttpHandler(
        (client) => createMcpServer({ toolbox, resources, version: "1" }, client),
        () => undefined,
      ),
  });
  const names = Array.from({ length: 20 }, (_, id) => `tool-${id}`);
  const turns = (async () => {
    for (; !ending.signal.aborted; turn += 1) await nextTurn();
  })();
  const answer = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify(names.map((name, id) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name } }))),
  });
  await answer.text();
  ending.abort();
  await turns;
  expect(answer.status).toBe(200);
  expect(begun.map(([name]) => name)).toEqual(names);
  expect(new Set(begun.map(([, at]) => at)).size).toBe(names.length);
});
