import { toProblem } from "../errors/fedway-error.ts";
import { visible } from "../html.ts";
import { type CliIo, exitCodes } from "./cli-io.ts";
import { openRunner } from "./open-runner.ts";
import { oneLine, pour, write } from "./output.ts";
import { problemText } from "./problem-text.ts";
import { queryText } from "./query-text.ts";
import { RemoteProblem } from "./remote-runner.ts";
import type { Asked, Delivery } from "./runner.ts";

/** Options that `query` and `explain` share. */
export interface QueryOptions {
  readonly endpoint?: string;
  readonly url?: string;
  readonly format?: string;
  readonly timeout?: number;
  readonly partial?: boolean;
  readonly strict?: boolean;
  readonly json?: boolean;
}

async function report(io: CliIo, error: unknown, query: string): Promise<number> {
  const problem = error instanceof RemoteProblem ? error.problem : toProblem(error);
  await write(io.stderr, problemText(problem, query));
  return exitCodes.failed;
}

async function asking(io: CliIo, argument: string, options: QueryOptions): Promise<Asked> {
  return {
    text: await queryText(argument, io),
    endpoint: options.endpoint,
    format: options.format,
    timeoutMs: options.timeout,
    partial: options.partial ?? false,
    strict: options.strict ?? false,
  };
}

async function deliver(io: CliIo, { body, notes }: Delivery): Promise<void> {
  for (const note of notes) await write(io.stderr, `note: ${oneLine(note)}\n`);
  await pour(body, io.stdout);
}

/** A partial answer is a success only for those who asked for what can be had. */
async function closing(io: CliIo, delivery: Delivery, partial: boolean): Promise<number> {
  const status = await delivery.finalStatus();
  if (status === "ok" || status === "empty" || status === undefined) return exitCodes.ok;
  await write(io.stderr, `The answer is ${status}: rows may be missing.\n`);
  return status === "partial" && partial ? exitCodes.ok : exitCodes.failed;
}

/** `fedway query`: the answer to standard output as it arrives. Resolves to the exit code. */
export async function runQuery(io: CliIo, argument: string, options: QueryOptions): Promise<number> {
  const asked = await asking(io, argument, options);
  const runner = await openRunner(io, options.url);
  try {
    const delivery = await runner.run(asked, io.interrupted);
    await deliver(io, delivery);
    return await closing(io, delivery, asked.partial);
  } catch (error) {
    return await report(io, error, asked.text);
  } finally {
    await runner.close();
  }
}

/** `fedway explain`: the plan to standard output; a plan that is a rejection is a failure. Resolves to the exit code. */
export async function runExplain(io: CliIo, argument: string, options: QueryOptions): Promise<number> {
  const asked = await asking(io, argument, options);
  const runner = await openRunner(io, options.url);
  try {
    const plan = await runner.explain(asked, io.interrupted);
    await write(
      io.stdout,
      options.json ? `${JSON.stringify(plan, undefined, 2)}\n` : `${visible(plan.text.trimEnd())}\n`,
    );
    if (plan.kind !== "rejected") return exitCodes.ok;
    if (plan.problem) await write(io.stderr, problemText(plan.problem, asked.text));
    return exitCodes.failed;
  } catch (error) {
    return await report(io, error, asked.text);
  } finally {
    await runner.close();
  }
}

/** `fedway serve`: listens until interrupted. Resolves to the exit code. */
export async function runServe(io: CliIo, overrides: Readonly<Record<string, string>>): Promise<number> {
  const app = await io.openApp(overrides);
  const url = await app.listen();
  await write(io.stderr, app.startMessage(url));
  if (!io.interrupted.aborted) {
    await new Promise<void>((resolve) => {
      io.interrupted.addEventListener("abort", () => resolve(), { once: true });
    });
  }
  await app.close();
  return exitCodes.ok;
}
