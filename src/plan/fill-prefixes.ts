import { wellKnownNamespaces } from "../rdf/well-known-prefixes.ts";
import type { CatalogEntry } from "../registry/catalog.ts";
import { isWord, substituted, type SubstitutedText, tokenize, undeclaredPrefixes } from "../sparql/query.ts";
import { entryMeant } from "./meant-entries.ts";
import type { MeantNamespace, PlanContext, PlanTask } from "./plan-request.ts";
import type { PlanNote } from "./query-plan.ts";
import { keyOf } from "./rank-homes.ts";

/** A text with declarations in front of it, of prefixes that it uses without. */
export interface FilledText {
  readonly written: SubstitutedText;
  /** `PREFIX prefix: <namespace>` of each. */
  readonly declarations: readonly string[];
  readonly note: PlanNote;
}

const mostFilled = 20;
/** Names of a prefix that are looked up. */
const mostNames = 50;
/** Names of one text that are searched for at all endpoints that are asked. */
const mostSought = 40;
/** Texts that are named where prefixes have several meanings. */
const mostTexts = 5;

/** Texts that a text with undeclared prefixes may stand for. */
export interface FilledTexts {
  /** Several where prefixes have equally good meanings; none where no prefix has one. Without those that are unknown. */
  readonly texts: readonly FilledText[];
  /** Prefixes that have no meaning. */
  readonly unknown: readonly string[];
}

/**
 * The text with its undeclared prefixes declared.
 *
 * A prefix means the namespace that has most of the text's own names at the endpoints that are asked. Of those that have as many: the one
 * that is declared at an endpoint which the text or its request names, or seen in its data; declared at an endpoint that is described and
 * up; published; well known. A prefix that is in none of these means a namespace that has its names.
 */
export function filledTexts(written: SubstitutedText, task: PlanTask): FilledTexts {
  const missing = undeclaredPrefixes(tokenize(written.text));
  if (missing.size === 0 || missing.size > mostFilled) return { texts: [], unknown: [] };
  const lookup = new Lookup(written.text, missing, task);
  const { meanings } = task.request;
  const key = meanings && lookup.key;
  const { choices, unknown } = meanings?.get(key ?? "") ?? lookup.all();
  meanings?.set(key ?? "", { choices, unknown });
  const isFilled = unknown.length < missing.size;
  return { texts: isFilled ? choices.map((each) => filledText(written, each, task.request.text)) : [], unknown };
}

type Names = ReturnType<typeof undeclaredPrefixes>;

interface Meaning extends MeantNamespace {
  /** Compared from the first number on; the largest is the best. */
  readonly rank: readonly number[];
}

/** Where a meaning is from, the strongest source last. */
const sources = ["other scheme", "names", "well known", "published", "described", "named"] as const;
type Source = (typeof sources)[number];

interface Candidate {
  readonly namespace: string;
  readonly source: Source;
  /** The endpoint that declares it. */
  readonly id?: string;
}

/** Meanings of the undeclared prefixes of one text. */
class Lookup {
  readonly #missing: Names;
  readonly #context: PlanContext;
  /** Ids of the endpoints that the text or its request names; of none where it names no place. */
  readonly #named: readonly string[];
  /** Ids of those that are described and up. */
  readonly #described: readonly string[];
  readonly #counted = new Map<string, number>();

  constructor(text: string, missing: Names, { context, entry, over }: PlanTask) {
    const { catalog, availability } = context;
    this.#missing = missing;
    this.#context = context;
    const place = entry ? [entry] : (over?.members ?? []);
    this.#named = [...new Set([...place, ...targetsIn(text, context)].map(({ id }) => id))];
    const all = catalog.federations.find(({ builtIn }) => builtIn);
    const isUp = ({ id }: CatalogEntry): boolean => availability?.state(id) !== "down";
    this.#described = (all ? catalog.membersOf(all) : []).filter(isUp).map(({ id }) => id);
  }

