import { mkdir, rm } from "node:fs/promises";

/** Work in a folder of its own, which is empty at the start, whatever a killed run has left, and gone at the end. */
export async function withScratch<Result>(folder: string, work: (folder: string) => Promise<Result>): Promise<Result> {
  await remove(folder);
  await mkdir(folder, { recursive: true });
  try {
    return await work(folder);
  } finally {
    await remove(folder);
  }
}

/** Again when somebody, a run that does not know yet that it has lost its job, puts a file there meanwhile. */
const remove = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 5 });
