import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new folder among the temporary files of the run, which go with the run. */
export const newFolder = (): string => mkdtempSync(join(realpathSync(tmpdir()), "fedway-"));

const marker = "SCRATCH_FOLDER_OF_TESTS";

/**
 * Of vitest (`globalSetup`): all temporary files of a run, those of its programs too, lie in one folder. Each project of a run calls
 * this: folders within folders would be too long for the sockets of browsers.
 */
export function setup(): () => void {
  if (process.env[marker] !== undefined) return () => undefined;
  const folder = newFolder();
  process.env[marker] = folder;
  // Programs may run as another user.
  chmodSync(folder, 0o755);
  process.env["TMPDIR"] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
