import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { learn } from "../../shards/src/load/learn.ts";
import { readSlice, slicesOf } from "../../shards/src/load/read-statements.ts";
import { writeInput } from "../support/shard-build.ts";
import { openWorkspace, type ShardWorkspace } from "../support/shard-workspace.ts";
import { newFolder } from "../support/scratch-folder.ts";

const bad = ["<x:s> <x:p> .", "no triple", '<x:s> <x:p> "open .', "<x:s> <x:p> <x:o>", "\u00ff"];

let workspace: ShardWorkspace;
beforeAll(async () => {
  workspace = await openWorkspace();
  const lines = Array.from({ length: 12 }, (_, index) => bad[index % bad.length]).join("\n");
  await appendFile(join(workspace.input, "harbour.nt"), Buffer.from(`${lines}\n`, "latin1"));
});

describe("lines that cannot be read", () => {
  it("are an error with file and line by default", async () => {
    await expect(workspace.build()).rejects.toMatchObject({
      code: "DATASET_INVALID",
      message: "harbour.nt, line 417: an object is expected: an IRI, a blank node or a literal.",
    });
  });

  it("are left out where that is asked for, with their number and the first ten places, and shards hold", async () => {
    await workspace.describe({ skipBadLines: true });
    const { report, folder = "" } = await workspace.build();
    expect(report.statistics.triples).toBe(416);
    expect(report.badLines).toMatchObject([{ name: "harbour.nt", count: 12, first: { length: 10 } }]);
    expect(report.badLines?.[0]?.first.slice(0, 5)).toEqual([
      { line: 417, reason: "an object is expected: an IRI, a blank node or a literal" },
      { line: 418, reason: "a subject is expected: an IRI or a blank node" },
      { line: 419, reason: "a literal is not closed" },
      { line: 420, reason: "a dot is expected" },
      { line: 421, reason: "this is not UTF-8 text" },
    ]);
    const manifest = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8")) as { inputs: object[] };
    expect(manifest.inputs).toMatchObject([{ name: "harbour.nt", badLines: 12 }]);
    expect(await readFile(join(folder, "report.html"), "utf8")).toContain("Lines that were left out");
    expect((await workspace.verify(folder)).outcome).toBe("held");
  });

  it("are in documents statements with bad terms; a fault of the grammar is refused", async () => {
    const folder = newFolder();
    const path = writeInput(folder, "in.ttl", '<x:s> <x:p> "t"@en_US, "b" .\n<x:s> <x:q> <x:o> .\n');
    await expect(learn([{ path }])).rejects.toMatchObject({
      message: expect.stringContaining("@en_us is not a language tag"),
    });
    const { inputs, statements } = await learn([{ path, skipBadLines: true }]);
    expect(statements).toBe(2);
    expect(inputs[0]?.badLines).toEqual({
      count: 1,
      first: [{ line: 1, reason: "@en_us is not a language tag (at or behind this line)" }],
    });
    const broken = writeInput(folder, "broken.ttl", "<x:s> <x:p> .\n");
    await expect(learn([{ path: broken, skipBadLines: true }])).rejects.toMatchObject({
      code: "DATASET_INVALID",
      message: expect.stringContaining("only statements with bad terms can be left out"),
    });
  });

  it("are left out of whichever slice they begin in", async () => {
    const good = Array.from({ length: 40 }, (_, index) => `<x:s${index}> <x:p> "${index}" .`);
    const path = writeInput(newFolder(), "in.nt", "");
    await writeFile(path, good.flatMap((line, index) => [line, bad[index % 4]]).join("\n"));
    const { inputs, statements } = await learn([{ path, skipBadLines: true }]);
    expect([statements, inputs[0]?.badLines?.count]).toEqual([40, 40]);
    for (const sliceBytes of [7, 100, 333]) {
      const found: string[] = [];
      for (const slice of slicesOf(inputs, sliceBytes)) {
        const take = ({ bytes, start, end }: { bytes: Buffer; start: number; end: number }): void =>
          void found.push(bytes.toString("utf8", start, end - 1));
        await readSlice(slice, take, { phase: "split" });
      }
      expect(found).toEqual(good);
    }
  });
});
