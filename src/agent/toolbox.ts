import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { TObject } from "typebox";
import { sizedByKey } from "../cache-size.ts";
import { FedwayError, type Problem, toProblem } from "../errors/fedway-error.ts";
import { nearest } from "../errors/nearest.ts";
import { visible } from "../html.ts";
import type { Admission } from "../query/admission.ts";
import { estimateTokens } from "../token-estimate.ts";
import { writeReply } from "./reply.ts";
import {
  type Caller,
  type CallerIdentity,
  type Hint,
  holderOf,
  type OutputFields,
  type Tool,
  type ToolAnnotations,
  type ToolAnswer,
  type ToolProfile,
} from "./tool.ts";

/** Clients cut answers at about 25,000 tokens, text and data together. */
const mostAnswerTokens = 24_000;

/** A tool as a client sees it. */
export interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schema of an object of scalars. */
  readonly input: TObject;
  /** JSON Schema of the data of an answer; only in the full profile, as smaller models pay for each token. */
  readonly output?: object;
  readonly annotations: ToolAnnotations;
}

/** The tools of one profile. */
export type Toolbox = ReturnType<typeof createToolbox>;

/** A call of a tool that exists, as it begins. */
interface ObservedCall extends CallerIdentity {
  readonly callId?: string | undefined;
  readonly tool: string;
  /** It sends requests to endpoints. */
  readonly isOpen: boolean;
}

/** Notified of every call, which it may refuse; `context` is that of a span for what the call does. */
export type ToolObserver = (call: ObservedCall) => {
  readonly context?: unknown;
  /** @param requests that were sent to endpoints */
  end(code: string | undefined, requests: number): void;
};

interface ToolboxOptions {
  readonly profile: ToolProfile;
  /** Names of tools that are switched off. */
  readonly off?: readonly string[] | undefined;
  /** Receives errors that are defects of Fedway. */
  readonly onDefect?: ((error: unknown) => void) | undefined;
  readonly observe?: ToolObserver | undefined;
  /** Lets calls in; absent: all at once. */
  readonly admission?: Pick<Admission, "enter"> | undefined;
}

/** Longest wait of a call when too much is under way; the admission has its own limit too. */
const waitMs = 10_000;

/**
 * The tools of a profile without those that are switched off, which vanish from the list, from texts and from all feedback.
 */
export function createToolbox(all: readonly Tool[], options: ToolboxOptions) {
  const { profile, off = [], onDefect, observe, admission } = options;
  const on = all.filter(({ name }) => !off.includes(name));
  const inProfile = on.filter(({ profiles }) => profiles.includes(profile));
  const hint = createHint(inProfile);
  const byName = new Map(on.map((tool) => [tool.name, tool]));
  const failed = new FailedCalls(hint);
  /** @throws FedwayError `TOOL_UNKNOWN`, and the refusal of a caller who may not change what the tool changes */
  const toolFor = (name: string, given: unknown, { requireWrite }: Caller): Tool => {
    const tool = byName.get(name);
    if (tool === undefined) throw unknownTool(name, given, { tools: inProfile, hint });
    if (!tool.annotations.readOnlyHint) requireWrite?.();
    return tool;
  };
  return {
    /** Those that the profile lists, in a fixed order. */
    tools: inProfile.map(
      (tool): ListedTool =>
        Object.assign(listed(tool, hint, true), profile === "full" && { output: outputSchema(tool.output) }),
    ),
    /** All that can be called. */
    callable: on.map((tool) => listed(tool, hint, false)),
    hint,
    /** Calls a tool. Never throws: a failure is an answer with its problem, also a tool that does not exist. */
    async call(name: string, given: unknown, caller: Caller): Promise<ToolAnswer> {
      let observed: ReturnType<ToolObserver> | undefined;
      let requests = 0;
      try {
        caller.count?.();
        const tool = toolFor(name, given, caller);
        observed = observe?.({ ...caller, tool: name, isOpen: tool.annotations.openWorldHint });
        const trace = observed?.context ?? caller.trace;
        const answer = await admitted({ ...caller, trace, tool: name }, admission, async (inside) => {
          const before = inside.admitted?.requests.spent ?? 0;
          try {
            return await tool.call(given, { ...inside, hint });
          } finally {
            requests = (inside.admitted?.requests.spent ?? 0) - before;
          }
        }).then((called) => legible(bounded(called)));
        observed?.end(answer.problem?.code, requests);
        return failed.answered(answer, { name, given, caller });
      } catch (error) {
        const problem = toProblem(error);
        if (problem.code === "INTERNAL") onDefect?.(error);
        observed?.end(problem.code, requests);
        const data = { status: "failed" };
        const answer = writeReply({ status: "status: failed", cause: problem, data, failed: true }, hint);
        return failed.answered(answer, { name, given, caller });
      }
    },
  };
}

