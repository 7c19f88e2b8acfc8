import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { FedwayError } from "../../errors/fedway-error.ts";
import { ruleFileName } from "./rule-file.ts";

/** A rule file on disk. It may be large: it is read as it is sent. */
export interface FoundRuleFile {
  /** Absolute where the folder's is. */
  readonly path: string;
  readonly bytes: number;
}

/** The rule file of a finished folder; a link to elsewhere is none. @throws FedwayError `SHARDS_UNKNOWN` */
export async function findRuleFile(folder: string): Promise<FoundRuleFile> {
  const path = join(folder, ruleFileName);
  const found = await lstat(path).catch(() => undefined);
  if (found?.isFile() === true) return { path, bytes: found.size };
  throw new FedwayError("SHARDS_UNKNOWN", `There is no ${ruleFileName} in this folder.`, {
    next: "Build the shards again: what is there stays, what is missing is added.",
  });
}
