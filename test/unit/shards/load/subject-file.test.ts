import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { learn } from "../../../../src/shards/load/learn.ts";
import { loadSubjects, saveSubjects } from "../../../../src/shards/load/subject-classes.ts";
import { writeInput } from "../../../support/shard-build.ts";
import { newFolder } from "../../../support/scratch-folder.ts";

const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";

async function saved(count: number) {
  const folder = newFolder();
  const lines = Array.from({ length: count }, (_, index) => {
    const subject = `<x:subject${"é".repeat(index % 40)}${index}>`;
    return index % 5 === 0 ? `${subject} <x:p> "1" .\n` : `${subject} ${type} <x:C${index % 7}> .\n`;
  });
  const { subjects } = await learn([{ path: writeInput(folder, "in.nt", lines.join("")) }]);
  const path = join(folder, "subjects");
  await saveSubjects(path, subjects);
  return { path, subjects };
}

describe("the file of subjects", () => {
  it("gives back every subject with its classes, also of more than one read", async () => {
    const { path, subjects } = await saved(40_000);
    const found = await loadSubjects(path);
    expect(found.size).toBe(40_000);
    expect(found.classSets).toEqual(subjects.classSets);
    for (let subject = 0; subject < subjects.size; subject += 1) {
      const bytes = subjects.bytesOf(subject);
      expect(found.find(bytes, 0, bytes.length)).toBe(subject);
      expect(found.classSetOf(subject)).toBe(subjects.classSetOf(subject));
    }
    const unknown = Buffer.from("<x:nobody>");
    expect(found.classSetOf(found.find(unknown, 0, unknown.length))).toBe(0);
  });

  const shouldRefuse = (what: string, change: (bytes: Buffer) => Buffer): void => {
    it(`refuses a file ${what}`, async () => {
      const { path } = await saved(10);
      writeFileSync(path, change(readFileSync(path)));
      await expect(loadSubjects(path)).rejects.toMatchObject({ code: "SHARDS_INVALID" });
    });
  };
  shouldRefuse("that is cut off", (bytes) => bytes.subarray(0, -3));
  shouldRefuse("that is cut off behind a subject", (bytes) => bytes.subarray(0, bytes.lastIndexOf("<x:subject") - 8));
  shouldRefuse("that is longer", (bytes) => Buffer.concat([bytes, bytes.subarray(-30)]));
  shouldRefuse("with another head", (bytes) => Buffer.concat([Buffer.from("{}\n"), bytes]));
  shouldRefuse("that is empty", () => Buffer.alloc(0));
  shouldRefuse("with classes that are not there", (bytes) => {
    bytes.writeUInt32LE(99, bytes.indexOf("\n") + 1);
    return bytes;
  });
});
