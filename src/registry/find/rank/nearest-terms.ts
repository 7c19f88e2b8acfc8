import { LRUCache } from "lru-cache";
import type { Suggestion } from "../../../errors/fedway-error.ts";
import type { TermKind } from "../../model/schema.ts";
import { bracketedIri, iriParts } from "../../../rdf/display-text.ts";
import type { SearchedTexts } from "../tables/texts.ts";
import { sizedByKey } from "../../../cache-size.ts";
import { editDistance } from "../../../errors/nearest.ts";
import { stemOf } from "../words/forms.ts";
import { nameWords } from "../words/words.ts";

const mostNearest = 3;
/** Terms that one is compared with; of a larger schema the most frequent ones. Planning waits for it. */
const mostCompared = 1_000;
/** Parts of IRIs that were compared before. */
const known = new LRUCache<string, ComparedIri>(sizedByKey(16, { perCharacter: 12 }));

function knownIri(iri: string): ComparedIri {
  const parts = known.get(iri) ?? comparedIri(iri);
  known.set(iri, parts);
  return parts;
}

const neighbourBonus = 0.04;
/** How much less like the wanted one a neighbour may be and still come first. */
const neighbourLead = 0.15;

/**
 * The classes, or properties, of some endpoints that are most like one, best first; of those equally like it the more frequent.
 * @param near terms that stand beside it in the data, which are likelier
 */
export function nearestTerms(
  { models }: SearchedTexts,
  ids: readonly string[],
  {
    kind,
    iri,
    near,
  }: { readonly kind: TermKind; readonly iri: string; readonly near?: ReadonlySet<string> | undefined },
): readonly Suggestion[] {
  const counts = new Map<string, number>();
  for (const id of ids) {
    for (const term of models.get(id)?.described?.terms(kind) ?? []) {
      const before = counts.get(term.iri);
      if (before === undefined && counts.size === mostCompared) continue;
      counts.set(term.iri, (before ?? 0) + (term.count?.value ?? 0));
    }
  }
  const wanted = comparedIri(iri);
  const beside = kind === "class" ? ", has these properties" : ", of the same class";
  return [...counts]
    .flatMap(([term, count]) => {
      const like = iriLikeness(wanted, knownIri(term));
      const isNear = near?.has(term) === true;
      if (like === undefined) return [];
      const score = Math.min(0.99, like.score + (isNear ? neighbourBonus : 0));
      const rank = like.score + (isNear ? neighbourLead : 0);
      return [{ count, term, score, rank, why: termDifferences[like.kind] + (isNear ? beside : "") }];
    })
    .toSorted((one, other) => other.rank - one.rank || other.count - one.count || (one.term < other.term ? -1 : 1))
    .slice(0, mostNearest)
    .map(({ term, score, why }) => ({ term: bracketedIri(term), score: Math.round(score * 100) / 100, why }));
}

/** Kinds of difference between two IRIs, with the text for the reader. */
export const termDifferences = {
  scheme: "http instead of https, or the other way round",
  slash: "another end of the IRI",
  case: "other case or separators",
  namespace: "another namespace",
  spelling: "nearly the same spelling",
  words: "some of the same words",
} as const;

/** Similarity of two IRIs, from 0 to 1, and their difference. */
interface TermLikeness {
  readonly kind: keyof typeof termDifferences;
  readonly score: number;
}

/** An IRI that is compared with many others: its parts are computed once. */
interface ComparedIri {
  readonly iri: string;
  readonly folded: string;
  readonly namespace: string;
  readonly local: string;
  /** The local name in lower case, within bounds. */
  readonly name: string;
  /** Its words in one. */
  readonly joined: string;
  /** The stems of its words, with blanks between. */
  readonly stem: string;
  readonly stems: ReadonlySet<string>;
  /** Those of the class, or path, that stands before the local name. */
  readonly context: ReadonlySet<string>;
}

