/** A thread that does what it is told, to see what becomes of the others. */
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { serveTasks } from "../../../src/workers/threads.ts";

export type ScriptedTask = "echo" | "environment" | "refuse" | "full disk" | "exit" | "fill the memory" | "never end";

const scripts: Readonly<Record<ScriptedTask, () => unknown>> = {
  echo: () => "echo",
  environment: () => Object.keys(process.env),
  refuse() {
    throw new FedwayError("DATASET_INVALID", "in.nt, line 3: no.", {
      where: { line: 3 },
      next: "Look there.",
      cause: 1,
    });
  },
  "full disk"() {
    throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
  },
  exit: () => process.exit(3),
  "fill the memory"() {
    const held: number[][] = [];
    for (;;) held.push(Array.from({ length: 100_000 }, (_, index) => index + 0.5));
  },
  "never end"() {
    for (;;);
  },
};

serveTasks(async (task: ScriptedTask) => scripts[task]());
