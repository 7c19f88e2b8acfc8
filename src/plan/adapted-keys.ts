import { itemAt } from "../values.ts";
import type { KeyExpressions } from "../rdf/key-rule.ts";
import type { AcceptedAdapter } from "../registry/catalog.ts";
import { keyExpressions } from "../rdf/key-rule.ts";
import { rdf } from "../rdf/vocabularies.ts";
import {
  elementsWithin,
  type Group,
  groupsWithin,
  requiredTriples,
  type ServiceElement,
  type TriplesElement,
  type Query,
  type TokenRange,
} from "../sparql/query.ts";
import type { UsedTerm } from "../sparql/patterns.ts";
import type { Draft } from "./decide-plan.ts";
import type { NotedText } from "./prune-clauses.ts";

type Triple = TriplesElement["triples"][number];

/** An adapter that a query needs. */
interface NeededAdapter extends UnlikeKey {
  readonly adapter: AcceptedAdapter;
  readonly endpoint: string;
}

/**
 * The text of a query in which what two endpoints are asked is joined by the adapters that were accepted for them: SERVICE clauses
 * that share a variable which both bind at the adapter's places, and patterns over a federation whose terms only one member has.
 * Undefined when there is none.
 */
export function adaptedKeys({ query, targets, task: { context, over } }: Draft): NotedText | undefined {
  const idOf = (service: ServiceElement): string | undefined => targets.members.get(service.from)?.id;
  const members = over?.members.map(({ id }) => id) ?? [];
  const ids = new Set([...query.services.flatMap(({ element }) => idOf(element) ?? []), ...members]);
  const adapters = [...ids].flatMap((endpoint) =>
    (context.catalog.byId(endpoint)?.keyAdapters ?? [])
      .filter(({ otherEndpoint }) => ids.has(otherEndpoint))
      .map((adapter) => ({ endpoint, adapter, expressions: keyExpressions(adapter.rule) })),
  );
  if (adapters.length === 0 || query.form === "DESCRIBE" || query.outline.shortConstruct) return undefined;
  const needed: NeededAdapter[] = [];
  const isNew = ({ name, right }: UnlikeKey): boolean =>
    !needed.some(
      (known) => known.name === name && known.right.some((one) => right.some(({ range }) => range === one.range)),
    );
  const isOnlyAt = (id: string, term: UsedTerm): boolean =>
    members.every((member) => member === id || context.terms?.hasTerm(member, term) === "no");
  for (const group of groupsWithin(query.outline.groups, ({ kind }) => kind !== "service")) {
    for (const each of adapters) {
      needed.push(...betweenClauses(group, each, { parsed: query, idOf }).filter(isNew));
      if (over) needed.push(...betweenPatterns(group, each, { parsed: query, isOnlyAt }).filter(isNew));
    }
  }
  if (needed.length === 0) return undefined;
  return {
    text: withAdaptedKeys(query, needed),
    note: { code: "KEYS_ADAPTED", message: needed.map(sentence).join(" ") },
  };
}

type Candidate = Omit<NeededAdapter, "name" | "left" | "right">;

interface Clauses {
  readonly parsed: Query;
  readonly idOf: (service: ServiceElement) => string | undefined;
}

function betweenClauses(group: Group, candidate: Candidate, { parsed, idOf }: Clauses): readonly NeededAdapter[] {
  const { endpoint, adapter } = candidate;
  const others = [...elementsWithin([group])].flatMap((element) =>
    element.kind === "service" && idOf(element) === adapter.otherEndpoint ? [element.group] : [],
  );
  const names = new Set(others.flatMap(({ patterns }) => namesAt(adapter.other, requiredTriples(patterns))));
  return group.elements.flatMap((left) => {
    if (left.kind !== "service" || left.silent || idOf(left) !== endpoint) return [];
    const own = new Set(namesAt(adapter.here, requiredTriples(left.group.patterns)));
    return [...own.intersection(names)].flatMap((name): NeededAdapter[] => {
      const sharing = others.filter((other) => parsed.variablesIn(other).has(name));
      return [{ ...candidate, name, left, right: sharing.map((other) => ({ range: other, group: other })) }];
    });
  });
}

