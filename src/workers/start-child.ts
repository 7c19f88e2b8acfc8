import { writeFileSync } from "node:fs";

/**
 * What every script that `forkScript` starts does first: it ends with its parent and not before. Signals of a terminal or
 * a process manager reach the whole group; the parent decides what they mean, since it may still have answers to send.
 */
export function startChild(): void {
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => {});
  process.on("disconnect", () => process.exit(0));
  try {
    // Where the kernel runs out of memory, a child goes before the service (proc(5), oom_score_adj).
    writeFileSync("/proc/self/oom_score_adj", "500");
  } catch {
    // Not Linux, or not allowed.
  }
}