/** Runs a call that is part of another one, or was admitted on its own. @throws FedwayError `SERVICE_BUSY`, `CANCELLED` */
async function admitted<T>(
  { tool, ...caller }: Caller & { readonly tool: string },
  admission: ToolboxOptions["admission"],
  run: (caller: Caller) => Promise<T>,
): Promise<T> {
  const { owner: client, signal } = caller;
  if (caller.admitted || !admission) return run(caller);
  const call = await admission.enter({ client, what: tool, characters: 0, timeoutMs: waitMs, signal });
  try {
    return await run({ ...caller, admitted: call, signal: call.signal });
  } finally {
    call.leave();
  }
}

const namesInBraces = /\{([a-z_]+)(?:\.([a-z_]+))?\}/g;

/** Knows the tools that are there and their arguments. */
export function createHint(tools: readonly Pick<Tool, "name" | "input" | "aliasOf">[]): Hint {
  const known = new Map(tools.map((tool) => [tool.aliasOf ?? tool.name, tool]));
  for (const tool of tools) known.set(tool.name, tool);
  return (sentence) => {
    let missing = false;
    const text = sentence.replaceAll(namesInBraces, (_all, name: string, argument: string | undefined) => {
      const tool = known.get(name);
      if (!tool || (argument !== undefined && !Object.hasOwn(tool.input.properties, argument))) missing = true;
      return argument ?? tool?.name ?? name;
    });
    return missing ? undefined : text;
  };
}

/** @param isBrief without lengths of strings and defaults, which are no help to a model, and cost tokens in each conversation */
function listed({ name, title, text, input, annotations }: Tool, hint: Hint, isBrief: boolean): ListedTool {
  const properties = Object.entries(input.properties).map(([argument, schema]) => {
    const { description } = schema as { readonly description?: string };
    const fields = Object.entries({ ...schema, ...(description !== undefined && { description: hint(description) }) });
    const shown = fields.filter(([key]) => !isBrief || !/^(?:minLength|maxLength|default)$/.test(key));
    return [argument, Object.fromEntries(shown)] as const;
  });
  return {
    name,
    title,
    description: text.flatMap((sentence) => hint(sentence) ?? []).join(" "),
    input: { ...input, properties: Object.fromEntries(properties) },
    annotations,
  };
}

const outputSchema = (fields: OutputFields): object => ({
  type: "object",
  properties: Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, { type: [type, "null"] }])),
});

/** The tool that a query is for, else one with a similar name, else with a word of it. */
function unknownTool(
  name: string,
  given: unknown,
  { tools, hint }: { tools: readonly Tool[]; hint: Hint },
): FedwayError {
  const names = tools.map((tool) => tool.name);
  const words = name
    .slice(0, 64)
    .toLowerCase()
    .split(/[^a-z]+/);
  const similar = [
    ...nearest(name, names, 1),
    ...names.filter((each) => each.split("_").some((part) => words.includes(part))),
  ];
  const best = (isQueryIn(given) ? hint("{run_query}") : undefined) ?? similar[0];
  return new FedwayError("TOOL_UNKNOWN", `There is no tool "${name.slice(0, 64).replaceAll(/\p{Cc}/gu, " ")}".`, {
    next: best === undefined ? `The tools are ${names.join(", ")}.` : `Did you mean ${best}?`,
  });
}

