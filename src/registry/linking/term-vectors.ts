import type { EndpointModel } from "../model/endpoint-models.ts";
import { schemaGraph, textsOf } from "./schema-graph.ts";
import { cosine, type SmallVector, smallVector } from "./small-vector.ts";

/** Makes vectors of length 1, in the order of the texts. */
export type EmbedTexts = (texts: readonly string[], signal: AbortSignal) => Promise<readonly Float32Array[]>;

/** Vectors of one endpoint: of what it is about, and of its classes and properties by their places. */
interface EndpointVectors {
  /** Terms with vectors or without. */
  readonly terms: number;
  readonly about: SmallVector;
  readonly nodes: ReadonlyMap<number, SmallVector>;
}

/** Cosines of one endpoint with a question. */
export interface Nearness {
  readonly about: number;
  /** By place in the graph; NaN where there is no vector. */
  readonly nodes: readonly number[];
}

/** Classes, and as many properties, of an endpoint that get vectors. */
const mostOfKind = 200;
/** Of all endpoints: 20 MB of 384 numbers each. */
const mostVectors = 50_000;
const batchSize = 64;

/** Vectors of many endpoints. */
export type TermVectors = ReturnType<typeof createTermVectors>;

/** Vectors of the schemas of many endpoints, made one endpoint at a time, in a bounded memory. */
export function createTermVectors(embed: EmbedTexts) {
  const byEndpoint = new Map<string, EndpointVectors>();
  let used = 0;
  const forget = (id: string): void => {
    used -= sizeOf(byEndpoint.get(id));
    byEndpoint.delete(id);
  };

  async function embedAll(texts: readonly string[], signal: AbortSignal): Promise<readonly SmallVector[]> {
    const vectors: SmallVector[] = [];
    for (let start = 0; start < texts.length; start += batchSize) {
      const made = await embed(texts.slice(start, start + batchSize), signal);
      vectors.push(...made.map(smallVector));
    }
    return vectors;
  }

  return {
    remove: forget,
    /** Makes the vectors of an endpoint in place of those before, as far as there is room. @throws what `embed` throws */
    async set(model: EndpointModel, signal: AbortSignal): Promise<void> {
      const graph = schemaGraph(model);
      // What others published is found by words; its vectors would cost more than they find.
      const embedded = model.described === undefined ? { id: graph.id, nodes: [] } : graph;
      forget(graph.id);
      const room = mostVectors - used - 1;
      if (room < 0) return;
      const numbers = { class: 0, property: 0 };
      const places = embedded.nodes.flatMap(({ kind }, at) => (numbers[kind]++ < mostOfKind ? at : [])).slice(0, room);
      const texts = textsOf(model, embedded);
      const wanted = [texts.about, ...places.map((at) => texts.nodes[at] ?? "")];
      const [about, ...nodes] = await embedAll(wanted, signal);
      if (about === undefined) return;
      const byPlace = new Map(nodes.flatMap((vector, at) => (places[at] === undefined ? [] : [[places[at], vector]])));
      byEndpoint.set(graph.id, { terms: graph.nodes.length, about, nodes: byPlace });
      used += sizeOf(byEndpoint.get(graph.id));
    },
    /** Cosines of what endpoints are about, by id. */
    about: (question: Float32Array): ReadonlyMap<string, number> =>
      new Map([...byEndpoint].map(([id, { about }]) => [id, cosine(about, question)])),
    /** Undefined for an endpoint without vectors. */
    nearness(id: string, question: Float32Array): Nearness | undefined {
      const vectors = byEndpoint.get(id);
      if (vectors === undefined) return undefined;
      const nodes = Array.from({ length: vectors.terms }, (_, at) => cosine(vectors.nodes.get(at), question));
      return { about: cosine(vectors.about, question), nodes };
    },
  };
}

const sizeOf = (vectors: EndpointVectors | undefined): number => (vectors === undefined ? 0 : 1 + vectors.nodes.size);
