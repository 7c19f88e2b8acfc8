import { storeOpener } from "../../../src/hosting/file-store.ts";
import { runBuild } from "../../../shards/src/service/commands.ts";
import { readShardSpec } from "../../../shards/src/spec.ts";
import { locateSpec, readSpecFile } from "../../../shards/src/spec-paths.ts";
import type { BuildMessage, WholeBuildTask } from "../killed-builds.ts";

// A process that builds shards from a description, choice of rules and report included, and says how far it is.

const task = JSON.parse(process.argv[2] ?? "") as WholeBuildTask;
const tell = (message: BuildMessage): void => void process.send?.(message);
const sleeper = new Int32Array(new SharedArrayBuffer(4));

try {
  const spec = await locateSpec(readShardSpec(await readSpecFile(`${task.folder}/spec.json`)), {
    baseDir: task.folder,
    readable: [task.folder],
    output: task.target,
    writable: [],
  });
  const { report } = await runBuild(spec, {
    openStores: storeOpener,
    dryRun: false,
    signal: new AbortController().signal,
    onProgress({ stage }) {
      tell({ phase: stage });
      Atomics.wait(sleeper, 0, 0, task.pauseMs);
    },
  });
  tell({ shards: report.shards.length });
} catch (error) {
  tell({ error: error instanceof Error && "code" in error ? String(error.code) : String(error) });
} finally {
  process.disconnect?.();
}
