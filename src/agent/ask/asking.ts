import { type FedwayError, toFedwayError, toProblem } from "../../errors/fedway-error.ts";
import { problemForModel } from "../problem-for-model.ts";
import type { Caller, ToolAnswer } from "../tool.ts";
import type { ListedTool } from "../toolbox.ts";
import type { AskOptions } from "./ask-agent.ts";
import {
  type AskAnswer,
  type AskRequest,
  type Entity,
  idsIn,
  isAnswer,
  namedEntities,
  type Outcome,
  statusOf,
  stepOf,
  submitTool,
  type Step,
  type Stop,
  resultOf,
  writtenQuery,
} from "./ask-answer.ts";
import {
  assistantMessage,
  type ChatMessage,
  type ChatReply,
  completeChat,
  requestTokens,
  type TokenCount,
  type WantedCall,
} from "./chat-model.ts";
import {
  type ContextPart,
  feedbackPrompt,
  nothingToRun,
  queryIn,
  questionPrompt,
  quoted,
  saysUnknown,
  systemPrompt,
} from "./prompt.ts";

const mostTurns = 10;
const defaultRounds = 2;
const mostCompletionTokens = 1_000;
const mostEndpoints = 3;
/** Tools that run a query. The agent does that itself with what the model writes, but for a setup, whose model may call them. */
const runTools = ["run_query", "run_sparql_query"] as const;

/** One question from its beginning to its answer. */
export class Asking {
  readonly #request: AskRequest;
  readonly #caller: Caller & { readonly session: string };
  readonly #options: AskOptions;
  readonly #startedMs: number;
  readonly #runTool: (typeof runTools)[number] | undefined;
  readonly #messages: ChatMessage[] = [];
  readonly #steps: Step[] = [];
  #endpoints: readonly string[] = [];
  #grammar: string | undefined;
  #last: Outcome | undefined;
  #submitted: string | undefined;
  #named: readonly Entity[] = [];
  #turns = 0;
  #rounds = 0;
  #tokens: TokenCount = { input: 0, output: 0, estimated: false };

  constructor(request: AskRequest, caller: Caller & { readonly session: string }, options: AskOptions) {
    this.#request = request;
    this.#caller = caller;
    this.#options = options;
    this.#startedMs = options.clock.now();
    this.#runTool = runTools.find((name) => this.#has(name));
  }

