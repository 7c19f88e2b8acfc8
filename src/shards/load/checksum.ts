import { createHash } from "node:crypto";
import { startThreads } from "../threads/start-threads.ts";

/** The sha256 of bytes that come in chunks. */
export interface Checksum {
  /** Takes a chunk in; until the promise, if there is one, is settled the chunk must stay as it is. */
  update(chunk: Buffer): Promise<unknown> | undefined;
  /** In hex. */
  digest(): Promise<string>;
  close(): Promise<void>;
}

/** What the thread is sent. */
export type HashTask = Uint8Array | "digest";

/** A start takes as long as the checksum of so many bytes. */
const leastBytes = 32 * 1024 * 1024;

/** A checksum of about so many bytes: of many in a thread of its own, since it takes a quarter of the time of reading. */
export const checksumOf = (bytes: number): Checksum => (bytes < leastBytes ? checksumHere() : checksumInThread());

function checksumHere(): Checksum {
  const hash = createHash("sha256");
  return {
    update: (chunk) => void hash.update(chunk),
    digest: async () => hash.digest("hex"),
    close: async () => {},
  };
}

function checksumInThread(): Checksum {
  const script = new URL("./hash-thread.ts", import.meta.url);
  const threads = startThreads<HashTask, string>({ script, data: undefined, count: 1 });
  return {
    // A thread that is lost is told of with the digest.
    update: (chunk) => threads.run(chunk).catch(() => {}),
    digest: () => threads.run("digest"),
    close: () => threads.close(),
  };
}
