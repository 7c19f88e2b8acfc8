import { FedwayError } from "../errors/fedway-error.ts";
import { createUtf8Reader } from "./decoder.ts";
import { JsonStructure } from "./json-structure.ts";

/** As much is held without a look at what it is. */
const freeBytes = 1024 * 1024;
const bounds = { maxDepth: 128, maxLoad: 4_000_000 };

/** The text of whole byte ranges: they never begin or end inside a character. */
export const jsonText = (parts: readonly Uint8Array[]): string => {
  const reader = createUtf8Reader("JSON");
  return reader.read(parts.length === 1 ? parts[0]! : Buffer.concat(parts)) + reader.end();
};

/**
 * Bytes of JSON that will be parsed together. A long literal is welcome, but a few megabytes of brackets become a
 * gigabyte of objects: what is held beyond 1 MiB is bounded in depth and number of values.
 */
export class HeldJson {
  readonly #opening: string;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #structure: JsonStructure | undefined;

  /** @param opening text that goes before the bytes where they are not a whole document */
  constructor(opening = "") {
    this.#opening = opening;
  }

  get parts(): readonly Uint8Array[] {
    return this.#parts;
  }

  /** Takes a copy. @throws FedwayError `ANSWER_TOO_LARGE` */
  add(bytes: Uint8Array): void {
    this.#parts.push(bytes.slice());
    this.#bytes += bytes.length;
    if (this.#bytes <= freeBytes) return;
    this.#follow(bytes);
    const { fault } = this.#structure!;
    if (fault !== undefined) {
      throw new FedwayError("ANSWER_TOO_LARGE", `The endpoint's JSON answer is not read: ${fault}`, {
        fault: "too-large",
      });
    }
  }

  /** All that was added, which is held no longer. */
  take(): readonly Uint8Array[] {
    const parts = this.#parts;
    this.#parts = [];
    this.#bytes = 0;
    this.#structure = undefined;
    return parts;
  }

  #follow(bytes: Uint8Array): void {
    if (this.#structure !== undefined) {
      this.#structure.push(bytes);
      return;
    }
    this.#structure = new JsonStructure(bounds);
    this.#structure.push(Buffer.from(this.#opening));
    for (const part of this.#parts) this.#structure.push(part);
  }
}
