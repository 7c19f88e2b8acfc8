import type { Embedder } from "../../embeddings/embedder.ts";
import { cosine, type SmallVector, smallVector } from "../linking/small-vector.ts";

/** A value by its place among the rows of an endpoint. */
interface PlacedText {
  readonly at: number;
  readonly text: string;
}

interface PlacedVector {
  readonly at: number;
  readonly vector: SmallVector;
}

const mostOfEndpoint = 1_000;
/** Of all endpoints: 8 MB of 384 numbers each. */
const mostVectors = 20_000;
const batchSize = 32;
/** A model that is slower is not waited for. */
const questionMs = 2_000;

/** Vectors of values, made in the background one endpoint at a time, in a bounded memory. */
export function createValueVectors(embedder: Pick<Embedder, "embed">, onFault: (error: unknown) => void) {
  const byEndpoint = new Map<string, readonly PlacedVector[]>();
  const wanted = new Map<string, readonly PlacedText[]>();
  const closing = new AbortController();
  let work = Promise.resolve();
  const room = (id: string): number =>
    byEndpoint.entries().reduce((left, [other, vectors]) => left - (other === id ? 0 : vectors.length), mostVectors);

  async function embedAll(id: string, texts: readonly PlacedText[]): Promise<void> {
    const taken = texts.slice(0, Math.min(mostOfEndpoint, room(id)));
    const made: PlacedVector[] = [];
    for (let start = 0; start < taken.length; start += batchSize) {
      if (wanted.get(id) !== texts || closing.signal.aborted) return;
      const batch = taken.slice(start, start + batchSize);
      const vectors = await embedder.embed(
        batch.map(({ text }) => text),
        { signal: closing.signal },
      );
      made.push(...vectors.map((vector, place) => ({ at: batch[place]?.at ?? -1, vector: smallVector(vector) })));
    }
    if (wanted.get(id) === texts) byEndpoint.set(id, made);
  }

  return {
    /** Replaces what is known of an endpoint, soon; no texts remove it. */
    set(id: string, texts: readonly PlacedText[]): void {
      byEndpoint.delete(id);
      wanted.set(id, texts);
      if (texts.length === 0) {
        wanted.delete(id);
        return;
      }
      work = work
        .then(() => embedAll(id, texts))
        .catch((error: unknown) => {
          if (!closing.signal.aborted) onFault(error);
        });
    },
    /** Vectors of texts that are looked for; undefined when the model is slow or fails. */
    async questions(texts: readonly string[]): Promise<readonly Float32Array[] | undefined> {
      if (byEndpoint.size === 0) return undefined;
      const slow = AbortSignal.timeout(questionMs);
      try {
        return await embedder.embed(texts, { signal: AbortSignal.any([slow, closing.signal]), as: "query" });
      } catch (error) {
        if (!slow.aborted && !closing.signal.aborted) onFault(error);
        return undefined;
      }
    },
    /** Values of an endpoint, nearest first, each with its cosine. */
    nearest(id: string, question: Float32Array, most: number): readonly { at: number; cosine: number }[] {
      return (byEndpoint.get(id) ?? [])
        .map(({ at, vector }) => ({ at, cosine: cosine(vector, question) }))
        .filter((near) => near.cosine > 0)
        .toSorted((left, right) => right.cosine - left.cosine)
        .slice(0, most);
    },
    /** Resolves when all vectors that were wanted are there. */
    settled: (): Promise<void> => work,
    async close(): Promise<void> {
      closing.abort();
      await work;
    },
  };
}
