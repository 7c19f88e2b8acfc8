import { randomBytes } from "node:crypto";
import { rmSync, statSync, writeFileSync } from "node:fs";

/** Room that is kept on the disk for deletes: one of the largest document takes a fraction of it. */
const reserveBytes = 4 * 1024 * 1024;
/** Between two tries to take the room again, in milliseconds. */
const patienceMs = 1_000;

/** A file that holds room beside a database, so that deletes work when the disk is full. */
export type Reserve = ReturnType<typeof createReserve>;

/** Takes the room at once where there is any; a disk that never had it goes without. */
export function createReserve(path: string) {
  let isReleased = false;
  let triedMs = Number.NEGATIVE_INFINITY;

  const take = (): boolean => {
    try {
      // Bytes that no file system compresses.
      if (sizeOf(path) !== reserveBytes) writeFileSync(path, randomBytes(reserveBytes), { mode: 0o600 });
      return true;
    } catch {
      rmSync(path, { force: true });
      return false;
    }
  };
  take();
  return {
    /** The room was given to the database, and could not be taken again yet. */
    get isReleased(): boolean {
      return isReleased;
    },
    /** Takes the room again after it was released. */
    restore(): void {
      if (!isReleased || performance.now() - triedMs < patienceMs) return;
      triedMs = performance.now();
      isReleased = !take();
    },
    /** Gives the room to the database. */
    release(): void {
      isReleased = true;
      triedMs = Number.NEGATIVE_INFINITY;
      rmSync(path, { force: true });
    },
  };
}

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size;
