import { FedwayError } from "../../errors/fedway-error.ts";
import { storeFailed } from "../bounds.ts";

/** Primary result codes of SQLite (https://sqlite.org/rescode.html), as far as a message can help. */
const failures: Readonly<Record<number, readonly [message: string, next: string]>> = {
  5: ["The database is locked by another program.", "End the other program, then try again."],
  8: ["The database cannot be written to.", "Check who owns the data folder and how it is mounted."],
  10: ["The disk under the database failed.", "Check the disk and the file system of the data folder."],
  11: ["The database is damaged.", "Restore a backup."],
  13: ["There is no room left for the database.", "Free some disk space; the service then continues automatically."],
  14: ["The database cannot be opened.", "Check that the data folder exists and may be written to."],
  26: ["The file is not a database of this service.", "Choose another data folder, or restore a backup."],
};

/** True for an error that SQLite itself raised. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined;
  // Extended codes carry the primary one in their lowest byte.
  return error.errcode & 0xff;
}

/** True when SQLite reports that another connection is in the way. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === 5;
}

/** True when SQLite found no room, or the disk refused to write, which a quota does too. */
export function isFull(error: unknown): boolean {
  const code = resultCode(error);
  return code === 13 || code === 10;
}

/** The error for writes for which no room is left. */
export const noRoom = (): FedwayError => storeFailed(failures[13]?.[0] ?? "", undefined, failures[13]?.[1]);

/** Any error of the database as a `STORE_FAILED`; Fedway's own errors as they are. */
export function sqliteFailed(error: unknown): FedwayError {
  if (error instanceof FedwayError) return error;
  const [message, next] = failures[resultCode(error) ?? -1] ?? ["The database failed.", undefined];
  return storeFailed(message, error, next);
}
