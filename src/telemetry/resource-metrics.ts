import { readFileSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { totalmem } from "node:os";
import type { Instruments, Readings } from "./instruments.ts";

/** Child processes by script, and their memory. */
type Children = () => readonly { readonly script: string; readonly residentBytes: number | undefined }[];

/** Metrics of exhaustible resources: memory, of all processes together, and the disk. */
export function createResourceMetrics({ reading, readings }: Instruments) {
  // Of the container where it has a limit, with all processes in it (cgroups); else of the machine.
  reading("fedway_memory_limit_bytes", "Memory that the processes may use together", memoryLimit);
  reading(
    "fedway_memory_available_bytes",
    "Memory that is left of it",
    () => process.availableMemory() + cachedBytes(),
  );
  return {
    /** Reads the child processes at scrape time. */
    watchChildren(children: Children): void {
      readings(["fedway_child_processes", "Child processes by script", ["script"]], () =>
        summed(children().map(({ script }) => [script, 1])),
      );
      readings(["fedway_child_resident_bytes", "Memory of the child processes by script", ["script"]], () =>
        summed(children().map(({ script, residentBytes = Number.NaN }) => [script, residentBytes])),
      );
    },
    /** Reads the room on the disk of a folder at scrape time. */
    watchDisk(folder: string): void {
      readings(["fedway_disk_bytes", "Disk of the data folder", ["state"]], async () => {
        const { bavail, blocks, bsize } = await statfs(folder);
        return [
          { labels: ["free"], value: bavail * bsize },
          { labels: ["all"], value: blocks * bsize },
        ];
      });
    },
  };
}

function memoryLimit(): number {
  const limit = process.constrainedMemory();
  // Without a limit some systems give 0, others more than there is.
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Of a container: what the kernel keeps of files and gives back when it is needed, which counts as used there. */
function cachedBytes(): number {
  if (memoryLimit() === totalmem()) return 0;
  try {
    return Number(/^inactive_file (\d+)$/m.exec(readFileSync("/sys/fs/cgroup/memory.stat", "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Sums by name; one that is in part unknown is left out. */
function summed(values: readonly (readonly [name: string, value: number])[]): Readings {
  const sums = new Map<string, number>();
  for (const [name, value] of values) sums.set(name, (sums.get(name) ?? 0) + value);
  return [...sums].filter(([, value]) => Number.isFinite(value)).map(([name, value]) => ({ labels: [name], value }));
}
