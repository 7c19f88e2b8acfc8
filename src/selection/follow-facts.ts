import type { Asker } from "../outbound/whole-answer.ts";
import type { CatalogEntry, EditableCatalog } from "../registry/catalog/catalog.ts";
import type { DescriptionService } from "../registry/void/description-service.ts";
import type { VoidDescription } from "../registry/void/void-description.ts";
import type { Store } from "../store/store.ts";
import type { FactTable } from "./fact-table.ts";
import { createKeyStore, readKeys, triplesOf, withKeys } from "./read-keys.ts";
import { factsOf, type SourceFacts } from "./source-facts.ts";

/** What facts are made of, and kept up to date with. */
export interface FollowedParts {
  readonly catalog: Pick<EditableCatalog, "entries" | "byId" | "document" | "onChange">;
  readonly descriptions: Pick<DescriptionService, "get" | "onChange">;
  /** Tells which stored description of an endpoint is current, without reading it. */
  readonly versionOf: (id: string) => string | undefined;
  /**
   * Own origin, without a trailing slash; milliseconds after which a description proves nothing any more (0: none ever does); triples
   * of the largest endpoint that is read to know its keys (0: none is).
   */
  readonly settings: { readonly publicUrl: string; readonly factsMaxAgeMs: number; readonly readTriples: number };
  readonly store: Store;
  readonly asker: Pick<Asker, "ask">;
  /** Hears of what could not be stored or read; the endpoint has no facts, or no keys, then. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Keeps a table of the facts that stored descriptions prove. A description that changes, or whose entry is written anew, counts
 * for nothing until it has been taken in again; one that is older than its entry never counts: the endpoint may be another one.
 */
export class FactFollower {
  readonly #table: FactTable;
  readonly #parts: FollowedParts;
  readonly #keys: ReturnType<typeof createKeyStore>;
  readonly #reader: ReturnType<typeof createKeyReader>;
  readonly #changedAt: (id: string) => string;
  readonly #ignored: readonly (() => void)[];
  /** What was taken in of each endpoint: the version of its description and of its entry. */
  readonly #taken = new Map<string, string>();
  /** The versions whose facts were found to be wrong. */
  readonly #ended = new Map<string, string>();
  /** Endpoints with facts but without keys. */
  readonly #unread = new Set<string>();
  readonly #pending = new Set<string>();
  #taking: Promise<void> | undefined;
  #isClosed = false;

  constructor(table: FactTable, parts: FollowedParts) {
    const { catalog, descriptions, store } = parts;
    this.#table = table;
    this.#parts = parts;
    this.#keys = createKeyStore(store);
    this.#reader = createKeyReader(parts, this.#keys);
    this.#changedAt = changeTimes(parts);
    this.#ignored = [
      catalog.onChange(() => void this.refresh()),
      descriptions.onChange((id) => void this.#takeAnew([id])),
      this.#keys.watch((change) => void this.#take(change === undefined ? this.#unread : [change.key])),
    ];
  }

  /** Takes in what is new, also of other processes, and forgets what is gone. */
  refresh(): Promise<void> {
    const { catalog, versionOf } = this.#parts;
    const known = new Set(catalog.entries.map(({ id }) => id));
    for (const id of [...this.#taken.keys()].filter((one) => !known.has(one))) {
      this.#taken.delete(id);
      this.#ended.delete(id);
      this.#drop(id);
    }
    const isTaken = (id: string): boolean => this.#taken.get(id) === this.#version(id, versionOf(id));
    return this.#takeAnew([...known].filter((id) => !isTaken(id)));
  }

  /** The endpoint is not what its description says: it proves nothing until it is described again. */
  end(id: string): void {
    this.#ended.set(id, this.#taken.get(id) ?? this.#version(id, this.#parts.versionOf(id)));
    this.#drop(id);
  }

  /** Forgets what was read of an endpoint. @throws FedwayError `STORE_FAILED` */
  async remove(id: string): Promise<void> {
    await this.#keys.delete(id);
  }

  /** From now on, reads small endpoints in the background, one after the other. */
  startReading(): void {
    this.#reader.start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const ignore of this.#ignored) ignore();
    await this.#reader.close();
  }

  #drop(id: string): void {
    this.#unread.delete(id);
    this.#reader.drop(id);
    this.#table.set(id, undefined);
  }

  /** Of an endpoint's description together with its entry. */
  #version(id: string, described: string | undefined): string {
    return `${described ?? ""} ${this.#changedAt(id)}`;
  }

