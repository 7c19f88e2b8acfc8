import { setImmediate } from "node:timers/promises";
import { sleep, systemClock } from "../../clock.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { SearchIndex } from "../search/search-index.ts";
import type { VoidDescription } from "../void/void-description.ts";
import { createWordIndex } from "./rank-endpoints.ts";
import { schemaGraph, type SchemaGraph } from "./schema-graph.ts";
import { createTermVectors, type EmbedTexts, type Nearness, type TermVectors } from "./term-vectors.ts";

/** What graphs are made of. */
export interface GraphSources {
  readonly search: Pick<SearchIndex, "descriptionVersion" | "version">;
  readonly catalog: Pick<Catalog, "entries" | "byId" | "version">;
  readonly descriptions: { get(id: string): Promise<VoidDescription | undefined> };
  /** Makes vectors of passages; without it there are none. */
  readonly embed?: EmbedTexts | undefined;
  /** Called when a description could not be read or a model failed; both are tried again. */
  readonly onFault: (error: unknown) => void;
}

/** Classes and properties of all endpoints together: 80 MB. */
const mostNodes = 200_000;
const retryMs = 60_000;

interface Known {
  readonly graph: SchemaGraph;
  /** Of the entry and of the description that it was made of. */
  readonly entry: object;
  readonly version: string | undefined;
}

/**
 * Graphs and vectors of all endpoints, brought up to date one endpoint at a time in the background; the first round starts at
 * once.
 */
export class KnownGraphs {
  readonly words = createWordIndex();
  readonly #sources: GraphSources;
  readonly #known = new Map<string, Known>();
  readonly #vectors: TermVectors | undefined;
  readonly #closing = new AbortController();
  /** Versions of catalogue and descriptions that the last round was for. */
  #seen = "";
  #complete = false;
  /** Of all graphs. */
  #nodes = 0;
  #work: Promise<void> | undefined;

  constructor(sources: GraphSources) {
    this.#sources = sources;
    this.#vectors = sources.embed && createTermVectors(sources.embed);
    this.follow();
  }

  /** All endpoints were read at least once. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Cosines with what endpoints are about, by id. */
  about(question: Float32Array): ReadonlyMap<string, number> {
    return this.#vectors?.about(question) ?? new Map();
  }

  graph(id: string): SchemaGraph | undefined {
    return this.#known.get(id)?.graph;
  }

  /** Cosines of an endpoint with a question's vector; undefined where there are no vectors. */
  nearness(id: string, question: Float32Array): Nearness | undefined {
    const graph = this.graph(id);
    return graph && this.#vectors?.nearness(graph, question);
  }

  /** Goes to work when something has changed; never waits for it. */
  follow(): void {
    if (this.#work !== undefined || this.#seen === this.#versions() || this.#closing.signal.aborted) return;
    this.#work = this.#run().finally(() => {
      this.#work = undefined;
    });
  }

  /** Resolves when nothing is left to be done. */
  async settled(): Promise<void> {
    this.follow();
    await this.#work;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#work;
  }

  #versions(): string {
    return `${this.#sources.catalog.version} ${this.#sources.search.version}`;
  }

  /** Rounds until nothing has changed meanwhile. */
  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted && this.#seen !== this.#versions()) {
      this.#seen = this.#versions();
      try {
        await this.#readAll();
        await this.#embedMissing();
      } catch (error) {
        if (signal.aborted) return;
        this.#seen = "";
        this.#sources.onFault(error);
        await sleep(retryMs, { clock: systemClock, signal });
      }
    }
  }

  async #readAll(): Promise<void> {
    const { catalog } = this.#sources;
    for (const id of this.#known.keys()) if (catalog.byId(id) === undefined) this.#remove(id);
    for (const { id } of catalog.entries) {
      if (this.#closing.signal.aborted) return;
      if (this.#isCurrent(id)) continue;
      await this.#read(id);
      // Queries have their turn between two endpoints.
      await setImmediate();
    }
    this.#complete = true;
  }

  #forget(id: string): void {
    this.#nodes -= this.#known.get(id)?.graph.nodes.length ?? 0;
    this.#known.delete(id);
  }

  #remove(id: string): void {
    this.#forget(id);
    this.words.remove(id);
    this.#vectors?.remove(id);
  }

  #isCurrent(id: string): boolean {
    const { catalog, search } = this.#sources;
    const known = this.#known.get(id);
    return known !== undefined && known.entry === catalog.byId(id) && known.version === search.descriptionVersion(id);
  }

  async #read(id: string): Promise<void> {
    const { catalog, search, descriptions } = this.#sources;
    const version = search.descriptionVersion(id);
    const description = version === undefined ? undefined : await descriptions.get(id);
    const entry = catalog.byId(id);
    if (entry === undefined) return;
    this.#forget(id);
    const graph = schemaGraph(entry, this.#nodes < mostNodes ? description : undefined);
    this.#nodes += graph.nodes.length;
    this.#known.set(id, { graph, entry, version });
    this.words.set(graph);
  }

  async #embedMissing(): Promise<void> {
    for (const { graph } of this.#known.values()) {
      if (this.#closing.signal.aborted || this.#seen !== this.#versions()) return;
      if (this.#vectors?.has(graph) === false) await this.#vectors.set(graph, this.#closing.signal);
    }
  }
}