const isQueryIn = (given: unknown): boolean =>
  typeof given === "object" &&
  Object.values(given ?? {}).some(
    (value) => typeof value === "string" && value.includes("{") && /\b(?:SELECT|ASK|CONSTRUCT)\b/i.test(value),
  );

/**
 * Calls that failed. The same call of the same client and session once more gets another answer: the whole of the suggested query, else
 * another tool.
 */
class FailedCalls {
  readonly #known = new LRUCache<string, true>(sizedByKey(1));
  readonly #hint: Hint;

  constructor(hint: Hint) {
    this.#hint = hint;
  }

  /** The answer of a call, with another next step where the same one failed before. */
  answered(
    answer: ToolAnswer,
    call: {
      readonly name: string;
      readonly given: unknown;
      readonly caller: Caller;
    },
  ) {
    const { problem, data } = answer;
    if (problem === undefined && data["status"] !== "failed") return answer;
    const { name, given, caller } = call;
    const whole = JSON.stringify([holderOf(caller), name, given]);
    const key = createHash("sha256").update(whole).digest("base64url");
    if (!this.#known.has(key)) {
      this.#known.set(key, true);
      return answer;
    }
    const { code, suggested } = problem ?? (data["diagnosis"] as Problem | undefined) ?? {};
    const next = suggested === undefined ? this.#otherTool(name, code) : "Send the suggested query.";
    if (next === undefined) return answer;
    const cause = `repeated: This very call failed before (${code ?? "failed"}), and does so each time.`;
    const lines = [
      "status: failed",
      cause,
      ...(suggested === undefined ? [] : ["suggested:", suggested]),
      `next: ${next}`,
    ];
    return {
      text: lines.join("\n"),
      data: { ...data, next },
      problem: problem && { ...problem, next },
    };
  }

  #otherTool(name: string, code: string | undefined): string | undefined {
    const isPlaceWrong = code === "ENDPOINT_UNKNOWN" || name.startsWith("describe");
    const steps = [
      ...(isPlaceWrong ? [] : ["{describe_endpoint} shows classes and properties; write the query anew with these."]),
      "{find_endpoints} with the question in plain words names endpoints and terms.",
      "{search_terms} finds terms by their words.",
    ];
    return steps.filter((step) => !step.startsWith(`{${name}}`)).flatMap((step) => this.#hint(step) ?? [])[0];
  }
}

const legibleValue = (_name: string, value: unknown): unknown => (typeof value === "string" ? visible(value) : value);

/**
 * Foreign characters that are invisible or change the direction of text, as `\uXXXX`: a reader of a model's tools, and the
 * model, see what is there. In terms of rows that is an escape of N-Triples.
 */
function legible(answer: ToolAnswer): ToolAnswer {
  const json = JSON.stringify(answer.data);
  const text = visible(answer.text);
  if (text === answer.text && visible(json) === json) return answer;
  return { ...answer, text, data: JSON.parse(json, legibleValue) };
}

/** Tools keep their answers short themselves; this holds also for one that does not. */
function bounded(answer: ToolAnswer): ToolAnswer {
  const data = JSON.stringify(answer.data);
  const bytes = Buffer.byteLength(answer.text) + Buffer.byteLength(data);
  // A token is at least one byte of UTF-8, and by the estimate at most five.
  if (bytes <= mostAnswerTokens) return answer;
  const mayFit = bytes <= 5 * mostAnswerTokens;
  if (mayFit && estimateTokens(answer.text) + estimateTokens(data) <= mostAnswerTokens) return answer;
  let text = answer.text.slice(0, mostAnswerTokens);
  // It stands in the data once more.
  while (estimateTokens(text) > mostAnswerTokens / 3) text = text.slice(0, Math.floor(text.length * 0.8));
  text += "\n(cut: the answer is too long; ask for less)";
  return { text, data: { truncated: true, text }, problem: answer.problem };
}