  /** @throws FedwayError `CANCELLED` */
  async answer(): Promise<AskAnswer> {
    try {
      const { lookup = true } = this.#request.setup ?? {};
      const context = lookup ? await this.#link() : [];
      if (lookup && this.#endpoints.length === 0) return this.#ended("unknown");
      const { question, setup } = this.#request;
      this.#messages.push(
        { role: "system", content: systemPrompt(this.#options.mode, setup?.prompt) },
        { role: "user", content: questionPrompt(question, context) },
      );
      return this.#ended(await this.#converse());
    } catch (thrown) {
      const { signal } = this.#caller;
      const error = toFedwayError(signal.aborted ? signal.reason : thrown);
      if (error.code === "CANCELLED") throw error;
      return this.#ended(error.code === "DEADLINE_EXCEEDED" ? "time" : "model", error);
    }
  }

  /** Endpoints, terms and schema for the question, without the model. */
  async #link(): Promise<readonly ContextPart[]> {
    const { question } = this.#request;
    const { mode, grammarOf } = this.#options;
    const context: ContextPart[] = [];
    const look = async (tool: string, given: object): Promise<ToolAnswer | undefined> => {
      if (!this.#has(tool)) return undefined;
      const answer = await this.#use(tool, given);
      context.push({ tool, text: answer.text });
      return answer;
    };
    // A grammar of one endpoint is what a small model does best with.
    const limit = mode === "grammar" ? 1 : mostEndpoints;
    const words = question.slice(0, 2_000);
    const found = this.#request.endpoints ?? idsIn(await look("find_endpoints", { question: words, limit }));
    this.#endpoints = found.slice(0, mostEndpoints);
    if (found.length === 0) return context;
    const isSmall = mode === "grammar";
    const limits = { endpoints: this.#endpoints.join(","), limit: isSmall ? 5 : 10 };
    this.#named = namedEntities(question, await look("search_terms", { query: words, ...limits }));
    // The schema is in the grammar, and small models are slow readers.
    if (!isSmall) {
      await look("find_examples", { question: words, endpoints: this.#endpoints.join(","), limit: 2 });
      const maxTokens = Math.floor(2_400 / this.#endpoints.length);
      for (const endpoint of this.#endpoints) await look("describe_endpoint", { endpoint, max_tokens: maxTokens });
    }
    this.#grammar = mode === "grammar" ? await grammarOf(this.#endpoints) : undefined;
    return context;
  }

  async #converse(): Promise<Stop> {
    const most = this.#request.setup?.turns ?? mostTurns;
    while (this.#turns < most) {
      const stopped = this.#tokensLeft() <= 0 ? "tokens" : await this.#turn();
      if (stopped !== undefined) return stopped;
    }
    return "turns";
  }

  /** One completion and what it wants done; undefined: another one follows. */
  async #turn(): Promise<Stop | undefined> {
    const { rounds = defaultRounds } = this.#request;
    const reply = await this.#complete();
    this.#messages.push(assistantMessage(reply));
    const isCalling = reply.calls.length > 0;
    const query = isCalling ? await this.#answerCalls(reply.calls) : queryIn(reply.text);
    if (this.#submitted !== undefined) return "submitted";
    if (query === undefined && isCalling) return undefined;
    if (query === undefined && saysUnknown(reply.text)) return "unknown";
    const feedback = query === undefined ? nothingToRun : await this.#run(query);
    if (feedback === undefined) return "answered";
    if (this.#rounds >= rounds) return "rounds";
    this.#rounds += 1;
    this.#messages.push({ role: "user", content: feedback });
    return undefined;
  }

  async #complete(): Promise<ChatReply> {
    const { api, clock, tracer } = this.#options;
    this.#turns += 1;
    const span = tracer?.startSpan(`chat ${api.model}`, {
      kind: "client",
      parent: this.#caller.trace,
      attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": api.model },
    });
    const startedMs = clock.now();
    let code: string | undefined;
    try {
      const reply = await completeChat(api, {
        messages: this.#messages,
        tools: this.#offered(),
        grammar: this.#grammar,
        maxTokens: Math.min(mostCompletionTokens, this.#tokensLeft()),
        // The deadline of the question comes first, and is reported as such.
        timeoutMs: Math.max(1, this.#startedMs + this.#options.timeoutMs - clock.now()) + 1_000,
        signal: this.#caller.signal,
      });
      this.#count(reply.tokens);
      span?.setAttribute("gen_ai.usage.input_tokens", reply.tokens.input);
      span?.setAttribute("gen_ai.usage.output_tokens", reply.tokens.output);
      return reply;
    } catch (error) {
      ({ code } = toFedwayError(error));
      span?.setAttribute("error.type", code);
      throw error;
    } finally {
      this.#note("model", startedMs, { outcome: code });
      span?.end(code);
    }
  }

  /** Runs the tools that a model wants, each answered; gives the query where one of them was to run it. */
  async #answerCalls(calls: readonly WantedCall[]): Promise<string | undefined> {
    let query: string | undefined;
    for (const { id, name, given } of calls) {
      const isOwn = this.#request.setup === undefined && isRunTool(name);
      const wanted = isOwn && queryIn(given) ? queryIn(writtenQuery(given) ?? "") : undefined;
      query ??= wanted;
      const text = wanted === undefined ? (await this.#call(name, given, id)).text : "It is run.";
      this.#messages.push({ role: "tool", tool_call_id: id, content: quoted(text) });
    }
    return query;
  }

  /** Calls a tool for the model. */
  async #call(name: string, given: string, id: string): Promise<ToolAnswer> {
    const shown = await this.#use(name, given, id);
    const query = writtenQuery(given) ?? "";
    if (isRunTool(name)) this.#last = { query, status: statusOf(shown), shown };
    if (name === submitTool && shown.problem === undefined) this.#submitted ??= query;
    return shown;
  }

  /** Runs a query; gives what the model should know, undefined when it answers the question. */
  async #run(written: string): Promise<string | undefined> {
    const { mode } = this.#options;
    const checked = this.#has("check_query") ? await this.#use("check_query", { query: written }) : undefined;
    const repaired = checked?.data["query"];
    const query = typeof repaired === "string" && checked?.problem === undefined ? repaired : written;
    const more = this.#runTool === "run_query" && { max_rows: 50, ...this.#keptQuestion() };
    const shown = await this.#use(this.#runTool ?? "run_query", { query, ...more });
    const status = statusOf(shown);
    this.#last = { query, status, shown };
    if (isAnswer(shown)) return undefined;
    const advice = checked === undefined || status === "empty" ? shown.text : `${checked.text}\n${shown.text}`;
    return feedbackPrompt(advice, mode);
  }

  async #use(tool: string, given: unknown, callId?: string): Promise<ToolAnswer> {
    const { clock, toolbox } = this.#options;
    const { signal } = this.#caller;
    signal.throwIfAborted();
    const startedMs = clock.now();
    const answer = await toolbox.call(tool, given, { ...this.#caller, callId });
    this.#note(tool, startedMs, stepOf(tool, given, answer));
    signal.throwIfAborted();
    return answer;
  }

  #ended(stopped: Stop, error?: FedwayError): AskAnswer {
    const { api, price, toolbox } = this.#options;
    const { input, output } = this.#tokens;
    const problem = error && problemForModel(toProblem(error), toolbox.hint);
    return {
      ...resultOf({ stopped, last: this.#final(), named: this.#named }, problem),
      stopped,
      question: this.#request.question,
      endpoints: this.#endpoints,
      model: api.model,
      session: this.#caller.session,
      turns: this.#turns,
      rounds: this.#rounds,
      tokens: this.#tokens,
      cost: price ? (input * price.input + output * price.output) / 1e6 : null,
      steps: this.#steps,
    };
  }

  /** The submitted query, else the last one that was run. */
  #final(): Outcome | undefined {
    const query = this.#submitted;
    return query === undefined || query === this.#last?.query ? this.#last : { query, status: "unknown" };
  }

  /** Where pairs are kept, this one is: the next question like it finds its query, and how it ended. */
  #keptQuestion(): { readonly question?: string } {
    const run = this.#options.toolbox.callable.find(({ name }) => name === "run_query");
    const isKept = run !== undefined && "question" in run.input.properties;
    return isKept ? { question: this.#request.question.slice(0, 1_000) } : {};
  }

  #has(tool: string): boolean {
    return this.#options.toolbox.callable.some(({ name }) => name === tool);
  }

  #offered(): readonly ListedTool[] {
    const { mode, toolbox } = this.#options;
    if (mode !== "tools") return [];
    return this.#request.setup ? toolbox.tools : toolbox.tools.filter(({ name }) => !isRunTool(name));
  }

  /** Tokens left for the next completion; its own input is counted already. */
  #tokensLeft(): number {
    const next = requestTokens(this.#messages, this.#offered());
    return this.#options.mostTokens - this.#tokens.input - this.#tokens.output - next;
  }

  #count({ input, output, estimated }: TokenCount): void {
    const all = this.#tokens;
    this.#tokens = {
      input: all.input + input,
      output: all.output + output,
      estimated: all.estimated || estimated,
    };
  }

  #note(step: string, startedMs: number, more: Partial<Step>): void {
    const atMs = Math.round(startedMs - this.#startedMs);
    const ms = Math.round(this.#options.clock.now() - startedMs);
    this.#steps.push({ step: step.slice(0, 64), atMs, ms, ...more });
  }
}

const isRunTool = (name: string): boolean => runTools.some((each) => each === name);
