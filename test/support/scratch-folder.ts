import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new folder among the temporary files of the run, which go with the run. */
export const newFolder = (): string => mkdtempSync(join(realpathSync(tmpdir()), "fedway-"));

/** Of vitest (`globalSetup`): all temporary files of a run, those of its programs too, lie in one folder. */
export function setup(): () => void {
  const folder = newFolder();
  // Programs may run as another user.
  chmodSync(folder, 0o755);
  process.env["TMPDIR"] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
