import { itemAt } from "../../values.ts";

/** Texts that many models share, each kept once, by number. 0 stands for no text; numbers that are released are used again. */
export class TextPool {
  readonly #texts: string[] = [""];
  readonly #uses: number[] = [1];
  readonly #numbers = new Map<string, number>();
  readonly #free: number[] = [];

  /** The number of a text, with one more use. */
  take(text: string | undefined): number {
    if (text === undefined || text === "") return 0;
    const known = this.#numbers.get(text);
    const number = known ?? this.#free.pop() ?? this.#texts.length;
    this.#uses[number] = known === undefined ? 1 : itemAt(this.#uses, known) + 1;
    if (known === undefined) {
      this.#texts[number] = text;
      this.#numbers.set(text, number);
    }
    return number;
  }

  /** Gives back one use of each of these, whatever their signs. */
  release(numbers: Iterable<number>): void {
    for (const signed of numbers) {
      const number = Math.abs(signed);
      const left = (this.#uses[number] ?? 0) - 1;
      if (number === 0 || left < 0) continue;
      this.#uses[number] = left;
      if (left > 0) continue;
      this.#numbers.delete(itemAt(this.#texts, number));
      this.#texts[number] = "";
      this.#free.push(number);
    }
  }

  /** The number of a text that is in use; 0 for any other. */
  find(text: string): number {
    return this.#numbers.get(text) ?? 0;
  }

  text(number: number | undefined): string {
    return this.#texts[number ?? 0] ?? "";
  }

  /** Texts in use. */
  get size(): number {
    return this.#numbers.size;
  }
}
