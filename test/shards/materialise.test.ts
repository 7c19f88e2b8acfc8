import * as fc from "fast-check";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { learnCells } from "../../shards/src/load/cells.ts";
import { learn } from "../../shards/src/load/learn.ts";
import { readManifest } from "../../shards/src/materialise/manifest.ts";
import { discardBuild, materialise } from "../../shards/src/materialise/materialise.ts";
import { hashOf, keysOfCells, predictShards, placementOf } from "../../shards/src/rules/placement.ts";
import { shardIdsOf } from "../../shards/src/rules/shard-names.ts";
import type { Precedence, Rule } from "../../shards/src/rules/problem.ts";
import { buildShards, filesIn, requestFor, writeInput } from "../support/shard-build.ts";
import { newFolder } from "../support/scratch-folder.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});
const folderForTest = (): string => {
  const folder = newFolder();
  folders.push(folder);
  return folder;
};

const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const rules: readonly Rule[] = [
  { kind: "horizontal", class: "x:A", buckets: 2 },
  { kind: "vertical", predicates: ["x:p", "x:q"] },
  { kind: "class", classes: ["x:B", "x:C"] },
];
const precedence: Precedence = ["horizontal", "vertical", "class"];

const text =
  `<x:a1> ${type} <x:A> .\n<x:a1> <x:p> "1" .\n<x:a2> <x:p> <x:a1> .\n<x:a2> ${type} <x:A> .\n<x:b> ${type} <x:B> .\n` +
  `<x:b> <x:r> "é\\n"@en .\n<x:b> <x:r> "\\u00e9\\n"@EN .\n<x:b> <x:p> <x:b> .\n<x:none> <x:p> "2" .\n<x:none> <x:r> "3" .\n<x:b> ${type} <x:B> .\n`;

/** The lines of the shards in a folder by key. */
async function shardsIn(folder: string): Promise<Readonly<Record<string, string>>> {
  const { shards, gzip } = await readManifest(folder);
  const read = (file: string): Buffer => readFileSync(join(folder, file));
  return Object.fromEntries(shards.map(({ key, file }) => [key, String(gzip ? gunzipSync(read(file)) : read(file))]));
}

