import { utimesSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { learn } from "../../shards/src/load/learn.ts";
import { readSlice, slicesOf } from "../../shards/src/load/read-statements.ts";
import { writeInput } from "../support/shard-build.ts";
import { newFolder } from "../support/scratch-folder.ts";

interface Files {
  readonly paths: readonly string[];
  /** The lines of each slice, and what was told of bytes. */
  readonly read: (sliceBytes: number) => Promise<readonly (readonly string[])[]>;
}

async function filesOf(texts: Readonly<Record<string, string | Buffer>>): Promise<Files> {
  const folder = newFolder();
  const paths = Object.entries(texts).map(([name, text]) => writeInput(folder, name, text));
  const { inputs } = await learn(paths.map((path) => ({ path })));
  return {
    paths,
    async read(sliceBytes) {
      const found: string[][] = [];
      for (const slice of slicesOf(inputs, sliceBytes)) {
        const lines: string[] = [];
        await readSlice(slice, ({ bytes, start, end }) => void lines.push(bytes.toString("utf8", start, end)), {
          phase: "split",
        });
        found.push(lines);
      }
      return found;
    },
  };
}

const line = (index: number): string => `<x:s${index}> <x:p> "${"é".repeat((index * 7) % 5)}" .\n`;
const lines = Array.from({ length: 9 }, (_, index) => line(index));

describe("slices", () => {
  const text = lines.join("");
  const size = Buffer.byteLength(text);

  it("has each line in one slice, wherever slices end", async () => {
    const { read } = await filesOf({ "in.nt": text });
    for (const sliceBytes of [3, ...Array.from({ length: size - 40 }, (_, index) => index + 42)]) {
      const slices = await read(sliceBytes);
      expect(slices.length, `${sliceBytes}`).toBe(Math.ceil(size / sliceBytes));
      expect(slices.flat(), `${sliceBytes}`).toEqual(lines);
    }
  });

  it.each(["\n", "\r\n"])("has lines that are not canonical and end with %j", async (feed) => {
    const other = `${lines.map((each) => `  ${each.slice(0, -1).replaceAll(" ", "  ")}${feed}`).join("")}# end`;
    const { read } = await filesOf({ "in.nt": `\uFEFF${other}` });
    for (const sliceBytes of [1, 17, 40, 333]) expect((await read(sliceBytes)).flat()).toEqual(lines);
  });

  it("has a last line without an end", async () => {
    const { read } = await filesOf({ "in.nt": text.slice(0, -1) });
    for (let sliceBytes = 1; sliceBytes <= size; sliceBytes += 13)
      expect((await read(sliceBytes)).flat()).toEqual(lines);
  });

  it("has named graphs", async () => {
    const quads = lines.map((each) => each.replace(" .", " <x:g> ."));
    const { read } = await filesOf({ "in.nq": quads.join("") });
    expect((await read(45)).flat()).toEqual(quads);
    expect((await read(45)).length).toBeGreaterThan(5);
  });

  it("does not part what cannot be parted, and fills slices with small files", async () => {
    const { read } = await filesOf({
      "a.ttl": text,
      "b.nt.gz": gzipSync(text),
      "c.nt": line(100),
      "d.nt": line(101),
      "e.nt": lines.join(""),
    });
    const sizes = (await read(120)).map((each) => each.length);
    expect(sizes[0]).toBe(9);
    expect(sizes[1]).toBeGreaterThanOrEqual(11);
    expect(sizes.reduce((sum, each) => sum + each, 0)).toBe(29);
    expect(sizes.length).toBeGreaterThan(3);
    expect(await read(Number.POSITIVE_INFINITY)).toHaveLength(1);
  });

  it("refuses a file that was changed since", async () => {
    const { read, paths } = await filesOf({ "in.nt": text });
    const [path = ""] = paths;
    utimesSync(path, 1, 1);
    await expect(read(100)).rejects.toMatchObject({ code: "DATASET_INVALID", message: /in\.nt: .* was changed/ });
    writeFileSync(path, text.slice(0, 50));
    await expect(read(100)).rejects.toMatchObject({ code: "DATASET_INVALID" });
  });

  it("tells of all bytes of its part", async () => {
    const folder = newFolder();
    const { inputs } = await learn([{ path: writeInput(folder, "in.nt", text) }]);
    const told: number[] = [];
    for (const slice of slicesOf(inputs, Number.POSITIVE_INFINITY)) {
      await readSlice(slice, () => {}, {
        phase: "split",
        onProgress: ({ bytes, totalBytes }) => told.push(bytes, totalBytes),
      });
    }
    expect(told.at(-2)).toBe(size);
    expect(told.at(-1)).toBe(size);
  });
});