interface Patterns {
  readonly parsed: Query;
  /** True if no other member has a term. */
  readonly isOnlyAt: (id: string, term: UsedTerm) => boolean;
}

function betweenPatterns(group: Group, candidate: Candidate, { parsed, isOnlyAt }: Patterns): readonly NeededAdapter[] {
  const { endpoint, adapter } = candidate;
  if (!isOnlyAt(endpoint, termAt(adapter.here)) || !isOnlyAt(adapter.otherEndpoint, termAt(adapter.other))) return [];
  const right = [...groupsWithin([group], ({ kind }) => kind !== "service")].flatMap((inner) =>
    triplesOf(inner)
      .filter((triple) => termsOfTriple(triple).some((term) => isOnlyAt(adapter.otherEndpoint, term)))
      .map((triple) => ({ triple, group: inner })),
  );
  const names = new Set(
    namesAt(
      adapter.other,
      right.map(({ triple }) => triple),
    ),
  );
  return triplesOf(group).flatMap((triple): readonly NeededAdapter[] => {
    if (!termsOfTriple(triple).some((term) => isOnlyAt(endpoint, term))) return [];
    const [name] = namesAt(adapter.here, [triple]);
    const text = name !== undefined && names.has(name) ? tripleText(triple) : undefined;
    if (name === undefined || text === undefined) return [];
    const ranges = right.flatMap((side) =>
      [side.triple.subject, side.triple.object]
        .filter((term) => term.termType === "Variable" && term.value === name)
        .flatMap((term) => parsed.places.get(term) ?? [])
        .map((range) => ({ range, group: side.group })),
    );
    return [{ ...candidate, name, left: { kind: "pattern", text, group }, right: ranges }];
  });
}

const triplesOf = (group: Group): readonly Triple[] =>
  group.elements.flatMap((element) => (element.kind === "triples" ? element.triples : []));

const termAt = (place: AcceptedAdapter["here"]): UsedTerm =>
  "property" in place ? { kind: "property", iri: place.property } : { kind: "class", iri: place.class };

function termsOfTriple({ predicate, object }: Triple): readonly UsedTerm[] {
  if (!("termType" in predicate) || predicate.termType !== "NamedNode") return [];
  if (predicate.value !== rdf.type) return [{ kind: "property", iri: predicate.value }];
  return object.termType === "NamedNode" ? [{ kind: "class", iri: object.value }] : [];
}

/** Undefined for a pattern with a blank node, which no other pattern can name. */
function tripleText({ subject, predicate, object }: Triple): string | undefined {
  const texts = [subject, predicate, object].map((term) => {
    if (!("termType" in term)) return undefined;
    if (term.termType === "Variable") return `?${term.value}`;
    return term.termType === "NamedNode" ? `<${term.value}>` : undefined;
  });
  return texts.includes(undefined) ? undefined : texts.join(" ");
}

/** The variables that are values of the property in these triples, or things of the class: those of which no class is said may be. */
function namesAt(place: AcceptedAdapter["here"], triples: readonly Triple[]): readonly string[] {
  if ("property" in place) {
    return triples.flatMap(({ predicate, object }) =>
      "value" in predicate && predicate.value === place.property && object.termType === "Variable"
        ? [object.value]
        : [],
    );
  }
  const isTyped = (name: string, iri?: string): boolean =>
    triples.some(
      ({ subject, predicate, object }) =>
        subject.value === name &&
        "value" in predicate &&
        predicate.value === rdf.type &&
        (iri === undefined || object.value === iri),
    );
  const subjects = new Set(triples.flatMap(({ subject }) => (subject.termType === "Variable" ? [subject.value] : [])));
  return [...subjects].filter((name) => !isTyped(name) || isTyped(name, place.class));
}

