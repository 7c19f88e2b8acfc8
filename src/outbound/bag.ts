/** What can be kept in a bag; one bag at a time. */
export interface Placed {
  /** Where its bag keeps it, -1 while it is in none; for the bag alone to change. */
  place: number;
}

/**
 * Members without an order, added and taken out in constant time and without garbage.
 */
export class Bag<T extends Placed> {
  readonly #members: T[] = [];

  /** The members of this moment. */
  members(): readonly T[] {
    return [...this.#members];
  }

  add(member: T): void {
    if (member.place >= 0) return;
    member.place = this.#members.length;
    this.#members.push(member);
  }

  delete(member: T): void {
    const { place } = member;
    if (place < 0) return;
    member.place = -1;
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    this.#members[place] = last;
    last.place = place;
  }

  clear(): void {
    for (const member of this.#members) member.place = -1;
    this.#members.length = 0;
  }
}
