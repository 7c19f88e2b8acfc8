import type { CatalogEntry, EditableCatalog } from "../registry/catalog.ts";
import type { EndpointModel, EndpointModels } from "../registry/model.ts";
import type { Store } from "../store/store.ts";
import type { FactTable } from "./fact-table.ts";
import { createKeyStore, withKeys } from "./endpoint-keys.ts";
import { factsOf, type SourceFacts } from "./source-facts.ts";

/** Sources that facts are made and updated from. */
export interface FollowedParts {
  readonly models: Pick<EndpointModels, "get" | "described" | "follow">;
  /** Provides the time of an entry's last change. */
  readonly catalog: Pick<EditableCatalog, "authorship">;
  /** Own origin, without a trailing slash; milliseconds after which a description proves nothing any more (0: none ever does). */
  readonly settings: { readonly publicUrl: string; readonly factsMaxAgeMs: number };
  readonly store: Store;
  /** Called for errors of storing or reading; the endpoint then has no keys. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Keeps a table of the facts that descriptions prove, as a view of the models. A description that is older than its entry proves
 * nothing: the endpoint may be another one.
 */
export class FactFollower {
  readonly #table: FactTable;
  readonly #parts: FollowedParts;
  readonly #keys: ReturnType<typeof createKeyStore>;
  readonly #ignored: readonly (() => void)[];
  /** The versions of descriptions whose facts were found to be wrong. */
  readonly #ended = new Map<string, string>();
  /** Endpoints with facts but without keys. */
  readonly #unread = new Set<string>();
  readonly #pending = new Set<string>();
  #taking: Promise<void> | undefined;
  #isClosed = false;

  constructor(table: FactTable, parts: FollowedParts) {
    this.#table = table;
    this.#parts = parts;
    this.#keys = createKeyStore(parts.store);
    this.#ignored = [
      parts.models.follow((id, after, before) => this.#changed(id, after, before)),
      this.#keys.watch((change) => this.#lookUp(change === undefined ? this.#unread : [change.key])),
    ];
  }

  /** Resolves when the keys of all endpoints were looked up. */
  async settled(): Promise<void> {
    await this.#taking;
  }

  /** The endpoint is not what its description says: it proves nothing until it is described again. */
  end(id: string): void {
    this.#ended.set(id, this.#version(this.#parts.models.get(id)));
    this.#drop(id);
  }

  /** Forgets the triples read from an endpoint. @throws FedwayError `STORE_FAILED` */
  async remove(id: string): Promise<void> {
    await this.#keys.delete(id);
  }

  close(): void {
    this.#isClosed = true;
    for (const ignore of this.#ignored) ignore();
  }

  #changed(id: string, after: EndpointModel | undefined, before: EndpointModel | undefined): void {
    if (after?.described === before?.described && after?.entry === before?.entry) return;
    this.#drop(id);
    if (after === undefined) this.#ended.delete(id);
    const facts = this.#certain(after);
    if (facts === undefined) return;
    this.#table.set(id, facts);
    this.#lookUp([id]);
  }

  #drop(id: string): void {
    this.#unread.delete(id);
    this.#table.set(id, undefined);
  }

  /** When an entry was changed last, ISO 8601; "" for one of a file. */
  #changedAt(id: string): string {
    return this.#parts.catalog.authorship("endpoint", id)?.changedAt ?? "";
  }

  /** Of an endpoint's description together with its entry. */
  #version(model: EndpointModel | undefined): string {
    return model === undefined ? "" : `${model.described?.finishedAt ?? ""} ${this.#changedAt(model.id)}`;
  }

  #certain(model: EndpointModel | undefined): SourceFacts | undefined {
    const { settings } = this.#parts;
    const facts = factsOf(model?.described, settings.factsMaxAgeMs);
    if (model === undefined || facts === undefined) return undefined;
    const ended = this.#ended.get(model.id);
    if (ended !== undefined && ended === this.#version(model)) return undefined;
    if (facts.seenAt < (Date.parse(this.#changedAt(model.id)) || 0)) return undefined;
    return { ...facts, partition: partitionOf(model.entry, settings.publicUrl) };
  }

  #lookUp(ids: Iterable<string>): void {
    for (const id of ids) this.#pending.add(id);
    // With nothing pending it would end before it is noted as under way, and be noted for ever.
    if (this.#pending.size > 0) this.#taking ??= this.#lookUpPending();
  }

  async #lookUpPending(): Promise<void> {
    for (const id of this.#pending) {
      this.#pending.delete(id);
      if (!this.#isClosed) await this.#lookUpOne(id).catch(this.#parts.onFault);
    }
    this.#taking = undefined;
  }

  async #lookUpOne(id: string): Promise<void> {
    const known = await this.#keys.get(id);
    // It has changed again.
    if (this.#pending.has(id) || this.#isClosed) return;
    const model = this.#parts.models.get(id);
    const version = model?.described?.finishedAt ?? "";
    const facts = this.#certain(model);
    this.#unread.delete(id);
    if (facts === undefined) return;
    if (known?.describedAt === version && known.url === facts.url) {
      this.#table.set(id, withKeys(facts, known));
      return;
    }
    this.#unread.add(id);
  }
}

/** Partition of an entry; it counts only for endpoints hosted by this service. */
function partitionOf(entry: CatalogEntry | undefined, publicUrl: string): string | undefined {
  const { url = "", subjectPartition } = entry ?? {};
  const folder = subjectPartition?.replace(/#.*/su, "");
  const isOwn = folder !== undefined && folder.startsWith(`${publicUrl}/shards/`) && url.startsWith(folder);
  return isOwn ? subjectPartition : undefined;
}
