import type { IncomingMessage } from "node:http";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { listening } from "./listening.ts";

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly tools?: readonly { readonly function?: { readonly name: string } }[];
}

const query = "SELECT ?name { ?person foaf:name ?name } ORDER BY ?name LIMIT 2";

/** A model behind the Chat Completions API that calls `run_query` once, and then says what the tool said. */
export async function startToolCallingModel() {
  const asked: Asked[] = [];
  const answer = async (request: IncomingMessage): Promise<object> => {
    const body = JSON.parse(await text(request)) as Asked;
    asked.push(body);
    const result = body.messages.find(({ role }) => role === "tool");
    const call = { name: "run_query", arguments: JSON.stringify({ endpoint: "people", query }) };
    const message = result
      ? { content: `The tool said: ${JSON.stringify(result.content)}` }
      : { content: null, tool_calls: [{ id: "call-1", type: "function", function: call }] };
    const choice = {
      index: 0,
      finish_reason: result ? "stop" : "tool_calls",
      message: { role: "assistant", ...message },
    };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    return { id: "answer", object: "chat.completion", created: 1, model: "scripted", choices: [choice], usage };
  };
  const server = createServer((request, response) => {
    void answer(request).then((body) =>
      response.setHeader("Content-Type", "application/json").end(JSON.stringify(body)),
    );
  });
  const { origin, close } = await listening(server);
  return { url: `${origin}/v1`, asked, close };
}