describe("materialise", () => {
  it("writes each triple once, to its shard, sorted", async () => {
    const folder = folderForTest();
    const manifest = await buildShards(folder, [writeInput(folder, "in.nt", text)], { rules });
    const bucket = hashOf("x:a1") % 2;
    expect(hashOf("x:a2") % 2).toBe(bucket);
    expect(await shardsIn(join(folder, "out"))).toEqual({
      base: '<x:none> <x:r> "3" .\n',
      "c/x:B": `<x:b> ${type} <x:B> .\n<x:b> <x:r> "é\\n"@en .\n`,
      [`h/x:A/${bucket}`]: `<x:a1> ${type} <x:A> .\n<x:a1> <x:p> "1" .\n<x:a2> ${type} <x:A> .\n<x:a2> <x:p> <x:a1> .\n`,
      "v/x:p": '<x:b> <x:p> <x:b> .\n<x:none> <x:p> "2" .\n',
    });
    expect(manifest).toMatchObject({
      statements: 11,
      triples: 9,
      format: "n-triples",
      untypedSubjects: { count: 1 },
      rules,
    });
    expect(manifest).toEqual(await readManifest(join(folder, "out")));
    expect(readdirSync(folder).toSorted()).toEqual(["in.nt", "out"]);
  });

  it("says in the manifest what was made of what", async () => {
    const folder = folderForTest();
    const input = writeInput(folder, "in.nt", text);
    const source = { dataset: "t", title: "T", licence: "https://e.org/l", citation: "C", source: "https://e.org/" };
    const manifest = await buildShards(folder, [input], { rules, source });
    const sha256 = createHash("sha256").update(text).digest("hex");
    expect(manifest).toMatchObject({ ...source, precedence, reading: { name: "literal" } });
    expect(manifest.inputs).toEqual([{ name: "in.nt", format: "n-triples", bytes: Buffer.byteLength(text), sha256 }]);
    const ids = shardIdsOf(manifest.shards.map(({ key }) => key));
    for (const { id, key, file, bytes, sha256: checksum, triples, lineBytes } of manifest.shards) {
      const content = readFileSync(join(folder, "out", file));
      expect({ id, bytes, lineBytes }).toEqual({
        id: ids.get(key),
        bytes: content.length,
        lineBytes: content.length,
      });
      expect(checksum).toBe(createHash("sha256").update(content).digest("hex"));
      expect(triples).toBe(content.toString().split("\n").length - 1);
    }
    expect(manifest.shards.length).toBe(4);
  });

  it("compresses when asked to", async () => {
    const [plain, packed] = [folderForTest(), folderForTest()];
    await buildShards(plain, [writeInput(plain, "in.nt", text)], { rules });
    const manifest = await buildShards(packed, [writeInput(packed, "in.nt", text)], { rules, gzip: true });
    expect(await shardsIn(join(packed, "out"))).toEqual(await shardsIn(join(plain, "out")));
    for (const { file, sha256 } of manifest.shards) {
      expect(file).toMatch(/^shards\/[a-z0-9.-]+\.nt\.gz$/);
      expect(sha256).toBe(
        createHash("sha256")
          .update(readFileSync(join(packed, "out", file)))
          .digest("hex"),
      );
    }
  });

  it("keeps named graphs, and the same triple in each of them", async () => {
    const folder = folderForTest();
    const quads = `<x:a> <x:p> "1" <x:g> .\n<x:a> <x:p> "1" .\n<x:a> <x:p> "1" <x:h> .\n<x:a> <x:p> "1" <x:g> .\n`;
    const manifest = await buildShards(folder, [writeInput(folder, "in.nq", quads)]);
    expect(manifest).toMatchObject({
      format: "n-quads",
      triples: 3,
      shards: [{ file: "shards/base.nq" }],
    });
    expect(Object.values(await shardsIn(join(folder, "out")))).toEqual([
      '<x:a> <x:p> "1" .\n<x:a> <x:p> "1" <x:g> .\n<x:a> <x:p> "1" <x:h> .\n',
    ]);
  });

  it("finds the same shards in other files, formats and orders", async () => {
    const [one, other] = [folderForTest(), folderForTest()];
    await buildShards(one, [writeInput(one, "in.nt", text)], { rules });
    const lines = text.split(/(?<=\n)/).toReversed();
    const parts = [
      writeInput(other, "b.ttl.gz", gzipSync(lines.slice(0, 4).join(""))),
      writeInput(other, "a.nt", lines.slice(3).join("")),
    ];
    await buildShards(other, parts, { rules });
    const without = (folder: string) => ({ ...filesIn(join(folder, "out")), "manifest.json": "" });
    expect(without(other)).toEqual(without(one));
  });

  it("predicts what will be written", async () => {
    const folder = folderForTest();
    const learned = await learn([{ path: writeInput(folder, "in.nt", [...new Set(text.split(/(?<=\n)/))].join("")) }]);
    const cells = await learnCells({ learned, buckets: 2, patterns: [] });
    const predicted = predictShards(cells.cells, keysOfCells(cells.cells, placementOf(rules, precedence)));
    const { shards } = await materialise(requestFor(learned, join(folder, "out"), { rules }));
    const facts = ({ key, triples }: (typeof predicted)[number]) => ({ key, triples });
    // Two spellings of one literal count twice.
    expect(predicted.map(facts).filter(({ key }) => key !== "c/x:B")).toEqual(
      shards.map(facts).filter(({ key }) => key !== "c/x:B"),
    );
    expect(predicted.find(({ key }) => key === "c/x:B")?.triples).toBe(3);
  });
});

