import type * as RDF from "@rdfjs/types";
import type { Bindings } from "../../results/model.ts";
import type { PlannedEndpoint } from "../../plan/query-plan.ts";
import type { HeldRows, HolderQuestion } from "../../plan/source-selection.ts";
import type { KeyBlock } from "../clause-query.ts";
import { type Holding, keyBytes } from "../held-bytes.ts";
import type { QueryNeeds } from "./merged-graph.ts";
import { hasSubject, type PatternUnit } from "./pattern-units.ts";
import { admits, TermRoutes } from "./term-spaces.ts";

// What is not remembered is asked at every member that may have it.
const MOST_SUBJECTS = 100_000;

/** Asks which keys members may have; undefined where nobody knows. */
export type Holders = (question: HolderQuestion, signal: AbortSignal) => Promise<HeldRows | undefined>;

interface RouteOptions {
  readonly needs: QueryNeeds;
  /** Absent: nothing is known of members but what the plan says. */
  readonly holders?: Holders | undefined;
  readonly signal: AbortSignal;
  readonly holding: Holding;
}

/**
 * Sends keys to the members that can have them: by what is said of their terms, by what earlier answers of the execution
 * have shown, and by the filters over their terms, which are not here: whoever has them is asked once a block. A blank node is at the member that gave it; a subject of members that share none is at one.
 */
export class KeyRoutes {
  readonly #members: readonly PlannedEndpoint[];
  readonly #options: RouteOptions;
  readonly #units = new Map<PatternUnit, UnitRoutes>();
  /** By label. */
  readonly #blankNodes = new Map<string, number>();
  /** By set of members that share no subject. */
  readonly #subjects = new Map<number, Map<string, number>>();

  constructor(members: readonly PlannedEndpoint[], options: RouteOptions) {
    this.#members = members;
    this.#options = options;
  }

  /** The keys for each member that may have solutions for some of them. */
  async blocksFor(unit: PatternUnit, keys: KeyBlock): Promise<ReadonlyMap<number, KeyBlock>> {
    const blocks = this.#blocksFor(unit, keys);
    const { holders, signal } = this.#options;
    const places = placesOf(unit, keys);
    if (blocks.size < 2 || !holders || places.length === 0) return blocks;
    const members = [...blocks.keys()].map((member) => this.#members[member]);
    const asked = members.flatMap((endpoint) => (endpoint ? { id: endpoint.id, url: endpoint.url } : []));
    const held = await holders({ places, rows: keys.rows.map((row) => row.map(iriOf)), members: asked }, signal);
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

const iriOf = (term: RDF.Term | undefined): string => (term?.termType === "NamedNode" ? term.value : "");

/** Where the keys stand in the patterns of a unit. */
function placesOf({ patterns }: PatternUnit, { variables }: KeyBlock): HolderQuestion["places"] {
  const column = (term: RDF.Term): number => (term.termType === "Variable" ? variables.indexOf(term.value) : -1);
  return patterns
    .flatMap(({ subject, predicate, object }) => {
      const property = predicate.termType === "NamedNode" ? predicate.value : undefined;
      return [
        { column: column(subject), place: "subjects" as const, property },
        { column: column(object), place: "objects" as const, property },
      ];
    })
    .filter((place) => place.column >= 0);
}

/** The blocks without rows that their members, in the same order, do not have. Members without a row are not asked. */
function narrowed(blocks: ReadonlyMap<number, KeyBlock>, { variables, rows }: KeyBlock, held: HeldRows) {
  const left = new Map<number, KeyBlock>();
  for (const [at, [member, block]] of [...blocks].entries()) {
    const indices = held[at];
    const own = new Set(indices?.map((index) => rows[index]));
    const kept = indices ? block.rows.filter((row) => own.has(row)) : block.rows;
    if (kept.length > 0) left.set(member, { variables, rows: kept });
  }
  return left;
}
