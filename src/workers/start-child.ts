import { writeFileSync } from "node:fs";
import { constants, setPriority } from "node:os";

/**
 * What every script that `forkScript` starts does first: it ends with its parent and not before. Signals of a terminal or
 * a process manager reach the whole group; the parent decides what they mean, since it may still have answers to send.
 */
export function startChild(): void {
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => {});
  process.on("disconnect", () => process.exit(0));
  // The service's own loop comes first: what a child computes may wait.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  try {
    // Where the kernel runs out of memory, a child goes before the service (proc(5), oom_score_adj).
    writeFileSync("/proc/self/oom_score_adj", "500");
  } catch {
    // Not Linux, or not allowed.
  }
}
