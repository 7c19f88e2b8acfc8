import { FedwayError } from "../../errors/fedway-error.ts";
import { compareText } from "../../rdf/canonical.ts";

/** Of all sets together; only data that is made to be difficult comes near. */
const maxMembers = 20_000_000;

/** Sets of classes by number; 0 is the empty one. */
export class ClassSets {
  /** Of each set: its classes by number, sorted. */
  readonly #members: (readonly number[])[] = [[]];
  readonly #byMembers = new Map<string, number>([["", 0]]);
  /** By set and class: the set with that class too. */
  readonly #withClass: Map<number, number>[] = [new Map()];
  #memberCount = 0;

  get size(): number {
    return this.#members.length;
  }

  /** The set that has this class too. */
  with(set: number, classNumber: number): number {
    const next = this.#withClass[set]!;
    let found = next.get(classNumber);
    if (found === undefined) {
      found = this.#numberOf(set, classNumber);
      next.set(classNumber, found);
    }
    return found;
  }

  #numberOf(set: number, classNumber: number): number {
    const members = this.#members[set]!;
    if (members.includes(classNumber)) return set;
    const larger = [...members, classNumber].toSorted((left, right) => left - right);
    const key = larger.join(" ");
    const known = this.#byMembers.get(key);
    if (known !== undefined) return known;
    this.#memberCount += larger.length;
    if (this.#memberCount > maxMembers) {
      throw new FedwayError("DATASET_INVALID", "The subjects have too many different combinations of classes.");
    }
    this.#byMembers.set(key, this.#members.length);
    this.#withClass.push(new Map());
    return this.#members.push(larger) - 1;
  }

  /** Of each set the IRIs of its classes, sorted. */
  named(iriOf: (classNumber: number) => string): readonly (readonly string[])[] {
    return this.#members.map((members) => members.map(iriOf).toSorted(compareText));
  }
}
