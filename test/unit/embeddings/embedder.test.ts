import { describe, expect, it } from "vitest";
import { createEmbedder, type Model, prefixesOf } from "../../../src/embeddings/embedder.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";

/** A model whose vectors are the length of the text and its first letter; notes what it was asked. */
function fakeModel(more: Partial<Model> = {}) {
  const asked: (readonly string[])[] = [];
  const model: Model = {
    name: "fake",
    batchSize: 2,
    concurrency: 1,
    async run(texts) {
      asked.push(texts);
      return texts.map((text) => Float32Array.of(text.length, text.codePointAt(0) ?? 0));
    },
    close: async () => {},
    ...more,
  };
  return { model, asked };
}

const signal = new AbortController().signal;
const nearlyOne = expect.closeTo(1, 5);

describe("an embedder", () => {
  it("gives vectors of length 1 in the order of the texts, and asks for each text once", async () => {
    const { model, asked } = fakeModel();
    const embedder = createEmbedder(model);
    const vectors = await embedder.embed(["ccc", "a", "ccc", "bb"], { signal });
    expect(asked).toEqual([["a", "bb"], ["ccc"]]);
    expect(vectors.map((vector) => Math.hypot(...vector))).toEqual([nearlyOne, nearlyOne, nearlyOne, nearlyOne]);
    expect(vectors[0]).toEqual(vectors[2]);
    expect(await embedder.embed(["bb", "ccc"], { signal })).toEqual([vectors[3], vectors[0]]);
    expect(asked).toHaveLength(2);
    expect(await embedder.embed([], { signal })).toEqual([]);
  });

  it("marks questions and passages as the family of the model wants them", async () => {
    const { model, asked } = fakeModel({ name: "intfloat/e5-small-v2" });
    const embedder = createEmbedder(model);
    await embedder.embed(["a"], { signal, as: "query" });
    await embedder.embed(["a"], { signal });
    expect(asked).toEqual([["query: a"], ["passage: a"]]);
    expect(prefixesOf("bge-small-en-v1.5").query).toMatch(/^Represent this sentence/);
    expect(prefixesOf("bge-m3")).toEqual(prefixesOf("all-minilm-l6-v2"));
    expect(prefixesOf("multilingual-e5-large").passage).toBe("passage: ");
  });

  it("cuts and cleans hostile texts, and never sends an empty one", async () => {
    const { model, asked } = fakeModel();
    await createEmbedder(model).embed(["x".repeat(1_000_000), "a\u0000\n\u001b[31mb \ud800", " \n"], { signal });
    expect(asked.flat().toSorted((one, other) => one.length - other.length)).toEqual([
      ".",
      "a [31mb \ufffd",
      "x".repeat(2_000),
    ]);
  });

  it("lets a question pass a long list of passages", async () => {
    const order: string[] = [];
    const { model } = fakeModel();
    const slow = { ...model, run: (texts: readonly string[]) => (order.push(...texts), model.run(texts, signal)) };
    const embedder = createEmbedder(slow);
    const list = Array.from({ length: 40 }, (_, place) => `passage ${place + 10}`);
    await Promise.all([embedder.embed(list, { signal }), embedder.embed(["question"], { signal, as: "query" })]);
    expect(order.indexOf("question")).toBeLessThan(4);
    expect(order).toHaveLength(41);
  });

  it("bounds what waits, and lets go of who cancels", async () => {
    const gate = Promise.withResolvers<void>();
    const { model, asked } = fakeModel();
    const embedder = createEmbedder({
      ...model,
      run: (texts) => gate.promise.then(() => model.run(texts, signal)),
    });
    const controller = new AbortController();
    const running = embedder.embed(["first"], { signal: controller.signal });
    const waiting = embedder.embed(["second"], { signal: controller.signal });
    const others = Array.from({ length: 255 }, (_, place) => embedder.embed([`other ${place}`], { signal }));
    await expect(embedder.embed(["one too many"], { signal })).rejects.toMatchObject({ code: "SERVICE_BUSY" });
    controller.abort(new FedwayError("CANCELLED", "Enough."));
    await expect(running).rejects.toThrow("Enough.");
    await expect(waiting).rejects.toThrow("Enough.");
    gate.resolve();
    await Promise.all(others);
    expect(asked.flat()).not.toContain("second");
    await expect(embedder.embed(["x"], { signal: AbortSignal.abort(new Error("too late")) })).rejects.toThrow(
      "too late",
    );
  });

  it.each([[[0, 0]], [[Number.NaN, 1]], [[Number.POSITIVE_INFINITY, 1]]])("refuses the vector %o", async (numbers) => {
    const { model } = fakeModel({ run: async (texts) => texts.map(() => Float32Array.from(numbers)) });
    await expect(createEmbedder(model).embed(["a"], { signal })).rejects.toMatchObject({ code: "MODEL_FAILED" });
  });

  it("fails for those alone whose batch has failed", async () => {
    const { model } = fakeModel();
    const embedder = createEmbedder({
      ...model,
      run: (texts) =>
        texts.includes("bad") ? Promise.reject(new FedwayError("MODEL_FAILED", "No.")) : model.run(texts, signal),
    });
    const [bad, good] = await Promise.allSettled([
      embedder.embed(["bad"], { signal }),
      embedder.embed(["good"], { signal }),
    ]);
    expect([bad.status, good.status]).toEqual(["rejected", "fulfilled"]);
  });
});
