import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { fileData, fileSource } from "../../../src/hosting/file-data.ts";
import { newFolder } from "../../support/scratch-folder.ts";

const folder = newFolder();

const line = '<urn:x:1> <urn:x:p> "é" .';

it("reads files, compressed or not, one after the other", async () => {
  await writeFile(join(folder, "a.nt"), line);
  await writeFile(join(folder, "b.nt.gz"), gzipSync(`${line}\n`));
  const source = fileSource([{ path: join(folder, "a.nt") }, { path: join(folder, "b.nt.gz") }], 100);
  expect(source).toMatchObject({ kind: "module", name: "fileData", bytes: 100 });
  expect(fileData(source.kind === "module" ? source.argument : "")).toBe(`${line}\n${line}\n`);
});

it("refuses a file that is not the one that was written", async () => {
  const path = join(folder, "c.nt");
  await writeFile(path, line);
  const sha256 = createHash("sha256").update(line).digest("hex");
  expect(fileData(JSON.stringify([{ path, sha256 }]))).toBe(line);
  await writeFile(path, `${line}\n${line}`);
  expect(() => fileData(JSON.stringify([{ path, sha256 }]))).toThrow(/has changed/);
});
