import { closeSync, ftruncateSync, openSync } from "node:fs";
import { join } from "node:path";
import type { WrittenShard } from "./build-state.ts";
import { writeAll } from "./record-writer.ts";
import type { LineSink } from "./sort-part.ts";

/** Files held open at a time. */
const maxOpen = 128;

/** The shards' files while lines are added to their ends. */
export class ShardFiles implements LineSink {
  readonly #folder: string;
  readonly #ending: string;
  readonly #shards: { key: string; id: string; bytes: number; triples: number }[];
  /** Descriptors by shard, the one used longest ago first. */
  readonly #open = new Map<number, number>();

  /** Cuts off what a build that was killed wrote behind its last state. */
  constructor(folder: string, ending: string, shards: readonly WrittenShard[]) {
    this.#folder = folder;
    this.#ending = ending;
    this.#shards = shards.map((shard) => ({ ...shard }));
    this.#shards.forEach(({ bytes }, shard) => ftruncateSync(this.#descriptor(shard), bytes));
  }

  get written(): readonly WrittenShard[] {
    return this.#shards.map((shard) => ({ ...shard }));
  }

  append(shard: number, bytes: Uint8Array, triples: number): void {
    writeAll(this.#descriptor(shard), bytes);
    const written = this.#shards[shard]!;
    written.bytes += bytes.length;
    written.triples += triples;
  }

  close(): void {
    for (const descriptor of this.#open.values()) closeSync(descriptor);
    this.#open.clear();
  }

  #descriptor(shard: number): number {
    const known = this.#open.get(shard);
    if (known !== undefined) {
      this.#open.delete(shard);
      this.#open.set(shard, known);
      return known;
    }
    const [oldest] = this.#open;
    if (oldest !== undefined && this.#open.size >= maxOpen) {
      closeSync(oldest[1]);
      this.#open.delete(oldest[0]);
    }
    const descriptor = openSync(join(this.#folder, `${this.#shards[shard]!.id}${this.#ending}`), "a");
    this.#open.set(shard, descriptor);
    return descriptor;
  }
}