function sentence({ name, endpoint, adapter, expressions }: NeededAdapter): string {
  const { otherEndpoint, matches, acceptedAt } = adapter;
  const { left, right } = expressions;
  const how = right ? `${left(`?${name}`)} is compared with ${right("the value there")}` : left(`?${name}`);
  const met = matches === undefined ? "" : `, with which ${matches} known values met`;
  const since = acceptedAt === undefined ? "declared in the catalogue" : `accepted ${acceptedAt.slice(0, 10)}`;
  return `?${name} is written differently at ${endpoint} and ${otherEndpoint}; they are joined by an adapter (${since}${met}): ${how}.`;
}

/** A variable that parts of a query share though their endpoints write its values in different ways. */
interface UnlikeKey {
  /** Without `?`. */
  readonly name: string;
  /** The clause that binds the left values; or a pattern that does, and the group that it stands in. */
  readonly left: ServiceElement | { readonly kind: "pattern"; readonly text: string; readonly group: Group };
  /** Where the variable has right values, each with the group that binds them. */
  readonly right: readonly { readonly range: TokenRange; readonly group: Group }[];
  readonly expressions: KeyExpressions;
}

/**
 * The text in which these parts are joined by what makes their values alike: `A { ?k } B { ?k }` is
 * `{ A { ?k } BIND(left(?k) AS ?k_key) } B { ?k_key }`. Everywhere else, `?k` is the left value.
 */
function withAdaptedKeys(query: Query, keys: readonly UnlikeKey[]): string {
  const changes = new Changes(query);
  for (const { name, left, right, expressions } of keys) {
    const key = changes.freshName(`${name}_key`);
    const other = expressions.right === undefined ? key : changes.freshName(`${name}_other`);
    for (const { range } of right) changes.rename(range, name, other);
    const groups = expressions.right === undefined ? [] : new Set(right.map(({ group }) => group));
    for (const { to } of groups) changes.before(to - 1, ` BIND(${expressions.right?.(`?${other}`)} AS ?${key}) `);
    const bound = ` BIND(${expressions.left(`?${name}`)} AS ?${key}) }`;
    if (left.kind === "service") changes.surround(left, bound);
    // What a pattern matches it matches once, so that it may stand twice.
    else changes.before(left.group.to - 1, ` { ${left.text}${bound} `);
  }
  changes.keepColumns();
  return changes.text();
}

/** Replacements of tokens, and insertions before and after them. */
class Changes {
  readonly #query: Query;
  readonly #names: Set<string>;
  readonly #tokens = new Map<number, { before: string; text: string; behind: string }>();

  constructor(query: Query) {
    this.#query = query;
    this.#names = new Set(query.tokens.flatMap(({ kind, text }) => (kind === "var" ? [text.slice(1)] : [])));
  }

  freshName(wanted: string): string {
    let name = wanted;
    while (this.#names.has(name)) name += "_";
    this.#names.add(name);
    return name;
  }

  #at(token: number) {
    const change = this.#tokens.get(token) ?? { before: "", text: itemAt(this.#query.tokens, token).text, behind: "" };
    this.#tokens.set(token, change);
    return change;
  }

  before(token: number, text: string): void {
    this.#at(token).before += text;
  }

  /** Puts an element into a group, whose end is given. */
  surround(element: ServiceElement, end: string): void {
    this.#at(element.from).before = `{ ${this.#at(element.from).before}`;
    this.#at(element.to - 1).behind += end;
  }

  rename({ from, to }: TokenRange, name: string, other: string): void {
    for (let at = from; at < to; at++) {
      const { kind, text } = itemAt(this.#query.tokens, at);
      if (kind === "var" && text.slice(1) === name) this.#at(at).text = `?${other}`;
    }
  }

  /** The new variables are no columns of `SELECT *`. */
  keepColumns(): void {
    const { tokens } = this.#query;
    for (const select of this.#query.selects.filter((each) => each.projectsAll)) {
      const names = Array.from(this.#query.projected(select), (name) => `?${name}`).join(" ");
      for (let at = select.head.from; at < select.head.to; at++) {
        if (itemAt(tokens, at).text === "*") this.#at(at).text = names;
      }
    }
  }

  text(): string {
    const edits = [...this.#tokens].map(([at, { before, text, behind }]) => ({
      range: { from: at, to: at + 1 },
      replacement: before + text + behind,
    }));
    return this.#query.cut(edits);
  }
}
