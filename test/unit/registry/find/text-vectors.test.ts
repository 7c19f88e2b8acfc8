import { expect, it, onTestFinished } from "vitest";
import { TextVectors } from "../../../../src/registry/find/tables/text-vectors.ts";

const signal = new AbortController().signal;

/** Sees the first letter of a text only: `a` and `b` are at a right angle. */
const vectorOf = (text: string): Float32Array =>
  Float32Array.of(text.startsWith("a") ? 1 : 0, text.startsWith("b") ? 1 : 0);

function vectorsOf({ most = 100, fails = false }: { readonly most?: number; readonly fails?: boolean } = {}) {
  const batches: (readonly string[])[] = [];
  const faults: unknown[] = [];
  const embed = async (texts: readonly string[]) => {
    batches.push(texts);
    if (fails) throw new Error("no model");
    return texts.map(vectorOf);
  };
  const vectors = new TextVectors({ embedder: { embed }, onFault: (error) => faults.push(error), most });
  onTestFinished(() => vectors.close());
  const set = (id: string, ...texts: readonly string[]) =>
    vectors.set(id, () => texts.map((text, at) => ({ at, text })));
  return { vectors, set, batches, faults };
}

const a = vectorOf("a");

it("short lists are embedded together, and found by their nearness", async () => {
  const { vectors, set, batches } = vectorsOf();
  set("one", "bee", "ant");
  set("other", "ape");
  await vectors.settled();
  expect(batches).toEqual([["bee", "ant", "ape"]]);
  expect(vectors.nearest("one", a)).toEqual([
    { at: 1, cosine: expect.closeTo(1, 2) },
    { at: 0, cosine: 0 },
  ]);
  expect(vectors.cosine("other", 0, a)).toBeCloseTo(1, 2);
  expect([vectors.cosine("other", 1, a), vectors.cosine("other", 0, Float32Array.of(1))]).toEqual([NaN, NaN]);
});

it("a list that is replaced or removed meanwhile counts no more", async () => {
  const { vectors, set } = vectorsOf();
  set("one", "ant");
  set("gone", "ant");
  set("one", "bee");
  vectors.set("gone", undefined);
  await vectors.settled();
  expect([...vectors.ids()]).toEqual(["one"]);
  expect(vectors.cosine("one", 0, a)).toBe(0);
});

it("what has no room gets no vectors", async () => {
  const { vectors, set } = vectorsOf({ most: 2 });
  set("one", "ant", "ape", "ass");
  set("other", "ant");
  await vectors.settled();
  expect(vectors.nearest("one", a)).toHaveLength(2);
  expect([...vectors.ids()]).toEqual(["one"]);
});

it("a model that fails is reported once and then left alone, and no question is asked of it", async () => {
  const { vectors, set, batches, faults } = vectorsOf({ fails: true });
  set("one", "ant");
  await vectors.settled();
  set("other", "bee");
  await vectors.settled();
  expect(batches).toHaveLength(1);
  expect(faults).toEqual([new Error("no model")]);
  expect(await vectors.questions(["ant"], signal)).toBeUndefined();
});
