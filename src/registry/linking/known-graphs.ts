import { setImmediate } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { sleep, systemClock } from "../../clock.ts";
import { type EndpointModels, hasSameSchema } from "../model/endpoint-models.ts";
import { createWordIndex } from "./rank-endpoints.ts";
import { schemaGraph, type SchemaGraph, wordsOf } from "./schema-graph.ts";
import { createTermVectors, type EmbedTexts, type Nearness, type TermVectors } from "./term-vectors.ts";

/** What graphs are made of. */
export interface GraphSources {
  readonly models: EndpointModels;
  /** Makes vectors of passages; without it there are none. */
  readonly embed?: EmbedTexts | undefined;
  /** Called when a model of meaning failed; it is tried again. */
  readonly onFault: (error: unknown) => void;
}

/** Classes and properties of the graphs that were looked at last: 5 MB. */
const mostNodes = 20_000;
const retryMs = 60_000;

/** Graphs and vectors of all endpoints: words and vectors follow the models in the background, graphs are made when asked for. */
export class KnownGraphs {
  readonly words = createWordIndex((id) => this.graph(id));
  readonly #models: EndpointModels;
  readonly #onFault: GraphSources["onFault"];
  readonly #graphs = new LRUCache<string, SchemaGraph>({
    maxSize: mostNodes,
    sizeCalculation: ({ nodes }) => nodes.length + 1,
  });
  readonly #vectors: TermVectors | undefined;
  readonly #closing = new AbortController();
  readonly #ignore: () => void;
  /** Endpoints whose words, and whose vectors, are not those of their model. */
  readonly #pending = new Set<string>();
  readonly #toEmbed = new Set<string>();
  #work: Promise<void> | undefined;

  constructor({ models, embed, onFault }: GraphSources) {
    this.#models = models;
    this.#onFault = onFault;
    this.#vectors = embed && createTermVectors(embed);
    this.#ignore = models.follow({
      changed: (after, before) => {
        if (!hasSameSchema(after, before)) this.#changed((after ?? before)?.id ?? "");
      },
    });
  }

  /** The words of all endpoints are known. */
  get complete(): boolean {
    return !this.#models.isReading && this.#pending.size === 0;
  }

  /** Cosines with what endpoints are about, by id. */
  about(question: Float32Array): ReadonlyMap<string, number> {
    return this.#vectors?.about(question) ?? new Map();
  }

  graph(id: string): SchemaGraph | undefined {
    const model = this.#models.get(id);
    const graph = this.#graphs.get(id) ?? (model && schemaGraph(model));
    if (graph !== undefined) this.#graphs.set(id, graph);
    return graph;
  }

  /** Cosines of an endpoint with a question's vector; undefined where there are no vectors. */
  nearness(id: string, question: Float32Array): Nearness | undefined {
    return this.#vectors?.nearness(id, question);
  }

  /** Resolves when nothing is left to be done. */
  async settled(): Promise<void> {
    while (this.#work !== undefined) await this.#work;
  }

  async close(): Promise<void> {
    this.#ignore();
    this.#closing.abort();
    await this.#work;
  }

  #changed(id: string): void {
    this.#graphs.delete(id);
    this.#vectors?.remove(id);
    this.#pending.add(id);
    this.#work ??= this.#run().finally(() => {
      this.#work = undefined;
    });
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    // What changes together is taken in together.
    await setImmediate();
    while (!signal.aborted && this.#pending.size + this.#toEmbed.size > 0) {
      await this.#takeIn();
      try {
        await this.#embed();
      } catch (error) {
        if (signal.aborted) return;
        this.#onFault(error);
        await sleep(retryMs, { clock: systemClock, signal });
      }
    }
  }

  async #takeIn(): Promise<void> {
    for (const id of this.#pending) {
      if (this.#closing.signal.aborted) return;
      this.#pending.delete(id);
      const model = this.#models.get(id);
      this.words.set(id, model?.entry && wordsOf(model, schemaGraph(model)));
      if (this.#vectors !== undefined) this.#toEmbed.add(id);
      // Queries have their turn between two endpoints.
      await setImmediate();
    }
  }

  async #embed(): Promise<void> {
    for (const id of this.#toEmbed) {
      // Words come first.
      if (this.#closing.signal.aborted || this.#pending.size > 0) return;
      const model = this.#models.get(id);
      if (model?.entry !== undefined) await this.#vectors?.set(model, this.#closing.signal);
      this.#toEmbed.delete(id);
    }
  }
}
