import type * as RDF from "@rdfjs/types";
import type { Bindings } from "../../results/model.ts";
import type { PlannedEndpoint } from "../../plan/query-plan.ts";
import type { HeldRows, HolderQuestion } from "../../plan/source-selection.ts";
import { isWritable } from "../../rdf/term-text.ts";
import { termToText } from "../../results/terms.ts";
import type { KeyBlock } from "../clause-query.ts";
import type { ExecutionBounds } from "../execution-bounds.ts";
import { type Holding, keyBytes } from "../held-bytes.ts";
import type { QueryNeeds } from "./member.ts";
import { hasSubject, type PatternUnit } from "./pattern-units.ts";
import { type AskNodes, SubjectHomes } from "./subject-homes.ts";
import { admits, TermRoutes } from "./term-spaces.ts";
import { itemAt } from "../../values.ts";

// Keys not remembered are asked at every member that may have them.
const MOST_SUBJECTS = 100_000;

/** Asks which keys members may have solutions for; undefined if unknown. */
export type Holders = (question: HolderQuestion, bounds: ExecutionBounds) => Promise<HeldRows | undefined>;

interface RouteOptions {
  readonly needs: QueryNeeds;
  /** Absent: nothing is known of members but what the plan says. */
  readonly holders?: Holders | undefined;
  readonly bounds: ExecutionBounds;
  readonly holding: Holding;
  readonly askNodes: AskNodes;
}

/**
 * Sends units and their keys to the members that can have solutions: by what is said of their terms, by what earlier answers of
 * the execution have shown, and by copies of their triples, which are not here: the service that has them is asked once a
 * block. A blank node is at the member that gave it; a subject of members that share none is at one.
 */
export class KeyRoutes {
  readonly #members: readonly PlannedEndpoint[];
  readonly #options: RouteOptions;
  readonly #homes: SubjectHomes;
  readonly #units = new Map<PatternUnit, UnitRoutes>();
  /** By label. */
  readonly #blankNodes = new Map<string, number>();
  /** By set of members that share no subject. */
  readonly #subjects = new Map<number, Map<string, number>>();

  constructor(members: readonly PlannedEndpoint[], options: RouteOptions) {
    this.#members = members;
    this.#options = options;
    this.#homes = new SubjectHomes(options.askNodes, options.holding);
  }

  /** The members that may have solutions, each with the keys that it may have them for. */
  async blocksFor(unit: PatternUnit, keys: KeyBlock | undefined): Promise<ReadonlyMap<number, KeyBlock | undefined>> {
    if (!keys) return this.#held(unit, keys, new Map(unit.sources.map(({ member }) => [member, undefined])));
    const blocks = await this.#held(unit, keys, this.#blocksFor(unit, keys));
    return this.#homes.narrowed(unit, blocks, (member) => itemAt(this.#members, member).interface === undefined);
  }

  /** The blocks without rows that copies of members do not have. */
  async #held<B extends KeyBlock | undefined>(
    unit: PatternUnit,
    keys: B,
    blocks: ReadonlyMap<number, B>,
  ): Promise<ReadonlyMap<number, B>> {
    const { holders, bounds } = this.#options;
    // Copies are those of default graphs; facts about a single pattern have chosen its members.
    const isInGraph = unit.patterns.some(({ graphs }) => graphs !== undefined);
    if (!holders || isInGraph || blocks.size === 0 || (!keys && unit.patterns.length === 1)) return blocks;
    const members = [...blocks.keys()].map((index) => itemAt(this.#members, index));
    const question = { ...questionOf(unit, keys), members: members.map(({ id, url }) => ({ id, url })) };
    const held = await holders(question, bounds);
    return held ? narrowed(blocks, keys, held) : blocks;
  }

  #blocksFor(unit: PatternUnit, { variables, rows }: KeyBlock): ReadonlyMap<number, KeyBlock> {
    const routes = this.#units.get(unit) ?? unitRoutes(unit);
    this.#units.set(unit, routes);
    const blocks = new Map<number, (readonly RDF.Term[])[]>();
    for (const row of rows) {
      const home = this.#home(unit, routes, { variables, row });
      for (const member of routes.membersFor(variables, row)) {
        if (home !== undefined && home !== member) continue;
        const block = blocks.get(member);
        if (block) block.push(row);
        else blocks.set(member, [row]);
      }
    }
    return new Map([...blocks].map(([member, own]) => [member, { variables, rows: own }]));
  }

  /** A member gave solutions of a unit. */
  gave(unit: PatternUnit, member: number): void {
    this.#homes.gave(unit, member);
  }

  /** Remembers where the terms of a solution are. */
  learn(unit: PatternUnit, row: Bindings, member: number): void {
    for (const [name, term] of row) {
      if (term.termType === "BlankNode") {
        // Any other is met once, in its answer.
        if (this.#options.needs.identified(name, 1)) this.#remember(this.#blankNodes, term.value, member);
      } else if (unit.disjointSet !== undefined && unit.sources.length > 1 && hasSubject(unit, name)) {
        const subjects = this.#subjects.get(unit.disjointSet) ?? new Map<string, number>();
        this.#subjects.set(unit.disjointSet, subjects);
        if (subjects.size < MOST_SUBJECTS) this.#remember(subjects, term.value, member);
      }
    }
  }

  #remember(homes: Map<string, number>, name: string, member: number): void {
    if (!homes.has(name)) this.#options.holding.add(keyBytes(name));
    homes.set(name, member);
  }

  /** The only member that can have the row. */
  #home(unit: PatternUnit, { subjects }: UnitRoutes, { variables, row }: KeyRow): number | undefined {
    const known = unit.disjointSet === undefined ? undefined : this.#subjects.get(unit.disjointSet);
    for (const [index, name] of variables.entries()) {
      const term = row[index];
      if (term?.termType === "BlankNode") return this.#blankNodes.get(term.value) ?? NOWHERE;
      const home = term?.termType === "NamedNode" && subjects.has(name) ? known?.get(term.value) : undefined;
      if (home !== undefined) return home;
    }
    return undefined;
  }
}

