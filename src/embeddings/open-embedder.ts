import { FedwayError } from "../errors/fedway-error.ts";
import type { JsonClient } from "../outbound/json-client.ts";
import { createEmbedder, type Embedder } from "./embedder.ts";
import { createEmbeddingsApi } from "./embeddings-api.ts";
import { openLocalModel } from "./local-model.ts";

/** Configuration of embeddings. */
export interface EmbeddingsConfig {
  /** Folder of a local model, or base URL of an OpenAI-compatible API; undefined: search is lexical alone. */
  readonly source: string | undefined;
  /** Name of the API's model. */
  readonly model: string | undefined;
  /** Key of the API. */
  readonly key: string | undefined;
}

/**
 * The embedder that the configuration names; undefined when it names none.
 * @throws FedwayError `CONFIG_INVALID` when a local model or its runtime is missing, or the API's model has no name
 */
export function openEmbedder(
  { source, model, key }: EmbeddingsConfig,
  client: Pick<JsonClient, "post">,
): Embedder | undefined {
  if (source === undefined) return undefined;
  if (!/^https?:\/\//i.test(source)) {
    const local = openLocalModel(source);
    return createEmbedder(local.model, local.prefixes);
  }
  if (model === undefined) {
    throw new FedwayError("CONFIG_INVALID", "FEDWAY_EMBEDDINGS names an API, but FEDWAY_EMBEDDINGS_MODEL no model.", {
      next: "Set FEDWAY_EMBEDDINGS_MODEL to a name that the API knows, such as text-embedding-3-small.",
    });
  }
  return createEmbedder(createEmbeddingsApi({ url: source, model, key, client }));
}
