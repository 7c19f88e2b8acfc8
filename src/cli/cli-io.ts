import type { Readable, Writable } from "node:stream";
import type { QueryService } from "../query/query-service.ts";
import type { Catalog } from "../registry/catalog.ts";

/** The service as the command line uses it. */
export interface CliApp {
  readonly queries: QueryService;
  readonly catalog: Catalog;
  listen(): Promise<string>;
  close(): Promise<void>;
}

/** Everything the commands touch outside themselves. */
export interface CliIo {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly fetch: typeof fetch;
  readonly version: string;
  /** The environment variables, for `--help`. */
  readonly reference: readonly { readonly name: string; readonly default: string; readonly meaning: string }[];
  /** Builds the service from the environment, in which `overrides` win. */
  openApp(overrides: Readonly<Record<string, string>>): Promise<CliApp>;
  /** Aborts when the user interrupts or the process is asked to end. */
  readonly interrupted: AbortSignal;
}

/** Exit codes of every command. */
export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const;

/** A mistake in how the command was called. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Writes text; resolves when it is handed over. A reader that has left (EPIPE) is fine. */
export async function write(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed) resolve();
    else stream.write(text, () => resolve());
  });
}
