import { randomUUID } from "node:crypto";
import type { Clock } from "../../clock.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { ModelApi } from "../../outbound/model-api.ts";
import { Admission } from "../../query/admission.ts";
import { startDeadline } from "../../query/deadline.ts";
import type { Tracer } from "../../telemetry/tracing.ts";
import type { Caller } from "../tool.ts";
import type { Toolbox } from "../toolbox.ts";
import type { AskAnswer, AskRequest } from "./ask-answer.ts";
import { Asking } from "./asking.ts";
import type { ChatMode } from "./prompt.ts";

/** Parts of the reference agent. */
export interface AskOptions {
  readonly api: ModelApi;
  readonly mode: ChatMode;
  /** Of a million tokens, in any currency. */
  readonly price?: { readonly input: number; readonly output: number } | undefined;
  /** Tokens of one question, in and out. */
  readonly mostTokens: number;
  /** Time of one question, in milliseconds. */
  readonly timeoutMs: number;
  readonly toolbox: Toolbox;
  /** These tools alone, for a setup. @throws FedwayError `REQUEST_INVALID` for one that is not there */
  readonly toolboxOf: (tools: readonly string[]) => Toolbox;
  /** The grammar of queries over these endpoints; undefined when there is none. */
  readonly grammarOf: (endpoints: readonly string[]) => Promise<string | undefined>;
  /** Requests to endpoints for one question. */
  readonly callRequests: number;
  readonly tracer?: Tracer | undefined;
  readonly clock: Clock;
}

/** Answers questions by having a model write queries. */
export type AskAgent = ReturnType<typeof createAskAgent>;

/** Those of a setup, whose limits hold beside the operator's. @throws FedwayError `REQUEST_INVALID` for an unknown tool */
function optionsOf(options: AskOptions, setup: AskRequest["setup"]): AskOptions {
  if (setup === undefined) return options;
  const { tools, timeoutMs = options.timeoutMs, tokens = options.mostTokens } = setup;
  return {
    ...options,
    timeoutMs: Math.min(options.timeoutMs, timeoutMs),
    mostTokens: Math.min(options.mostTokens, tokens),
    toolbox: options.toolboxOf(tools),
  };
}

/** Questions that are answered at once. */
const mostAtOnce = 4;

/** The reference agent over one model. */
export function createAskAgent(options: AskOptions) {
  const { clock, tracer, api } = options;
  const admission = new Admission({ maxConcurrent: mostAtOnce, callRequests: options.callRequests });
  return {
    /**
     * Looks for endpoints and terms, has a query written, runs it, and reports faults to the model, for the given number of
     * rounds. Failures, also the model's, are part of the answer.
     * @throws FedwayError `SERVICE_BUSY` when too many questions are being answered, `CANCELLED` when the client has left
     */
    async ask(request: AskRequest, caller: Caller): Promise<AskAnswer> {
      const { owner: client, signal } = caller;
      const characters = request.question.length;
      const within = optionsOf(options, request.setup);
      const { timeoutMs } = within;
      const admitted = await admission.enter({ client, characters, timeoutMs, signal });
      const deadline = startDeadline(admitted.signal, {
        clock,
        timeoutMs,
        message: `The question took longer than ${timeoutMs} ms.`,
      });
      const span = tracer?.startSpan("invoke_agent fedway", {
        parent: caller.trace,
        attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "fedway" },
      });
      let error: string | undefined = "INTERNAL";
      try {
        const { session = `ask-${randomUUID()}` } = caller;
        const trace = span?.context ?? caller.trace;
        const asking = new Asking(request, { ...caller, admitted, session, trace, signal: deadline.signal }, within);
        const answer = await asking.answer();
        span?.setAttribute("gen_ai.request.model", api.model);
        error = answer.diagnosis?.code;
        return answer;
      } catch (thrown) {
        error = thrown instanceof FedwayError ? thrown.code : error;
        throw thrown;
      } finally {
        span?.end(error);
        deadline.stop();
        admitted.leave();
      }
    },
  };
}
