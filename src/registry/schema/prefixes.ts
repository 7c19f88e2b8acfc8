import { wellKnownPrefixes } from "../../rdf/well-known-prefixes.ts";
import { iriParts, bracketedIri } from "../../rdf/display-text.ts";
import { valueFor } from "../../values.ts";
import type { KnownProperty, KnownSchema } from "../model/schema.ts";
import type { VoidDescription } from "../descriptions/void-description.ts";

/** How an IRI is written, and the prefix that must be declared for it, if any. */
interface ShortName {
  readonly text: string;
  readonly prefixes: readonly string[];
}

const maxNamespaces = 200;
const maxNamespaceLength = 300;
/** A part of PN_LOCAL (SPARQL 1.1, section 19.8) that every parser reads alike. */
const plainLocal = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,118}[A-Za-z0-9_-])?$/;
const curie = /^([A-Za-z][\w-]{0,30}):(.{1,500})$/;
/** Path segments that say nothing about whose vocabulary it is. */
const generic = new Set(
  "class concept core current def elements entity example id latest model ns onto ontology ontologies owl prop property rdf release resource schema schemas term terms v vocab vocabulary www".split(
    " ",
  ),
);

/** Short names for the IRIs of one description; two namespaces never share a prefix. */
export class PrefixTable {
  readonly #byNamespace = new Map(wellKnownPrefixes);
  readonly #byPrefix: Map<string, string>;

  /**
   * Prefixes for the namespaces of these IRIs: the well-known ones, and derived ones where a namespace occurs at least
   * twice (the 200 most used). Depends on the set of IRIs and how often each occurs, not on their order.
   */
  constructor(iris: Iterable<string>) {
    const uses = namespaceUses(iris);
    // Everybody calls it schema; the other name is for data that have both.
    if (uses.has("https://schema.org/") && !uses.has("http://schema.org/")) {
      this.#byNamespace.set("https://schema.org/", "schema").delete("http://schema.org/");
    }
    this.#byPrefix = new Map([...this.#byNamespace].map(([namespace, prefix]) => [prefix, namespace]));
    for (const namespace of namespacesToName(uses)) {
      const prefix = freePrefix(derivedPrefix(namespace), this.#byPrefix);
      this.#byNamespace.set(namespace, prefix);
      this.#byPrefix.set(prefix, namespace);
    }
  }

  /** The prefixes for the IRIs of schemas; of one alone made once: with 50,000 IRIs that takes 20 ms. */
  static of(...descriptions: readonly NamedSchema[]): PrefixTable {
    const [only, ...more] = descriptions;
    if (only === undefined || more.length > 0) return new PrefixTable(descriptions.values().flatMap(descriptionIris));
    const table = tables.get(only) ?? new PrefixTable(descriptionIris(only));
    tables.set(only, table);
    return table;
  }

  /** `prefix:local` where that is legal in SPARQL without escapes, else `<iri>`. */
  short(iri: string): ShortName {
    const { namespace, local } = iriParts(iri);
    const prefix = this.#byNamespace.get(namespace);
    if (prefix === undefined || !plainLocal.test(local)) return { text: bracketedIri(iri), prefixes: [] };
    return { text: `${prefix}:${local}`, prefixes: [prefix] };
  }

  /** Writes short names, and the declarations of the prefixes that these need. */
  writer() {
    const used = new Set<string>();
    return {
      write: (iri: string): string => {
        const { text, prefixes } = this.short(iri);
        for (const prefix of prefixes) used.add(prefix);
        return text;
      },
      declarations: (): readonly string[] => [...used].toSorted().map((prefix) => this.declaration(prefix)),
    };
  }

  /** Namespace of a prefix of this table. */
  namespace(prefix: string): string | undefined {
    return this.#byPrefix.get(prefix);
  }

  /** `PREFIX prefix: <namespace>`. @throws RangeError for a prefix of another table */
  declaration(prefix: string): string {
    return `PREFIX ${prefix}: <${valueFor(this.#byPrefix, prefix)}>`;
  }

  /** The IRI that `prefix:local` stands for; undefined for an unknown prefix. */
  expand(name: string): string | undefined {
    const [, prefix = "", local = ""] = curie.exec(name) ?? [];
    const namespace = this.#byPrefix.get(prefix);
    return namespace === undefined ? undefined : namespace + local;
  }
}

/** How often each namespace occurs with a local name that can stand behind a prefix. */
function namespaceUses(iris: Iterable<string>): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  for (const iri of iris) {
    const { namespace, local } = iriParts(iri);
    if (plainLocal.test(local)) uses.set(namespace, (uses.get(namespace) ?? 0) + 1);
  }
  return uses;
}

