import { estimateTokens } from "../../token-estimate.ts";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { askModel, malformedModelAnswer, type ModelApi } from "../../outbound/model-api.ts";
import type { ListedTool } from "../toolbox.ts";

/** A message as the chat API has it. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly tool_calls?: readonly object[];
  readonly tool_call_id?: string;
}

/** One completion. */
interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ListedTool[];
  /** GBNF that the answer has to follow. */
  readonly grammar?: string | undefined;
  readonly maxTokens: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A tool that the model wants to be called; nothing of it is to be trusted. */
export interface WantedCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, mostly. */
  readonly given: string;
}

/** The model's answer. */
export interface ChatReply {
  readonly text: string;
  /** The first few. */
  readonly calls: readonly WantedCall[];
  readonly tokens: TokenCount;
}

/** Tokens of a model. */
export interface TokenCount {
  readonly input: number;
  readonly output: number;
  /** The API did not tell all of them. */
  readonly estimated: boolean;
}

const maxAnswerBytes = 256 * 1024;
const retryMs = [500, 2_000];
/** Characters that are read of an answer: more is no query. */
const longestText = 20_000;
const mostCalls = 4;
/** Characters of a reply that the model is sent again with each turn. */
const longestRepeated = 4_000;

const isAnswer = Compile(
  Type.Object({
    choices: Type.Array(
      Type.Object({
        message: Type.Object({
          content: Type.Optional(Type.Union([Type.String(), Type.Null()])),
          tool_calls: Type.Optional(
            Type.Union([
              Type.Null(),
              Type.Array(
                Type.Object({
                  id: Type.Optional(Type.String()),
                  function: Type.Object({ name: Type.String(), arguments: Type.Optional(Type.Unknown()) }),
                }),
              ),
            ]),
          ),
        }),
      }),
      { minItems: 1 },
    ),
    usage: Type.Optional(Type.Unknown()),
  }),
);

const isUsage = Compile(
  Type.Object({
    prompt_tokens: Type.Integer({ minimum: 0, maximum: 1e9 }),
    completion_tokens: Type.Integer({ minimum: 0, maximum: 1e9 }),
  }),
);

/** Tokens of what is sent, roughly. */
export const requestTokens = (messages: ChatRequest["messages"], tools: ChatRequest["tools"]): number =>
  estimateTokens(messages.map(({ content }) => content).join("\n")) +
  estimateTokens(tools.map(({ description, input }) => description + JSON.stringify(input)).join("\n"));

/** Asks for the next message. @throws FedwayError `MODEL_FAILED`, `CANCELLED` */
export async function completeChat(api: ModelApi, request: ChatRequest): Promise<ChatReply> {
  const { messages, tools, grammar, maxTokens, timeoutMs, signal } = request;
  const body = {
    messages,
    max_tokens: maxTokens,
    temperature: 0,
    stream: false,
    ...(tools.length > 0 && { tools: tools.map(asFunction), tool_choice: "auto" }),
    ...(grammar !== undefined && { grammar }),
  };
  const answer = await askModel(api, { path: "/chat/completions", body, signal, timeoutMs, maxAnswerBytes, retryMs });
  if (!isAnswer.Check(answer)) throw malformedModelAnswer("is no completion of a chat", api);
  const { content, tool_calls: wanted } = answer.choices[0]?.message ?? {};
  const text = (content ?? "").slice(0, longestText);
  const calls = (wanted ?? []).slice(0, mostCalls).map(wantedCall);
  return { text, calls, tokens: tokensOf(answer.usage, request, text + calls.map(({ given }) => given).join("")) };
}

interface SentCall {
  readonly id?: string;
  readonly function: { readonly name: string; readonly arguments?: unknown };
}

const wantedCall = ({ id, function: { name, arguments: given } }: SentCall, index: number): WantedCall => ({
  id: (id ?? `call_${index}`).slice(0, 64),
  name: name.slice(0, 64),
  given: (typeof given === "string" ? given : JSON.stringify(given ?? {})).slice(0, longestText),
});

function tokensOf(usage: unknown, request: ChatRequest, answered: string): TokenCount {
  if (isUsage.Check(usage)) return { input: usage.prompt_tokens, output: usage.completion_tokens, estimated: false };
  return { input: requestTokens(request.messages, request.tools), output: estimateTokens(answered), estimated: true };
}

const asFunction = ({ name, description, input }: ListedTool): object => ({
  type: "function",
  function: { name, description, parameters: input },
});

/** The model's message with the calls that are answered, as the API wants it back. */
export const assistantMessage = ({ text, calls }: ChatReply): ChatMessage => ({
  role: "assistant",
  content: text.slice(0, longestRepeated),
  ...(calls.length > 0 && {
    tool_calls: calls.map(({ id, name, given }) => ({ id, type: "function", function: { name, arguments: given } })),
  }),
});
