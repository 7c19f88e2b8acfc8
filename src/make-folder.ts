import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/**
 * Creates a folder, and those above it, where they are missing. Level by level: the recursive `mkdir` of Node never ends
 * below a folder in which nothing can be made although it exists, such as `/proc`.
 * @throws NodeJS.ErrnoException
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  const folder = resolve(path);
  if (await isFolder(folder)) return;
  if (dirname(folder) !== folder) await makeFolder(dirname(folder), mode);
  await mkdir(folder, { mode }).catch(async (error: unknown) => {
    // Another process may have been faster.
    if (!(await isFolder(folder))) throw error;
  });
}

/** False where nothing is. @throws NodeJS.ErrnoException below a file, or where it may not look */
const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
