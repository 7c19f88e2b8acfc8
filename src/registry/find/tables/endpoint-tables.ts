import { setImmediate } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { sleep, systemClock } from "../../../clock.ts";
import type { Embedder } from "../../../embeddings/embedder.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import { type EndpointModels, hasSameSchema } from "../../model/endpoint-models.ts";
import type { FederationModel } from "../../model/federation-model.ts";
import { type PlacedText, TextVectors } from "./text-vectors.ts";
import { createKnownFederations, type KnownFederations } from "./known-federations.ts";
import { createWordIndex } from "../rank/rank-endpoints.ts";
import { createTexts, type SearchedTexts, updateTexts } from "./texts.ts";
import { createValueIndex, type ValueIndex } from "./value-index.ts";
import { schemaGraph, type SchemaGraph, textsOf, wordsOf } from "./schema-graph.ts";

/** Sources of the tables. */
export interface TableSources {
  readonly models: EndpointModels;
  readonly catalog: Catalog;
  /** Without one, everything is found by words alone. */
  readonly embedder?: Pick<Embedder, "embed"> | undefined;
  /** Called when the embedder failed; it is tried again. */
  readonly onFault?: ((error: unknown) => void) | undefined;
}

/** Classes and properties of the graphs that were looked at last: 5 MB. */
const mostNodes = 20_000;
const waitMs = 100;
const mostWaits = 20;
/** Classes, and as many properties, of an endpoint that get vectors. */
const mostOfKind = 200;
/** Of all endpoints: 20 MB. */
const mostVectors = 50_000;
/** Place of the text on what an endpoint is about; those of its classes and properties are as in its graph. */
export const aboutPlace = -1;

/**
 * Searchable data of each endpoint and federation: texts, words, schema graphs, vectors and values. The one follower of the models
 * in here: texts and values change with them, words and vectors follow in the background, graphs are made when asked for.
 */
export class EndpointTables {
  readonly models: EndpointModels;
  readonly catalog: Catalog;
  readonly texts: SearchedTexts;
  readonly values: ValueIndex;
  readonly federations: KnownFederations;
  readonly words: ReturnType<typeof createWordIndex>;
  readonly vectors: TextVectors | undefined;
  readonly #graphs = new LRUCache<string, SchemaGraph>({
    maxSize: mostNodes,
    sizeCalculation: ({ nodes }) => nodes.length + 1,
  });
  /** Graphs of federations go with their models. */
  readonly #merged = new WeakMap<FederationModel, SchemaGraph>();
  readonly #closing = new AbortController();
  readonly #ignore: () => void;
  /** Endpoints whose words are not those of their model. */
  readonly #pending = new Set<string>();
  #work: Promise<void> | undefined;

  constructor({ models, catalog, embedder, onFault = () => undefined }: TableSources) {
    this.models = models;
    this.catalog = catalog;
    this.texts = createTexts(models);
    this.values = createValueIndex({ embedder, onFault });
    this.federations = createKnownFederations(models, catalog);
    this.words = createWordIndex({ graphOf: (id) => this.graph(id), federations: this.federations });
    this.vectors = embedder && new TextVectors({ embedder, onFault, most: mostVectors });
    this.#ignore = models.follow((id, after, before) => {
      if (after?.values !== before?.values) this.values.set(id, after?.values);
      if (hasSameSchema(after, before)) return;
      updateTexts(this.texts, id, { after, before });
      this.#changed(id);
    });
  }

  /** The words of all endpoints are known. */
  get complete(): boolean {
    return !this.models.isReading && this.#pending.size === 0;
  }

  /** Waits after a start until the words of all endpoints are known, 2 s at most. */
  async soonComplete(signal = this.#closing.signal): Promise<void> {
    for (let waits = 0; !this.complete && waits < mostWaits && !signal.aborted; waits++)
      await sleep(waitMs, { clock: systemClock, signal });
  }

  /** Of an endpoint, or of a federation by its key. */
  graph(id: string): SchemaGraph | undefined {
    const model = this.models.get(id);
    if (model === undefined) return this.#federationGraph(id);
    const graph = this.#graphs.get(id) ?? schemaGraph(model);
    this.#graphs.set(id, graph);
    return graph;
  }

  #federationGraph(key: string): SchemaGraph | undefined {
    const model = this.federations.model(key);
    const graph = model && (this.#merged.get(model) ?? { id: key, nodes: schemaGraph(model).nodes });
    if (model !== undefined && graph !== undefined) this.#merged.set(model, graph);
    return graph;
  }

  /** Resolves when nothing is left to be done. */
  async settled(): Promise<void> {
    while (this.#work !== undefined) await this.#work;
    await Promise.all([this.vectors?.settled(), this.values.settled()]);
  }

  async close(): Promise<void> {
    this.#ignore();
    this.#pending.clear();
    await this.#work;
    await Promise.all([this.vectors?.close(), this.values.close()]);
  }

  #changed(id: string): void {
    this.#graphs.delete(id);
    this.vectors?.set(id, undefined);
    this.#pending.add(id);
    this.#work ??= this.#takeIn().finally(() => {
      this.#work = undefined;
    });
  }

  async #takeIn(): Promise<void> {
    // What changes together is taken in together, and queries have their turn between two endpoints.
    for (await setImmediate(); this.#pending.size > 0; await setImmediate()) {
      const [id = ""] = this.#pending;
      this.#pending.delete(id);
      const model = this.models.get(id);
      const isListed = model?.entry !== undefined;
      this.words.set(id, isListed ? wordsOf(model) : undefined);
      this.vectors?.set(id, isListed ? () => this.#textsOf(id) : undefined);
    }
  }

  #textsOf(id: string): readonly PlacedText[] {
    const model = this.models.get(id);
    const graph = this.graph(id);
    if (model === undefined || graph === undefined) return [];
    // What others published is found by words; its vectors would cost more than they find.
    const { about, nodes } = textsOf(model, model.described === undefined ? { id, nodes: [] } : graph);
    const numbers = { class: 0, property: 0 };
    const chosen = nodes
      .map((text, at) => ({ at, text }))
      .filter(({ at }) => {
        const kind = graph.nodes[at]?.kind;
        return kind !== undefined && numbers[kind]++ < mostOfKind;
      });
    return [{ at: aboutPlace, text: about }, ...chosen];
  }
}