  /** Everything of the text that its prefixes' meanings depend on. */
  get key(): string {
    const names = Array.from(this.#missing, ([prefix, used]) => [prefix, ...used]);
    return JSON.stringify([names, this.#named]);
  }

  /** Choices of the best meanings of all prefixes, and those that have none. */
  all() {
    const unknown: string[] = [];
    let choices: readonly (readonly Meaning[])[] = [[]];
    for (const prefix of this.#missing.keys()) {
      const best = this.#best(prefix);
      if (best.length === 0) unknown.push(prefix);
      else choices = choices.flatMap((before) => best.map((each) => before.concat(each))).slice(0, mostTexts);
    }
    return { choices, unknown };
  }

  /** The meanings than which none is better. */
  #best(prefix: string): readonly Meaning[] {
    const meanings = [...this.#meanings(prefix).values()].toSorted((one, other) => compared(other.rank, one.rank));
    const [first] = meanings;
    return first === undefined ? [] : meanings.filter(({ rank }) => compared(rank, first.rank) === 0);
  }

  /** By namespace, each from its strongest source. */
  #meanings(prefix: string): ReadonlyMap<string, Meaning> {
    const usual = wellKnownNamespaces.get(prefix);
    const found = new Map<string, Meaning>();
    for (const { namespace, source, id } of this.#candidates(prefix, usual)) {
      if (found.has(namespace) || isUnwritable.test(namespace)) continue;
      const elsewhere = id === undefined ? "as data use its names" : this.#howAt(id);
      const how = namespace === usual ? "as usual" : elsewhere;
      found.set(namespace, { prefix, namespace, how, rank: this.#rank(prefix, namespace, source) });
    }
    return found;
  }

  /** Strongest sources first. */
  *#candidates(prefix: string, usual: string | undefined): Generator<Candidate> {
    const { catalog, terms } = this.#context;
    const declared = [
      ...this.#declared(this.#named, prefix, "named"),
      ...this.#named.flatMap((id): Candidate[] => {
        const seen = terms?.namespaceAt(id, prefix);
        return seen === undefined || seen === usual ? [] : [{ namespace: seen, source: "named" }];
      }),
      ...this.#declared(this.#described, prefix, "described"),
      ...this.#declared(catalog.published.ids, prefix, "published"),
      ...(usual === undefined ? [] : [{ namespace: usual, source: "well known" } as const]),
    ];
    yield* declared;
    for (const { namespace } of declared) yield { namespace: otherScheme(namespace), source: "other scheme" };
    if (declared.length > 0 || terms === undefined) return;
    const among = this.#asked();
    const sought = Math.ceil(mostSought / this.#missing.size);
    for (const name of among.length > 0 ? this.#names(prefix).slice(0, sought) : []) {
      for (const namespace of terms.namespacesWith(name, among)) yield { namespace, source: "names" };
    }
  }

  #declared(ids: readonly string[], prefix: string, source: Source): readonly Candidate[] {
    return ids.flatMap((id) => {
      const namespace = this.#declaredAt(id, prefix);
      return namespace === undefined ? [] : { namespace, source, id };
    });
  }

  #rank(prefix: string, namespace: string, source: Source): readonly number[] {
    const known = this.#names(prefix).filter((name) => this.#isAsked(namespace + name)).length;
    const rank = [known, sources.indexOf(source)];
    // Named endpoints that do not agree are asked for nothing.
    if (source === "named" || source === "names") return rank;
    const ids = this.#context.catalog.published.ids.filter((id) => this.#declaredAt(id, prefix) === namespace);
    const isUsual = namespace === wellKnownNamespaces.get(prefix);
    return [...rank, Math.max(0, ...ids.map((id) => this.#uses(id))), ids.length, isUsual ? 1 : 0];
  }

  #names(prefix: string): readonly string[] {
    return [...(this.#missing.get(prefix) ?? [])].filter((name) => name !== "").slice(0, mostNames);
  }

  #asked(): readonly string[] {
    return this.#named.length > 0 ? this.#named : this.#described;
  }

  /** True for a class or property of an endpoint that is asked. */
  #isAsked(iri: string): boolean {
    const { catalog, terms } = this.#context;
    const asked = this.#asked();
    return kinds.some((kind) => {
      const holders = new Set(terms?.endpointsWith({ kind, iri }));
      const key = keyOf(kind, iri);
      return asked.some((id) => holders.has(id) || catalog.published.facts(id)?.terms.has(key));
    });
  }

  /** How much published queries of an endpoint use the text's names as the endpoint means them. */
  #uses(id: string): number {
    const counted = this.#counted.get(id) ?? this.#countUses(id);
    this.#counted.set(id, counted);
    return counted;
  }

  #countUses(id: string): number {
    const { terms } = this.#context.catalog.published.facts(id) ?? {};
    let sum = 0;
    for (const prefix of this.#missing.keys()) {
      const namespace = this.#declaredAt(id, prefix);
      if (namespace === undefined) continue;
      for (const name of this.#names(prefix)) {
        for (const kind of kinds) {
          const known = terms?.get(keyOf(kind, namespace + name));
          if (known) sum += 1 + Math.log1p(known.uses) / 100;
        }
      }
    }
    return sum;
  }

