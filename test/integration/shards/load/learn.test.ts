import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { learnCells } from "../../../../shards/src/load/cells.ts";
import { learn } from "../../../../shards/src/load/learn.ts";
import { hashOf } from "../../../../shards/src/rules/placement.ts";
import type { Pattern } from "../../../../shards/src/rules/problem.ts";
import { writeInput } from "../../../support/shard-build.ts";
import { newFolder } from "../../../support/scratch-folder.ts";

const folder = newFolder();

const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";

const learnText = (text: string, options: Parameters<typeof learn>[1] = {}) =>
  learn([{ path: writeInput(folder, "data.nq", text) }], options);

/** The classes that were learnt of a subject. */
function classesOf({ subjects }: Awaited<ReturnType<typeof learn>>, iri: string): readonly string[] | undefined {
  const bytes = Buffer.from(`<${iri}>`);
  return subjects.classSets[subjects.classSetOf(subjects.find(bytes, 0, bytes.length))];
}

describe("learn", () => {
  it("finds the classes of subjects wherever they are told", async () => {
    const learned = await learnText(
      `<x:b> <x:p> <x:a> .\n<x:a> ${type} <x:B> .\n<x:b> ${type} <x:A> .\n<x:a> ${type} <x:A> <x:g> .\n<x:a> ${type} <x:B> .\n` +
        `<x:c> <x:p> "1" .\n<x:d> ${type} "literal" .\n`,
    );
    expect(learned).toMatchObject({ statements: 7, hasGraphs: true });
    expect(classesOf(learned, "x:a")).toEqual(["x:A", "x:B"]);
    expect(classesOf(learned, "x:b")).toEqual(["x:A"]);
    expect(classesOf(learned, "x:c")).toEqual([]);
    expect(classesOf(learned, "x:other")).toEqual([]);
    expect(learned.untyped).toEqual({ count: 2, isAtLeast: false });
    expect(learned.inputs).toMatchObject([
      { name: "data.nq", format: "n-quads", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
  });

  it("remembers no more untyped subjects than it may, and says so", async () => {
    const untyped = Array.from({ length: 10 }, (_, index) => `<x:${index}> <x:p> "1" .\n`).join("");
    const learned = await learnText(`${untyped}<x:9> ${type} <x:A> .\n<x:a> ${type} <x:A> .\n`, { maxUntyped: 4 });
    expect(learned.untyped).toEqual({ count: 4, isAtLeast: true });
    expect(learned).toMatchObject({ subjects: { size: 6 } });
    expect(classesOf(learned, "x:9")).toEqual(["x:A"]);
    expect((await learnText(untyped, { maxUntyped: 10 })).untyped).toMatchObject({ count: 10, isAtLeast: false });
  });

  it("learns nothing from a dataset without triples, and reports progress", async () => {
    expect(await learnText("# nothing\n")).toMatchObject({ subjects: { size: 0 } });
    const seen: unknown[] = [];
    const text = `<x:a> ${type} <x:A> .\n`;
    await learnText(text, { onProgress: (progress) => seen.push(progress) });
    expect(seen.at(-1)).toEqual({ phase: "learn", triples: 1, bytes: text.length, totalBytes: text.length });
  });

  it("learns the same from the same statements in another order", async () => {
    const statement = fc
      .tuple(fc.nat(6), fc.constantFrom(type, "<x:p>"), fc.nat(3))
      .map(([subject, predicate, object]) => `<x:s${subject}> ${predicate} <x:C${object}> .\n`);
    const some = fc.array(statement, { minLength: 1, maxLength: 30 });
    const shuffled = some.chain((lines) =>
      fc.tuple(fc.constant(lines), fc.shuffledSubarray(lines, { minLength: lines.length })),
    );
    await fc.assert(
      fc.asyncProperty(shuffled, async ([lines, others]) => {
        const [one, other] = [await learnText(lines.join("")), await learnText(others.join(""))];
        for (let subject = 0; subject <= 6; subject += 1) {
          const own = lines.flatMap((line) => new RegExp(`^<x:s${subject}> ${type} <(.*)>`).exec(line)?.[1] ?? []);
          expect(classesOf(one, `x:s${subject}`)).toEqual([...new Set(own)].toSorted());
          expect(classesOf(other, `x:s${subject}`)).toEqual(classesOf(one, `x:s${subject}`));
        }
        expect(other.untyped).toEqual(one.untyped);
      }),
      { numRuns: 40 },
    );
  });
});

const text =
  `<x:a> ${type} <x:A> .\n<x:a> <x:p> <x:b> .\n<x:a> <x:p> <x:a> .\n<x:b> ${type} <x:B> .\n<x:b> <x:p> "1"@en .\n` +
  `<x:c> <x:q> "é" .\n<x:p> <x:p> <x:q> .\n`;

const cellsOf = async (patterns: readonly (readonly Pattern[])[], buckets = 1) =>
  learnCells({ learned: await learnText(text), buckets, patterns });

/** Which predicates of which classes a pattern touches. */
function shouldTouch(pattern: Pattern, expected: readonly string[]): void {
  it(`touches ${expected.join(", ") || "nothing"} with ${JSON.stringify(pattern)}`, async () => {
    const { cells, touches } = await cellsOf([[pattern]]);
    const names = cells.map(({ types, predicate }) => `${types.join("+")} ${predicate.replace(/.*#/u, "")}`.trim());
    expect(touches[0]?.map((cell) => names[cell])).toEqual(expected);
  });
}

describe("learnCells", () => {
  it("counts triples by classes, predicate and bucket", async () => {
    const { cells } = await cellsOf([], 3);
    const bucketOf = (iri: string): number => hashOf(iri) % 3;
    expect(
      cells.map(({ types, predicate, bucket, triples }) => [
        types.join(),
        predicate.replace(/.*#/u, ""),
        bucket,
        triples,
      ]),
    ).toEqual([
      ["", "x:p", bucketOf("x:p"), 1],
      ["", "x:q", bucketOf("x:c"), 1],
      ["x:A", "type", bucketOf("x:a"), 1],
      ["x:A", "x:p", bucketOf("x:a"), 2],
      ["x:B", "type", bucketOf("x:b"), 1],
      ["x:B", "x:p", bucketOf("x:b"), 1],
    ]);
  });

  shouldTouch({}, ["x:p", "x:q", "x:A type", "x:A x:p", "x:B type", "x:B x:p"]);
  shouldTouch({ predicate: "<x:p>" }, ["x:p", "x:A x:p", "x:B x:p"]);
  shouldTouch({ predicate: "<x:none>" }, []);
  shouldTouch({ predicate: type, object: "<x:B>" }, ["x:B type"]);
  shouldTouch({ object: "<x:b>" }, ["x:A x:p"]);
  shouldTouch({ object: '"1"@EN' }, ["x:B x:p"]);
  shouldTouch({ object: '"\\u00e9"' }, ["x:q"]);
  shouldTouch({ object: '"1"' }, []);
  shouldTouch({ object: "<relative>" }, []);
  shouldTouch({ subject: "<x:a>" }, ["x:A type", "x:A x:p"]);
  shouldTouch({ subject: "<x:a>", object: "<x:b>" }, ["x:A x:p"]);
  shouldTouch({ subject: "<x:b>", object: "<x:b>" }, []);
  shouldTouch({ equal: [["subject", "object"]] }, ["x:A x:p"]);
  shouldTouch({ equal: [["subject", "predicate"]] }, ["x:p"]);
  shouldTouch({ predicate: "<x:p>", equal: [["subject", "object"]] }, ["x:A x:p"]);
  shouldTouch({ object: "<x:a>", equal: [["subject", "object"]] }, ["x:A x:p"]);

  shouldTouch({ exceptPredicates: ["x:p"] }, ["x:q", "x:A type", "x:B type"]);
  shouldTouch({ subject: "<x:a>", exceptPredicates: ["x:p"] }, ["x:A type"]);
  shouldTouch({ graph: "none", predicate: "<x:p>" }, []);
  shouldTouch({ graph: "named" }, []);
  shouldTouch({ graph: "<x:g>", object: "<x:b>" }, []);

  const quads =
    '<x:a> <x:p> "1" .\n<x:a> <x:q> "1" <x:g> .\n<x:b> <x:q> "1" <x:h> .\n<x:b> <x:r> "1" <x:h> .\n<x:b> <x:r> "1" .\n';
  const shouldTouchOfQuads = (pattern: Pattern, expected: readonly string[]): void => {
    it(`touches ${expected.join(", ") || "nothing"} of graphs with ${JSON.stringify(pattern)}`, async () => {
      const learned = await learn([{ path: writeInput(folder, "in.nq", quads) }]);
      const { cells, touches } = await learnCells({ learned, buckets: 1, patterns: [[pattern]] });
      expect(touches[0]?.map((cell) => cells[cell]?.predicate)).toEqual(expected);
    });
  };
  shouldTouchOfQuads({}, ["x:p", "x:r"]);
  shouldTouchOfQuads({ graph: "named" }, ["x:q", "x:r"]);
  shouldTouchOfQuads({ graph: "none" }, []);
  shouldTouchOfQuads({ graph: "<x:g>" }, ["x:q"]);
  shouldTouchOfQuads({ graph: "<x:h>", predicate: "<x:r>" }, ["x:r"]);
  shouldTouchOfQuads({ graph: "<x:none>" }, []);
  shouldTouchOfQuads({ object: '"1"' }, ["x:p", "x:r"]);
  shouldTouchOfQuads({ graph: "<x:h>", subject: "<x:b>" }, ["x:q", "x:r"]);
  shouldTouchOfQuads({ graph: "named", subject: "<x:a>" }, ["x:q"]);
  shouldTouchOfQuads({ predicate: "<x:q>" }, []);

  it("tells what all patterns of a query touch together", async () => {
    const { touches } = await cellsOf([[{ predicate: "<x:q>" }, { subject: "<x:b>" }], [], [{ predicate: "<x:q>" }]]);
    expect(touches).toEqual([[1, 4, 5], [], [1]]);
  });
});
