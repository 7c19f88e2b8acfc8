import { rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { syncPath } from "./build-state.ts";

/** Where a build works. */
export interface Place {
  readonly target: string;
  /** Beside the target, on the same disk. */
  readonly building: string;
  /** Triples by range, until they are sorted. */
  readonly parts: string;
  /** What readers of slices in other processes need. */
  readonly readers: string;
  /** What becomes the target. */
  readonly result: string;
  readonly shards: string;
  /** Where what was in the target waits to be removed. */
  readonly replaced: string;
}

export function placeOf(target: string): Place {
  const full = resolve(target);
  const building = `${full}.building`;
  const result = join(building, "result");
  return {
    target: full,
    building,
    parts: join(building, "parts"),
    readers: join(building, "readers"),
    result,
    shards: join(result, "shards"),
    replaced: `${full}.replaced`,
  };
}

/** Gives the result its name. What was there before gives way; between the two steps `recoverTarget` puts it back. */
export async function publish(place: Place): Promise<void> {
  const { target, replaced, result, building } = place;
  await syncPath(result);
  if (await isThere(target)) await rename(target, replaced);
  await rename(result, target);
  await syncPath(dirname(target));
  await rm(replaced, { recursive: true, force: true });
  await rm(building, { recursive: true, force: true });
}

/** Puts right what a kill in the middle of `publish` left. */
export async function recoverTarget({ target, replaced }: Place): Promise<void> {
  if (!(await isThere(replaced))) return;
  if (await isThere(target)) await rm(replaced, { recursive: true, force: true });
  else await rename(replaced, target);
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