  #takeAnew(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#table.set(id, undefined);
    return this.#take(ids);
  }

  #take(ids: Iterable<string>): Promise<void> {
    for (const id of ids) this.#pending.add(id);
    // With nothing pending it would end before it is noted as under way, and be noted for ever.
    if (this.#pending.size > 0) this.#taking ??= this.#takePending();
    return this.#taking ?? Promise.resolve();
  }

  async #takePending(): Promise<void> {
    for (const id of this.#pending) {
      this.#pending.delete(id);
      if (!this.#isClosed) await this.#takeOne(id).catch(this.#parts.onFault);
    }
    this.#taking = undefined;
  }

  async #takeOne(id: string): Promise<void> {
    const { descriptions } = this.#parts;
    const [description, known] = [await descriptions.get(id), await this.#keys.get(id)];
    // It has changed again.
    if (this.#pending.has(id) || this.#isClosed) return;
    const version = description?.finishedAt ?? "";
    this.#taken.set(id, this.#version(id, version));
    this.#unread.delete(id);
    const facts = description && this.#certain(id, description);
    if (facts === undefined || known?.describedAt !== version || known.url !== facts.url) {
      this.#table.set(id, facts);
      if (facts === undefined) return;
      this.#unread.add(id);
      this.#reader.add(id, { version, facts });
    } else {
      this.#table.set(id, withKeys(facts, known));
    }
  }

  #certain(id: string, description: VoidDescription): SourceFacts | undefined {
    const { catalog, settings } = this.#parts;
    if (this.#ended.get(id) === this.#version(id, description.finishedAt)) return undefined;
    const facts = factsOf(description, settings.factsMaxAgeMs);
    if (facts === undefined || facts.seenAt < (Date.parse(this.#changedAt(id)) || 0)) return undefined;
    return { ...facts, partition: partitionOf(catalog.byId(id), settings.publicUrl) };
  }
}

/** When an entry was changed last, ISO 8601; "" for one of a file. Documents are parsed each time that they are asked for. */
function changeTimes({ catalog }: FollowedParts): (id: string) => string {
  const known = new WeakMap<CatalogEntry, string>();
  return (id) => {
    const entry = catalog.byId(id);
    if (entry === undefined) return "";
    const at = known.get(entry) ?? catalog.document("endpoint", id)?.changedAt ?? "";
    known.set(entry, at);
    return at;
  };
}

/** What an entry says of its partition counts for what this service hosts itself. */
function partitionOf(entry: CatalogEntry | undefined, publicUrl: string): string | undefined {
  const { url = "", subjectPartition } = entry ?? {};
  const folder = subjectPartition?.replace(/#.*$/u, "");
  const isOwn = folder !== undefined && folder.startsWith(`${publicUrl}/shards/`) && url.startsWith(folder);
  return isOwn ? subjectPartition : undefined;
}

interface Wanted {
  /** Of the description that the facts are from. */
  readonly version: string;
  readonly facts: SourceFacts;
}

/** Reads endpoints one after the other, once started, and stores what that showed. */
function createKeyReader(
  { catalog, asker, settings, onFault }: FollowedParts,
  keys: ReturnType<typeof createKeyStore>,
) {
  const wanted = new Map<string, Wanted>();
  /** The descriptions that endpoints were read for: what comes of it, and whether it can be stored, is the same each time. */
  const tried = new Map<string, string>();
  const ending = new AbortController();
  let isStarted = false;
  let reading: Promise<void> | undefined;
  const readOne = async (id: string, { version, facts }: Wanted): Promise<void> => {
    const entry = catalog.byId(id);
    if (entry === undefined || entry.url !== facts.url) return;
    tried.set(id, version);
    // An endpoint that cannot be read now is read with its next description, or after the next start.
    const found = await readKeys(entry, facts, { asker, signal: ending.signal }).catch(() => undefined);
    if (found === undefined || ending.signal.aborted) return;
    await keys.put(id, { describedAt: version, url: facts.url, found });
  };
  const readWanted = async (): Promise<void> => {
    for (const [id, one] of wanted) {
      wanted.delete(id);
      if (!ending.signal.aborted) await readOne(id, one).catch(onFault);
    }
    reading = undefined;
  };
  const begin = (): void => {
    if (isStarted && wanted.size > 0) reading ??= readWanted();
  };
  return {
    add(id: string, one: Wanted): void {
      const triples = triplesOf(one.facts);
      if (triples === undefined || triples > settings.readTriples || tried.get(id) === one.version) return;
      wanted.set(id, one);
      begin();
    },
    drop(id: string): void {
      wanted.delete(id);
      tried.delete(id);
    },
    start(): void {
      isStarted = true;
      begin();
    },
    async close(): Promise<void> {
      ending.abort();
      await reading;
    },
  };
}
