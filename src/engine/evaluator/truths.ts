import { type HeldBytes, type Holding, keyBytes } from "../held-bytes.ts";

// Forgotten keys are asked again.
const MOST_BYTES = 4 * 1024 * 1024;

/** Answers of EXISTS patterns by pattern and key, as far as one execution has asked; the oldest are dropped first. */
export class Truths {
  readonly #holding: Holding;
  readonly #kept = new Map<string, Promise<boolean>>();
  #bytes = 0;

  constructor(held: HeldBytes) {
    this.#holding = held.open();
  }

  get(key: string): Promise<boolean> | undefined {
    return this.#kept.get(key);
  }

  set(key: string, truth: Promise<boolean>): void {
    if (!this.#kept.has(key)) this.#add(keyBytes(key));
    this.#kept.set(key, truth);
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= MOST_BYTES) break;
      this.#kept.delete(oldest);
      this.#add(-keyBytes(oldest));
    }
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    this.#holding.add(bytes);
  }
}
