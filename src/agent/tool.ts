import type { Static, TObject } from "typebox";
import type { Problem } from "../errors/fedway-error.ts";
import type { Admitted } from "../query/admission.ts";
import { readArguments } from "./arguments.ts";
import { type Reply, writeReply } from "./reply.ts";

/**
 * Fills names of tools into a sentence: `{run_query}` becomes `run_query`, `{run_query.cursor}` becomes `cursor`. Undefined
 * when one of them is switched off, so that no feedback names what a model cannot call.
 */
export type Hint = (sentence: string) => string | undefined;

/** Client of a call, and where the call belongs. */
export interface CallerIdentity {
  /** Owner of the handles that it may use and gets; the same for all calls of one client. */
  readonly owner: string;
  /** Conversation that the call belongs to, where the client names one. */
  readonly session?: string | undefined;
  /** `context` of the span that the call belongs to. */
  readonly trace?: unknown;
}

/** Caller of a tool, as its shell knows it. */
export interface Caller extends CallerIdentity {
  /** Aborted when the client no longer waits for the answer. */
  readonly signal: AbortSignal;
  /** The call that this one is part of, such as a question; absent: it is one of its own. */
  readonly admitted?: Admitted | undefined;
  /** Counts the call towards the limit of its client. @throws FedwayError `RATE_LIMITED` */
  readonly count?: (() => void) | undefined;
  /** Called with the progress of long calls. */
  readonly onProgress?: ((message: string) => void) | undefined;
  /** The client's name of this call. */
  readonly callId?: string | undefined;
  /** Throws for a caller who may change nothing that others see; absent: it may. @throws FedwayError */
  readonly requireWrite?: (() => void) | undefined;
}

/** Holder of a caller's handles: behind one address, clients that name their sessions have their own. */
export const holderOf = ({ owner, session }: CallerIdentity): string =>
  session === undefined ? owner : JSON.stringify([owner, session]);

/** One call of a tool. */
export interface ToolCall extends Caller {
  readonly hint: Hint;
}

/** Answer of a tool. Clients pass on the text or the data to their model, so each holds all of the answer. */
export interface ToolAnswer {
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Why the call failed; absent when it did not. */
  readonly problem?: Problem | undefined;
}

/**
 * A set of tools: all of them; the four that a small model does best with; those by which a model that cannot write SPARQL puts
 * queries together; the two of the paper, to repeat its runs; these with the one that submits a final query, for benchmarks.
 */
export const toolProfiles = ["full", "small", "builder", "paper", "benchmark"] as const;

/** Name of a set of tools. */
export type ToolProfile = (typeof toolProfiles)[number];

/** Effects of a tool, for clients (MCP tool annotations). */
export interface ToolAnnotations {
  /** It changes nothing that others see. */
  readonly readOnlyHint: boolean;
  /** It asks endpoints on the web. */
  readonly openWorldHint: boolean;
  /** The same call again changes nothing more. */
  readonly idempotentHint: boolean;
}

/** JSON types of the fields of a tool's data. A failed call has null instead, or lacks the field. */
export type OutputFields = Readonly<Record<string, "string" | "integer" | "boolean" | "array" | "object">>;

interface ToolNames {
  readonly name: string;
  readonly title: string;
  /** Sentences for the model, each for a `Hint`. */
  readonly text: readonly string[];
  /** The tool that it is another name of: where only this one is listed, hints name it. */
  readonly aliasOf?: string | undefined;
}

/** A tool, whatever its arguments are. */
export interface Tool extends ToolNames {
  /** Flat: strings, numbers, booleans and enums only. Descriptions are for a `Hint` too. */
  readonly input: TObject;
  readonly output: OutputFields;
  readonly annotations: ToolAnnotations;
  /** Profiles that list it; it can be called in all of them. */
  readonly profiles: readonly ToolProfile[];
  /** @throws FedwayError `REQUEST_INVALID` for arguments that nothing can be made of, and what its use case throws */
  call(given: unknown, call: ToolCall): Promise<ToolAnswer>;
}

interface ToolDefinition<Input extends TObject> extends ToolNames {
  readonly input: Input;
  readonly output?: OutputFields;
  /** Reads only, and the catalogue only, when absent. */
  readonly annotations?: Partial<ToolAnnotations>;
  /** "full" when absent. */
  readonly profiles?: readonly ToolProfile[];
  run(args: Static<Input>, call: ToolCall): Promise<Reply>;
}

const reading: ToolAnnotations = { readOnlyHint: true, openWorldHint: false, idempotentHint: true };

/** One definition for MCP, HTTP and the command line: arguments are read leniently before `run` gets them, and replies written in one way. */
export function defineTool<const Input extends TObject>(definition: ToolDefinition<Input>): Tool {
  const { name, title, text, input, output = {}, annotations, profiles = ["full"], aliasOf } = definition;
  return {
    name,
    title,
    text,
    input,
    output,
    annotations: { ...reading, ...annotations },
    profiles,
    aliasOf,
    async call(given, call) {
      const { args, notes } = readArguments(definition, given);
      const reply = await definition.run(args, call);
      return writeReply({ ...reply, notes: [...notes, ...(reply.notes ?? [])] }, call.hint);
    },
  };
}
