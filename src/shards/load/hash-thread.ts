/**
 * A thread that takes the sha256 of bytes that others work on at the same time. Input: chunks in shared memory, then
 * `"digest"`. Output: for that the checksum in hex, for a chunk that it is done with. It runs from source (Node strips the
 * types) and compiled.
 */
import { createHash } from "node:crypto";
import { serveTasks } from "../threads/serve-tasks.ts";
import type { HashTask } from "./checksum.ts";

const hash = createHash("sha256");

serveTasks(async (task: HashTask) => {
  if (task === "digest") return hash.digest("hex");
  hash.update(task);
  return "";
});