function namespacesToName(uses: ReadonlyMap<string, number>): readonly string[] {
  return [...uses]
    .filter(([namespace, count]) => count > 1 && isNameable(namespace))
    .toSorted(([left, few], [right, many]) => many - few || (left < right ? -1 : 1))
    .slice(0, maxNamespaces)
    .map(([namespace]) => namespace);
}

/** A namespace that needs no escapes in its declaration and has no prefix yet. */
function isNameable(namespace: string): boolean {
  if (wellKnownPrefixes.has(namespace) || namespace.length > maxNamespaceLength) return false;
  return /^[a-z][a-z0-9+.-]*:./i.test(namespace) && bracketedIri(namespace).length === namespace.length + 2;
}

/** The last telling segment of the path, else of the host (without its top-level domain), else of a URN. */
function derivedPrefix(namespace: string): string {
  const url = URL.parse(namespace);
  const host = url?.hostname.split(".").slice(0, -1) ?? [];
  const path = url === null ? "" : `${url.pathname}${url.search}${url.hash}`;
  const segments = [...host, ...path.split(/[/#:?&=;,.]+/)].map(letters);
  const telling = segments.filter((segment) => segment.length > 1 && !generic.has(segment));
  return telling.at(-1)?.slice(0, 12) ?? "ns";
}

/** Lower-case letters and digits of a segment, from its first letter on; empty for versions and dates. */
function letters(segment: string): string {
  const name = segment
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "")
    .replace(/^\d+/, "");
  return /^v?\d*$/.test(name) ? "" : name;
}

function freePrefix(wanted: string, taken: ReadonlyMap<string, string>): string {
  if (!taken.has(wanted)) return wanted;
  let number = 2;
  while (taken.has(`${wanted}${number}`)) number++;
  return `${wanted}${number}`;
}

const tables = new WeakMap<NamedSchema, PrefixTable>();

const most = 50_000;

/** A schema, and what the builder of a shard states of it. */
type NamedSchema = KnownSchema & Pick<VoidDescription, "built">;

/** Every class, property and datatype of a description, as often as it occurs, as far as the first 50,000. */
function* descriptionIris(description: NamedSchema): Generator<string> {
  let given = 0;
  for (const iri of all(description)) {
    yield iri;
    if (++given === most) return;
  }
}

function* all({ classPartitions, propertyPartitions, linksets, built }: NamedSchema): Generator<string> {
  for (const partition of classPartitions) {
    yield partition.class;
    yield* ofProperties(partition.properties);
  }
  yield* ofProperties(propertyPartitions);
  for (const { property } of linksets) yield property;
  for (const { subjectClasses, objectClasses } of built?.properties ?? []) yield* [...subjectClasses, ...objectClasses];
  for (const { siblings } of built?.parts ?? []) for (const { properties } of siblings) yield* properties;
}

function* ofProperties(properties: readonly KnownProperty[]): Generator<string> {
  for (const { property, objectClasses, datatypes } of properties) {
    yield property;
    for (const { iri } of objectClasses) yield iri;
    for (const { iri } of datatypes) yield iri;
  }
}
