import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import type { Embedder } from "../../src/embeddings/embedder.ts";
import { openEmbedder } from "../../src/embeddings/open-embedder.ts";
import { embeddingModelFolder } from "../support/embedding-models.ts";
import { openService } from "../support/running-service.ts";

const open = (): Embedder =>
  openEmbedder(
    { source: embeddingModelFolder(), model: undefined, key: undefined },
    {
      post: () => Promise.reject(new Error("A local model sends nothing.")),
    },
  )!;
const signal = new AbortController().signal;
const dot = (one: Float32Array, other: Float32Array): number =>
  one.reduce((sum, value, place) => sum + value * (other[place] ?? 0), 0);

const fixture = (name: string): string =>
  readFileSync(new URL(`../fixtures/symptoms/${name}`, import.meta.url), "utf8");
const tenWords = [
  "sleepiness",
  "throwing up",
  "hair loss",
  "trouble sleeping",
  "ringing in the ears",
  "passing out",
  "hives",
  "kidney stones",
  "sore throat",
  "hearing loss",
];

describe("all-MiniLM-L6-v2 in a process", () => {
  const embedder = open();
  afterAll(() => embedder.close());

  /** First numbers of the vectors that Python's onnxruntime and tokenizers give for the same files. */
  it.each([
    ["Drowsiness", [-0.0193, -0.0304, 0.021, 0.137, 0.0563, -0.0651]],
    ["Ça brûle: naïve café (ÆØ) 東京 x²", [0.0683, 0.0103, 0.0567, -0.0676, -0.0179, -0.01]],
    ["has_protein/interactsWith http://example.org/a-b#c", [-0.0912, -0.0716, -0.0426, 0.0304, 0.0056, 0.0085]],
  ])("agrees with Python on %s", async (text, expected) => {
    const [vector = new Float32Array()] = await embedder.embed([text], { signal });
    expect(vector).toHaveLength(384);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    // Integer kernels differ a little from processor to processor.
    expected.forEach((value, place) => expect(Math.abs((vector[place] ?? 0) - value)).toBeLessThan(0.01));
  });

  it("has sleepiness nearer to drowsiness than to diarrhoea, in any company", async () => {
    const [sleepiness, drowsiness, diarrhoea] = await embedder.embed(["sleepiness", "drowsiness", "diarrhoea"], {
      signal,
    });
    expect(dot(sleepiness!, drowsiness!)).toBeGreaterThan(dot(sleepiness!, diarrhoea!) + 0.3);
    const other = open();
    const [alone] = await other.embed(["drowsiness"], { signal });
    expect(alone).toEqual(drowsiness);
    await other.close();
  });

  /**
   * Side effects as MedDRA names them, mostly in Greek and Latin. The ten words are among 40; of all the model finds about
   * half, so that a change for the worse shows there.
   */
  it("finds side effects by everyday words", async () => {
    const labels = fixture("side-effects.txt").trim().split("\n");
    const expected: Readonly<Record<string, readonly string[]>> = JSON.parse(fixture("everyday.json"));
    const words = Object.keys(expected);
    const [labelVectors, wordVectors] = await Promise.all([
      embedder.embed(labels, { signal }),
      embedder.embed(words, { signal, as: "query" }),
    ]);
    const hits = words.filter((word, place) => {
      const nearness = labelVectors.map((vector) => dot(vector, wordVectors[place]!));
      const best = new Set(nearness.toSorted((one, other) => other - one).slice(0, 3));
      return labels.some((label, at) => expected[word]?.includes(label) && best.has(nearness[at] ?? 0));
    });
    expect(hits).toEqual(expect.arrayContaining(tenWords));
    expect(hits.length).toBeGreaterThanOrEqual(18);
  });

  it("takes long, empty and hostile texts", async () => {
    const texts = [
      "",
      "\u0000\ud800",
      "word ".repeat(1_000_000),
      "[CLS] [SEP] [MASK]",
      "x".repeat(100_000),
      "🧬".repeat(5_000),
    ];
    const vectors = await embedder.embed(texts, { signal });
    for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
  });

  it("leaves the event loop free", async () => {
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 1);
    const startedMs = performance.now();
    await embedder.embed(
      Array.from({ length: 200 }, (_, place) => `a label of property ${place}`),
      { signal },
    );
    clearInterval(counting);
    // A busy machine may give fewer turns than one a millisecond; a blocked loop would give one a batch.
    expect(turns).toBeGreaterThan(Math.min(30, (performance.now() - startedMs) / 20));
  });

  it("ends while it is loaded, and takes nothing with it", async () => {
    for (const waitMs of [0, 50, 100, 150, 200, 250]) {
      const other = open();
      const ending = other.embed(["a text"], { signal }).then(
        () => "embedded",
        ({ code }) => code,
      );
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      await other.close();
      expect(["embedded", "CANCELLED"]).toContain(await ending);
      await expect(other.embed(["another text"], { signal })).rejects.toMatchObject({ code: "CANCELLED" });
    }
    expect(await embedder.embed(["a text"], { signal })).toHaveLength(1);
  });
});

it("finds solved questions that are asked in other words", async () => {
  const app = await openService({}, { FEDWAY_EXAMPLES: "on", FEDWAY_EMBEDDINGS: embeddingModelFolder() });
  const find = async (question: string): Promise<unknown> => {
    const { data } = await app.toolbox("full").call("find_examples", { question, limit: 1 }, { owner: "a", signal });
    return data["examples"];
  };
  // The vectors of the examples are made in the background. None of these words is in the question that is found.
  await expect.poll(() => find("towns on an island")).toMatchObject([{ endpoints: ["places"] }]);
  expect(await find("ocean heat sensors")).toMatchObject([{ endpoints: ["weather"] }]);
  expect(await find("paintings per creator")).toMatchObject([{ endpoints: ["museums"] }]);
  await app.close();
});
