import { learn } from "../../../shards/src/load/learn.ts";
import type { Progress } from "../../../shards/src/load/read-statements.ts";
import { materialise } from "../../../shards/src/materialise/materialise.ts";
import type { BuildMessage, BuildTask } from "../killed-builds.ts";
import { requestFor } from "../shard-build.ts";

// A process that builds the shards of one file and says how far it is. It is made slow enough to be killed anywhere.

const task = JSON.parse(process.argv[2] ?? "") as BuildTask;
const tell = (message: BuildMessage): void => void process.send?.(message);
const sleeper = new Int32Array(new SharedArrayBuffer(4));

const onProgress = ({ phase }: Progress): void => {
  tell({ phase });
  Atomics.wait(sleeper, 0, 0, task.pauseMs);
};

try {
  const learned = await learn([{ path: task.input }], { onProgress });
  const rules = [
    { kind: "horizontal", class: "x:C0", buckets: 2 },
    { kind: "vertical", predicates: ["x:p0", "x:p1"] },
    { kind: "class", classes: ["x:C1", "x:C2"] },
  ] as const;
  const request = requestFor(learned, task.target, { rules, gzip: task.gzip });
  const options = { onProgress, partBytes: 400_000, noteMs: 0 };
  tell({ manifest: await materialise(request, options) });
} catch (error) {
  tell({ error: error instanceof Error && "code" in error ? String(error.code) : String(error) });
} finally {
  process.disconnect?.();
}
