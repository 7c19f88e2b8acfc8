import type * as RDF from "@rdfjs/types";
import type { TermSpace } from "../../plan/source-selection.ts";

/** The terms that a member can have in one place. */
export interface MemberSpace {
  /** Index of the member. */
  readonly member: number;
  readonly space: TermSpace;
}

/** True if a term can be in a space. */
export function admits({ prefixes, noLiterals, noBlankNodes }: TermSpace, term: RDF.Term): boolean {
  if (term.termType === "Literal") return noLiterals === undefined;
  if (term.termType === "BlankNode") return noBlankNodes === undefined;
  return term.termType !== "NamedNode" || !prefixes || prefixes.some((prefix) => term.value.startsWith(prefix));
}

/**
 * True if no term can be in a space of the left side and in one of the right side, other than at one and the same member. Blank
 * nodes of different members always differ.
 */
export function areApart(left: readonly MemberSpace[], right: readonly MemberSpace[]): boolean {
  const isLiteral = ({ space }: MemberSpace): boolean => space.noLiterals === undefined;
  const [leftLiterals, rightLiterals] = [left.filter(isLiteral), right.filter(isLiteral)];
  if (leftLiterals.some((one) => rightLiterals.some((other) => one.member !== other.member))) return false;
  const entries = [...prefixesOf(left, "left"), ...prefixesOf(right, "right")];
  entries.sort((one, other) => (one.prefix < other.prefix ? -1 : Number(one.prefix > other.prefix)));
  // Prefixes of the one at hand: sorted, each comes before those that it begins.
  const around: PrefixEntry[] = [];
  for (const entry of entries) {
    while (around.length > 0 && !entry.prefix.startsWith(around.at(-1)?.prefix ?? "")) around.pop();
    if (around.some(({ side, member }) => side !== entry.side && member !== entry.member)) return false;
    around.push(entry);
  }
  return true;
}

interface PrefixEntry {
  readonly prefix: string;
  readonly member: number;
  readonly side: "left" | "right";
}

/** Any IRI begins with the empty prefix. */
const prefixesOf = (spaces: readonly MemberSpace[], side: PrefixEntry["side"]): PrefixEntry[] =>
  spaces.flatMap(({ member, space }) => (space.prefixes ?? [""]).map((prefix) => ({ prefix, member, side })));

/** Finds the members that can have a term in one place, without a look at the others. */
export class TermRoutes {
  readonly #byPrefix = new Map<string, number[]>();
  readonly #lengths: readonly number[];
  readonly #literals: readonly number[];
  readonly #blankNodes: readonly number[];

  constructor(spaces: readonly MemberSpace[]) {
    for (const { prefix, member } of prefixesOf(spaces, "left")) {
      const members = this.#byPrefix.get(prefix);
      if (members) members.push(member);
      else this.#byPrefix.set(prefix, [member]);
    }
    this.#lengths = [...new Set([...this.#byPrefix.keys()].map(({ length }) => length))];
    this.#literals = spaces.flatMap(({ member, space }) => (space.noLiterals ? [] : member));
    this.#blankNodes = spaces.flatMap(({ member, space }) => (space.noBlankNodes ? [] : member));
  }

  membersFor(term: RDF.Term): readonly number[] {
    if (term.termType === "Literal") return this.#literals;
    if (term.termType === "BlankNode") return this.#blankNodes;
    const found = this.#lengths.flatMap((length) => this.#byPrefix.get(term.value.slice(0, length)) ?? []);
    return this.#lengths.length > 1 ? [...new Set(found)] : found;
  }
}