const term = (letter: string, most: number) => fc.nat(most).map((number) => `<x:${letter}${number}>`);
const anyRule: fc.Arbitrary<Rule> = fc.oneof(
  fc.record({
    kind: fc.constant("horizontal" as const),
    class: fc.constantFrom("x:A", "x:B", "x:C"),
    buckets: fc.integer({ min: 2, max: 3 }),
  }),
  fc.record({
    kind: fc.constant("class" as const),
    classes: fc.subarray(["x:A", "x:B", "x:C"], { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    kind: fc.constant("vertical" as const),
    predicates: fc.subarray(["x:p0", "x:p1", "x:p2"], { minLength: 1, maxLength: 2 }),
  }),
);
const anyLine = fc.oneof(
  fc
    .tuple(term("s", 12), fc.constantFrom("A", "B", "C", "D"))
    .map(([subject, name]) => `${subject} ${type} <x:${name}> .\n`),
  fc.tuple(term("s", 12), term("p", 3), term("s", 12)).map((terms) => `${terms.join(" ")} .\n`),
);
const anyPrecedence = fc
  .shuffledSubarray(["horizontal", "vertical", "class"] as const, { minLength: 3 })
  .map((kinds) => kinds as unknown as Precedence);

describe("materialise, of any dataset and rules", () => {
  it("is disjoint and complete, follows the placement, and does not depend on order, parts or memory", async () => {
    const dataset = fc.array(anyLine, { minLength: 1, maxLength: 120, size: "max" });
    const repeated = dataset.chain((lines) =>
      fc.tuple(fc.constant(lines), fc.shuffledSubarray([...lines, ...lines], { minLength: lines.length * 2 })),
    );
    await fc.assert(
      fc.asyncProperty(
        repeated,
        fc.array(anyRule, { maxLength: 4 }),
        anyPrecedence,
        async ([lines, others], some, order) => {
          const [one, other] = [newFolder(), newFolder()];
          try {
            const request = { rules: some, precedence: order };
            await buildShards(one, [writeInput(one, "in.nt", lines.join(""))], request);
            const small = { partBytes: 300, maxPartBytes: 200, noteMs: 0, sliceBytes: 700 };
            await buildShards(other, [writeInput(other, "in.nt", others.join(""))], request, small);
            const shards = await shardsIn(join(one, "out"));
            expect(shards).toEqual(expectedShards(lines, some, order));
            expect(await shardsIn(join(other, "out"))).toEqual(shards);
          } finally {
            for (const folder of [one, other]) rmSync(folder, { recursive: true });
          }
        },
      ),
      { numRuns: 12 },
    );
  });
});

/** The shards by the definition: every different line at its place. */
function expectedShards(
  lines: readonly string[],
  some: readonly Rule[],
  order: Precedence,
): Readonly<Record<string, string>> {
  const place = placementOf(some, order);
  const shards = new Map<string, string[]>();
  for (const line of [...new Set(lines)].toSorted()) {
    const [subject = "", predicate = ""] = line.split(" ").map((part) => part.slice(1, -1));
    const own = lines.filter((each) => each.startsWith(`<${subject}> ${type} `));
    const types = [...new Set(own.map((each) => each.split(" ")[2]!.slice(1, -1)))].toSorted();
    const key = place(types, predicate, hashOf(subject));
    shards.set(key, [...(shards.get(key) ?? []), line]);
  }
  return Object.fromEntries([...shards].map(([key, each]) => [key, each.join("")]));
}

describe("materialise and its target", () => {
  it("leaves finished shards alone, and does not take the place of others unless it is told to", async () => {
    const folder = folderForTest();
    const input = writeInput(folder, "in.nt", text);
    const first = await buildShards(folder, [input], { rules });
    const before = filesIn(join(folder, "out"));
    expect(await buildShards(folder, [input], { rules }, { freeBytes: () => Promise.resolve(0) })).toEqual(first);
    await expect(buildShards(folder, [input])).rejects.toMatchObject({ code: "REQUEST_INVALID" });
    expect(filesIn(join(folder, "out"))).toEqual(before);
    const other = await buildShards(folder, [input], { replace: true });
    expect(other.shards.map(({ key }) => key)).toEqual(["base"]);
    expect(Object.keys(filesIn(join(folder, "out")))).toEqual(["manifest.json", "shards/base.nt"]);
    expect(readdirSync(folder).toSorted()).toEqual(["in.nt", "out"]);
  });

  it("has opaque ids where that is wanted", async () => {
    const folder = folderForTest();
    const input = writeInput(folder, "in.nt", text);
    const manifest = await buildShards(folder, [input], {
      rules,
      naming: "opaque",
      topics: new Map([["base", "Rest"]]),
    });
    for (const { id, file } of manifest.shards) expect(file).toMatch(new RegExp(`^shards/${id}\\.nt$`));
    expect(manifest.shards.map(({ id }) => /^s[0-9a-f]{10}$/.test(id))).toEqual([true, true, true, true]);
    expect(manifest.shards.find(({ key }) => key === "base")).toMatchObject({ topic: "Rest" });
  });

  it("builds damaged shards again", async () => {
    const folder = folderForTest();
    const input = writeInput(folder, "in.nt", text);
    await buildShards(folder, [input], { rules });
    const before = filesIn(join(folder, "out"));
    writeFileSync(join(folder, "out", "shards/base.nt"), "cut");
    await buildShards(folder, [input], { rules });
    expect(filesIn(join(folder, "out"))).toEqual(before);
  });

  it("never touches a folder of something else", async () => {
    const folder = folderForTest();
    mkdirSync(join(folder, "out"));
    writeFileSync(join(folder, "out", "letter.txt"), "dear");
    const input = writeInput(folder, "in.nt", text);
    await expect(buildShards(folder, [input], { replace: true })).rejects.toThrow(
      /something else than finished shards in out/,
    );
    expect(filesIn(join(folder, "out"))).toEqual({ "letter.txt": "dear" });
  });

  it("asks for room before it writes", async () => {
    const folder = folderForTest();
    const build = buildShards(
      folder,
      [writeInput(folder, "in.nt", text)],
      {},
      { freeBytes: () => Promise.resolve(1e6) },
    );
    await expect(build).rejects.toMatchObject({
      code: "DISK_FULL",
      message: expect.stringMatching(/need 17 MB .*; 1 MB are free/),
    });
    expect(readdirSync(folder)).toEqual(["in.nt"]);
  });

  it("goes on where an aborted build was, and ends with the same bytes", async () => {
    const [whole, folder] = [folderForTest(), folderForTest()];
    const lines = Array.from({ length: 2_000 }, (_, index) => `<x:s${index % 90}> <x:p${index % 3}> "${index}" .\n`);
    await buildShards(whole, [writeInput(whole, "in.nt", lines.join(""))], { rules });
    const input = writeInput(folder, "in.nt", lines.join(""));
    const phases = new Set<string>();
    for (const phase of ["split", "sort", "compress"]) {
      const controller = new AbortController();
      const options = {
        partBytes: 5_000,
        noteMs: 0,
        signal: controller.signal,
        onProgress: (progress: { phase: string; bytes: number; totalBytes: number }) => {
          phases.add(`${phase}: ${progress.phase}`);
          if (progress.phase === phase && progress.bytes * 2 >= progress.totalBytes) controller.abort();
        },
      };
      await expect(buildShards(folder, [input], { rules }, options)).rejects.toMatchObject({ name: "AbortError" });
      expect(readdirSync(folder).toSorted()).toEqual(["in.nt", "out.building"]);
    }
    // What is parted or sorted already is not done again.
    expect([...phases]).not.toContain("compress: split");
    expect([...phases]).toContain("compress: sort");
    await buildShards(folder, [input], { rules });
    expect(filesIn(join(folder, "out"))).toEqual(filesIn(join(whole, "out")));
  });

  it("gathers again for other rules when sorting has begun", async () => {
    const [whole, folder] = [folderForTest(), folderForTest()];
    const input = writeInput(folder, "in.nt", text);
    const controller = new AbortController();
    const onProgress = ({ phase }: { phase: string }): void => void (phase === "compress" && controller.abort());
    await expect(
      buildShards(folder, [input], { rules }, { onProgress, signal: controller.signal }),
    ).rejects.toMatchObject({ name: "AbortError" });
    const other: readonly Rule[] = [{ kind: "vertical", predicates: ["x:r"] }];
    await buildShards(folder, [input], { rules: other });
    await buildShards(whole, [writeInput(whole, "in.nt", text)], { rules: other });
    expect(filesIn(join(folder, "out"))).toEqual(filesIn(join(whole, "out")));
    expect(Object.keys(await shardsIn(join(folder, "out")))).toEqual(["base", "v/x:r"]);
  });

  it("writes what stands beside the manifest with it, and adds what is missing there", async () => {
    const folder = folderForTest();
    const input = writeInput(folder, "in.nt", text);
    const beside = (shards: readonly { readonly key: string }[]) => ({
      "notes.txt": shards.map(({ key }) => key).join(),
    });
    await buildShards(folder, [input], { rules, beside });
    const before = filesIn(join(folder, "out"));
    expect(before["notes.txt"]).toMatch(/^base,c\/x:B,h\/x:A\/\d,v\/x:p$/);
    rmSync(join(folder, "out", "notes.txt"));
    await buildShards(folder, [input], { rules, beside });
    expect(filesIn(join(folder, "out"))).toEqual(before);
  });

  it("refuses rules whose buckets it does not tell apart", async () => {
    const folder = folderForTest();
    const odd: readonly Rule[] = [{ kind: "horizontal", class: "x:A", buckets: 5 }];
    const build = buildShards(folder, [writeInput(folder, "in.nt", text)], { rules: odd });
    await expect(build).rejects.toThrow("5 buckets do not divide 6");
  });

  it("forgets what it is told to forget", async () => {
    const folder = folderForTest();
    const signal = AbortSignal.abort();
    const learned = await learn([{ path: writeInput(folder, "in.nt", text) }]);
    const target = join(folder, "out");
    await expect(materialise(requestFor(learned, target), { signal })).rejects.toMatchObject({ name: "AbortError" });
    await discardBuild(target);
    expect(readdirSync(folder)).toEqual(["in.nt"]);
  });
});