  /** Namespace that an endpoint gives an undeclared prefix, as published, else as probed. Examples declare their prefixes as they like. */
  #declaredAt(id: string, prefix: string): string | undefined {
    const { catalog, capabilities } = this.#context;
    const known = catalog.published.facts(id)?.prefixes.get(prefix);
    if (known) return known.how === "example" ? undefined : known.namespace;
    const { predefinedPrefixes: probed = {} } = capabilities?.view(id) ?? {};
    return Object.hasOwn(probed, prefix) ? probed[prefix] : undefined;
  }

  #howAt(id: string): string {
    return `as at ${id} (${this.#context.catalog.published.facts(id)?.provenance ?? "probed"})`;
  }
}

const kinds = ["class", "property"] as const;
const isUnwritable = /[\s<>"{}|^`\\]/;

function compared(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((number, index) => number !== other[index]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

/** Some vocabularies, such as schema.org, are written with http as well as with https. */
const otherScheme = (namespace: string): string =>
  namespace.startsWith("https:") ? namespace.replace("https:", "http:") : namespace.replace("http:", "https:");

/** The endpoints that SERVICE and FROM name, and the members of federations that they name. */
function targetsIn(text: string, { catalog }: PlanContext): readonly CatalogEntry[] {
  const tokens = tokenize(text);
  return tokens.flatMap((token, at) => {
    const before = isWord(tokens[at - 1], "SILENT") ? tokens[at - 2] : tokens[at - 1];
    if (token.kind !== "iri" || !isWord(before, "SERVICE", "FROM")) return [];
    const iri = token.text.slice(1, -1);
    const federation = catalog.federationByUrl(iri);
    return federation ? catalog.membersOf(federation) : (entryMeant(iri, catalog) ?? []);
  });
}

function filledText(written: SubstitutedText, filled: readonly MeantNamespace[], sent: string): FilledText {
  const declarations = filled.map(({ prefix, namespace }) => `PREFIX ${prefix}: <${namespace}>`);
  // On the first line, so that those of the query keep their numbers.
  const text = declarations.map((each) => `${each} `).join("");
  const outer = substituted(written.text, [{ start: 0, end: 0, text }]);
  const parts = [...Map.groupBy(filled, ({ how }) => how)].map(([how, all]) => {
    const names = all.map(({ prefix, namespace }) => `${prefix}: <${namespace}>`).join(", ");
    return `${names} ${how}`;
  });
  return {
    written: { text: outer.text, relocated: (error) => written.relocated(outer.relocated(error)) },
    declarations,
    note: {
      code: "PREFIXES_FILLED_IN",
      message: `Undeclared prefixes were filled in: ${parts.join("; ")}.`,
      query: `${declarations.join("\n")}\n${sent}`,
    },
  };
}