// A blank node that no member gave is at none.
const NOWHERE = -1;

interface KeyRow {
  readonly variables: readonly string[];
  readonly row: readonly RDF.Term[];
}

interface UnitRoutes {
  readonly subjects: ReadonlySet<string>;
  membersFor(variables: readonly string[], row: readonly RDF.Term[]): readonly number[];
}

function unitRoutes({ patterns, sources }: PatternUnit): UnitRoutes {
  const spaces = new Map(sources.map((source) => [source.member, source.spaces]));
  const routes = new Map<string, TermRoutes>();
  /** By the first place of a variable; the others are compared. */
  const routesOf = (name: string): TermRoutes => {
    const known =
      routes.get(name) ??
      new TermRoutes(sources.map((source) => ({ member: source.member, space: source.spaces.get(name)?.[0] ?? {} })));
    routes.set(name, known);
    return known;
  };
  return {
    subjects: new Set(patterns.flatMap(({ subject }) => (subject.termType === "Variable" ? [subject.value] : []))),
    membersFor(variables, row) {
      const [name] = variables;
      const [term] = row;
      const members = name && term ? routesOf(name).membersFor(term) : sources.map(({ member }) => member);
      return members.filter((member) =>
        variables.every((variable, index) => {
          const value = row[index];
          return (
            !value ||
            (spaces
              .get(member)
              ?.get(variable)
              ?.every((space) => admits(space, value)) ??
              true)
          );
        }),
      );
    },
  };
}

/**
 * The question to send; variables are numbered, so that equal units are equal texts. Blank nodes have no name at a member.
 */
function questionOf({ patterns }: PatternUnit, keys: KeyBlock | undefined): Omit<HolderQuestion, "members"> {
  const numbered = new Map<string, string>();
  const textOf = (term: RDF.Term): string => {
    const text = termToText(term);
    if (term.termType !== "Variable" && term.termType !== "BlankNode") return text;
    const name = numbered.get(text) ?? `?v${numbered.size}`;
    numbered.set(text, name);
    return name;
  };
  return {
    patterns: patterns.map(({ subject, predicate, object }) => [textOf(subject), textOf(predicate), textOf(object)]),
    variables: keys?.variables.map((name) => numbered.get(`?${name}`)?.slice(1) ?? name) ?? [],
    rows: keys?.rows.map((row) => row.map(keyText)) ?? [[]],
  };
}

/** Of keys that cannot be written nothing is said. */
const keyText = (term: RDF.Term): string => (isWritable(term) ? termToText(term) : "");

/** The blocks without rows that their members, in the same order, do not have. Members without a row are not asked. */
function narrowed<B extends KeyBlock | undefined>(
  blocks: ReadonlyMap<number, B>,
  keys: B,
  held: HeldRows,
): ReadonlyMap<number, B> {
  const left = new Map<number, B>();
  for (const [at, [member, block]] of [...blocks].entries()) {
    const indices = held[at];
    const own = new Set(indices?.map((index) => keys?.rows[index]));
    const kept = indices && block ? { ...block, rows: block.rows.filter((row) => own.has(row)) } : block;
    if (!indices || (kept ? kept.rows.length > 0 : indices.length > 0)) left.set(member, kept);
  }
  return left;
}
