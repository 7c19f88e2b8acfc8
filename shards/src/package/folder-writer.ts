import { createHash } from "node:crypto";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder } from "../../../src/make-folder.ts";

export const sha256 = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");

/** A file below the folder. */
interface WrittenFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Writes files below a folder and notes their sizes and checksums. The shards lie in `build/`, which a service hosts as it is. */
export class FolderWriter {
  readonly written: WrittenFile[] = [];
  readonly #target: string;

  constructor(target: string) {
    this.#target = target;
  }

  async write(name: string, text: string): Promise<void> {
    await makeFolder(dirname(join(this.#target, name)));
    await writeFile(join(this.#target, name), text);
    this.written.push({ name, bytes: Buffer.byteLength(text), sha256: sha256(text) });
  }

  async copy(folder: string, file: string): Promise<void> {
    const name = `build/${file}`;
    const path = join(this.#target, name);
    await makeFolder(dirname(path));
    await copyFile(join(folder, file), path);
    const content = await readFile(path);
    this.written.push({ name, bytes: content.length, sha256: sha256(content) });
  }
}
