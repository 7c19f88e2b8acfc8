import type * as RDF from "@rdfjs/types";
import { type Holding, keyBytes } from "../held-bytes.ts";
import type { KeyBlock } from "../clause-query.ts";
import type { PatternUnit } from "./pattern-units.ts";

/** Fewer members are asked for their solutions at once. */
const FEWEST_MEMBERS = 8;

/** Asks members, by index, which of the nodes are in their default graphs. */
export type AskNodes = (
  among: readonly RDF.Term[],
  members: readonly number[],
  found: (node: RDF.Term, member: number) => void,
) => Promise<void>;

/** Members that were asked for a node, and those of them that have it. */
interface Home {
  readonly asked: ReadonlySet<number>;
  readonly at: Set<number>;
}

/**
 * Where the subjects of one execution are, among members of which nothing is known: each pattern of a star would send its keys to
 * all of them. They are asked once which keys they have at all where that takes fewer requests than it saves: where few
 * members gave the keys, and the star has more patterns.
 */
export class SubjectHomes {
  readonly #ask: AskNodes;
  readonly #holding: Holding;
  readonly #homes = new Map<string, Home>();
  /** By star and unit: the members that gave solutions. */
  readonly #givers = new Map<object, Map<PatternUnit, Set<number>>>();

  constructor(ask: AskNodes, holding: Holding) {
    this.#ask = ask;
    this.#holding = holding;
  }

  /** A member gave solutions of a unit. */
  gave(unit: PatternUnit, member: number): void {
    if (!unit.star || !unit.overlaps) return;
    const units = this.#givers.get(unit.star) ?? new Map<PatternUnit, Set<number>>();
    this.#givers.set(unit.star, units);
    units.set(unit, (units.get(unit) ?? new Set()).add(member));
  }

  /** The blocks of keys, by member, without those whose subject the member does not have. */
  async narrowed(
    unit: PatternUnit,
    blocks: ReadonlyMap<number, KeyBlock>,
    canAsk: (member: number) => boolean,
  ): Promise<ReadonlyMap<number, KeyBlock>> {
    const column = [...blocks.values()][0]?.variables.indexOf(unit.star?.subject ?? "") ?? -1;
    if (column < 0) return blocks;
    const members = [...blocks.keys()].filter(canAsk);
    if (this.#isWorthIt(unit, members.length)) await this.#lookFor(subjectsIn(blocks, column), members);
    const left = new Map<number, KeyBlock>();
    for (const [member, block] of blocks) {
      const rows = block.rows.filter((row) => this.#mayHave(member, row[column]));
      if (rows.length > 0) left.set(member, { ...block, rows });
    }
    return left;
  }

  /** A request to each member saves one for each further pattern at those that do not have the keys. */
  #isWorthIt({ star, overlaps }: PatternUnit, members: number): boolean {
    if (!star || !overlaps || members < FEWEST_MEMBERS) return false;
    const units = this.#givers.get(star) ?? new Map<PatternUnit, ReadonlySet<number>>();
    const fewest = Math.min(members, ...[...units.values()].map(({ size }) => size));
    return (members - fewest) * (star.units - units.size) > members;
  }

  async #lookFor(subjects: ReadonlyMap<string, RDF.Term>, members: readonly number[]): Promise<void> {
    const asked = new Set(members);
    const open = [...subjects.values()].filter(({ value }) => !this.#homes.has(value));
    const found = new Map(open.map(({ value }) => [value, { asked, at: new Set<number>() }]));
    if (open.length > 0) await this.#ask(open, members, ({ value }, member) => found.get(value)?.at.add(member));
    // Not before all have answered: other blocks of keys are under way.
    for (const [value, home] of found) {
      this.#holding.add(keyBytes(value));
      this.#homes.set(value, home);
    }
  }

  #mayHave(member: number, subject: RDF.Term | undefined): boolean {
    const home = subject?.termType === "NamedNode" ? this.#homes.get(subject.value) : undefined;
    return home === undefined || !home.asked.has(member) || home.at.has(member);
  }
}

function subjectsIn(blocks: ReadonlyMap<number, KeyBlock>, column: number): ReadonlyMap<string, RDF.Term> {
  const subjects = new Map<string, RDF.Term>();
  for (const { rows } of blocks.values()) {
    for (const row of rows) {
      const term = row[column];
      if (term?.termType === "NamedNode") subjects.set(term.value, term);
    }
  }
  return subjects;
}