/** An IRI with its parts. */
function comparedIri(iri: string): ComparedIri {
  const { namespace, local } = iriParts(iri);
  const words = partsOf(local);
  const stems = words.map(stemOf);
  const folder = /\/([^/#]+)[/#]$/.exec(namespace);
  const host = namespace.indexOf("//");
  const before = folder !== null && host >= 0 && host + 2 <= folder.index ? (folder[1] ?? "") : "";
  const name = local.slice(0, 128).toLowerCase();
  return {
    iri,
    folded: folded(iri),
    namespace,
    local,
    name,
    joined: words.join(""),
    stem: stems.join(" "),
    stems: new Set(stems),
    context: new Set(partsOf(before).map(stemOf)),
  };
}

const partsOf = (name: string): readonly string[] => nameWords(name).map((word) => word.toLowerCase());

/** How like two IRIs are; undefined when they are not. */
function iriLikeness(wanted: ComparedIri, candidate: ComparedIri): TermLikeness | undefined {
  if (wanted.folded === candidate.folded) return sameButFor(wanted.iri, candidate.iri);
  const names = nameLikeness(wanted, candidate);
  // Namespaces are long; they are compared where it matters only.
  return names && { ...names, score: names.score * spaceFactor(wanted.namespace, candidate.namespace) };
}

function nameLikeness(wanted: ComparedIri, candidate: ComparedIri): TermLikeness | undefined {
  if (wanted.local === "" || candidate.local === "") return undefined;
  if (wanted.local === candidate.local) return { kind: "namespace", score: 0.95 };
  if (wanted.joined === candidate.joined) return { kind: "case", score: 0.93 };
  if (wanted.stem === candidate.stem) return { kind: "spelling", score: 0.9 };
  return misspelt(wanted.name, candidate.name) ?? sharedWords(wanted, candidate);
}

const folded = (iri: string): string =>
  iri
    .replace(/^https:/, "http:")
    .replaceAll(/[#._-]/g, "/")
    .replace(/\/$/, "")
    .toLowerCase();

function sameButFor(wanted: string, candidate: string): TermLikeness {
  const [one, other] = [wanted, candidate].map((iri) => iri.replace(/^https?:/, ""));
  if (one === other) return { kind: "scheme", score: 0.95 };
  const isEnd = one?.replace(/[/#]$/, "") === other?.replace(/[/#]$/, "");
  return { kind: isEnd ? "slash" : "case", score: 0.95 };
}

/** A namespace that is nearly the same was probably meant. */
function spaceFactor(one: string, other: string): number {
  if (one === other) return 1;
  const [left, right] = [folded(one), folded(other)];
  if (left === right) return 0.99;
  return editDistance(left, right, 2) <= 2 ? 0.98 : 0.92;
}

function misspelt(left: string, right: string): TermLikeness | undefined {
  const cap = Math.max(1, Math.floor(Math.max(left.length, right.length) / 3));
  const distance = editDistance(left, right, cap);
  if (distance > cap) return undefined;
  const share = distance / Math.max(left.length, right.length);
  return { kind: "spelling", score: 0.93 - share };
}

/** `people_id` has "people" from its class, which distinguishes it from nothing else there; a name that is part of the other is likelier. */
function sharedWords(wanted: ComparedIri, { stems, context }: ComparedIri): TermLikeness | undefined {
  const [left, right] = [wanted.stems, stems].map((words) => words.difference(context));
  if (left === undefined || right === undefined) return undefined;
  const shared = [...left.intersection(right)].filter(({ length }) => length > 2).length;
  if (shared === 0) return undefined;
  const [least, most] = [Math.min(left.size, right.size), Math.max(left.size, right.size)];
  return { kind: "words", score: 0.6 * (shared / most) + (shared === least ? 0.15 : 0) };
}

/** The same for two IRIs that are compared once. */
export const likenessOfIris = (wanted: string, candidate: string): TermLikeness | undefined =>
  iriLikeness(comparedIri(wanted), comparedIri(candidate));
