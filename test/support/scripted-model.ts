import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { listening } from "./listening.ts";

/** What a chat model was sent. */
export interface ChatSent {
  readonly authorization: string | undefined;
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly grammar?: string;
}

/** What it answers: a message's text, calls of tools by name, raw bytes with a status, or nothing, ever. */
export type ChatAnswer =
  | { readonly text: string }
  | { readonly calls: readonly (readonly [name: string, given: string])[] }
  | { readonly status: number; readonly body: string }
  | "silence";

/** An answer, or what makes one of what was sent. */
type Scripted = ChatAnswer | ((sent: ChatSent) => ChatAnswer);

/** A chat API on a free port of 127.0.0.1 that answers as told, the last answer again and again. */
export async function startScriptedModel() {
  let script: readonly Scripted[] = [];
  const sent: ChatSent[] = [];
  let left = 0;
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = JSON.parse(await text(request)) as Omit<ChatSent, "authorization">;
    const scripted = script[Math.min(sent.length, script.length - 1)] ?? { status: 500, body: "no script" };
    const given = { ...body, authorization: request.headers.authorization };
    sent.push(given);
    const answer = typeof scripted === "function" ? scripted(given) : scripted;
    response.on("close", () => {
      if (!response.writableFinished) left += 1;
    });
    if (answer === "silence") return;
    if ("status" in answer) response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
    else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(completion(answer)));
  };
  const server = createServer((request, response) => {
    response.on("error", () => {});
    take(request, response).catch(() => response.destroy());
  });
  const listener = await listening(server);
  return {
    url: `${listener.origin}/v1`,
    /** Forgets what was sent, and answers with these from now on. */
    answer(...answers: readonly Scripted[]): void {
      script = answers;
      sent.length = 0;
      left = 0;
    },
    sent: sent as readonly ChatSent[],
    /** Requests that were given up before they were answered. */
    get left(): number {
      return left;
    },
    close: listener.close,
  };
}

/** 100 tokens in and 10 out each time. */
function completion(answer: Exclude<ChatAnswer, "silence" | { readonly status: number }>): object {
  const message =
    "text" in answer
      ? { role: "assistant", content: answer.text }
      : {
          role: "assistant",
          content: null,
          tool_calls: answer.calls.map(([name, given], index) => ({
            id: `call-${index}`,
            type: "function",
            function: { name, arguments: given },
          })),
        };
  return { choices: [{ index: 0, message }], usage: { prompt_tokens: 100, completion_tokens: 10 } };
}
