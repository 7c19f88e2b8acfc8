import type { Statement } from "./statement.ts";

const maxTaken = 8192;
const maxSubjectBytes = 1024;

/** Takes the subjects of statements at even distances, which double whenever there are enough. */
export class SubjectSample {
  #taken: Buffer[] = [];
  #stride = 1;
  #seen = 0;

  take({ bytes, start, subjectEnd }: Statement): void {
    this.#seen += 1;
    if (this.#seen % this.#stride !== 0) return;
    // A longer subject is cut off: it tells where to part as well.
    this.#taken.push(Buffer.from(bytes.subarray(start, Math.min(subjectEnd, start + maxSubjectBytes))));
    if (this.#taken.length < maxTaken) return;
    this.#taken = this.#taken.filter((_, index) => index % 2 === 1);
    this.#stride *= 2;
  }

  sorted(): readonly Buffer[] {
    return this.#taken.toSorted((left, right) => left.compare(right));
  }
}
