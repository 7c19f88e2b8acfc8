import { amountText } from "../../figures.ts";
import type { VoidDescription } from "../descriptions/void-description.ts";
import type { ViewContent, ViewLine, ViewLines } from "./compose-view.ts";
import { listing, readableName, severalOf } from "./names-in-words.ts";
import { iriParts, plainText } from "../../rdf/display-text.ts";

/** A class whose instances lie here and elsewhere. */
export interface Part {
  readonly class: string;
  /** "builder": stated by the builder of the shards; "derived": the descriptions of other members of a federation have the class too. */
  readonly source: "builder" | "derived";
  /** How many endpoints have a part, this one included. */
  readonly parts: number;
  /** Those of the others that are named, and the properties of the class that are known to be there. */
  readonly siblings: readonly { readonly endpoint: string; readonly properties: readonly string[] }[];
  /** Catalogue id of the federation whose members they are; absent for shards. */
  readonly federation?: string | undefined;
}

const mostParts = 8;
const mostSiblings = 3;
const mostProperties = 5;

/** The parts that the builder of a shard states. */
export const builtParts = (built: VoidDescription["built"]): readonly Part[] =>
  (built?.parts ?? []).map(({ class: iri, parts, siblings }) => ({ class: iri, source: "builder", parts, siblings }));

/** The parts that a view shows: of the classes that were chosen. */
export const shownParts = ({ parts, chosen }: ViewContent): readonly Part[] =>
  parts.filter(({ class: iri }) => chosen.all || chosen.iris.has(iri)).slice(0, mostParts);

/** The lines of a view with those on parts of classes in front. */
export function withParts(content: ViewContent, lines: ViewLines): ViewLines {
  const shown = shownParts(content).map((part) => partLine(content, part));
  if (shown.length === 0) return lines;
  return {
    ...lines,
    body: function* body(most) {
      yield* shown;
      yield* lines.body(most);
    },
    total: lines.total + shown.length,
  };
}

/** `One of 2 parts of ex:People; the other is shop-b (ex:name, ex:age), as the shard builder says`. */
function partLine({ table }: ViewContent, part: Part): ViewLine {
  const name = table.short(part.class);
  const prefixes = [...name.prefixes];
  const others = part.siblings.slice(0, mostSiblings).map(({ endpoint, properties }) => {
    const names = properties.slice(0, mostProperties).map((iri) => table.short(iri));
    for (const each of names) prefixes.push(...each.prefixes);
    const more = properties.length > names.length ? `, +${properties.length - names.length}` : "";
    return names.length === 0 ? endpoint : `${endpoint} (${names.map(({ text }) => text).join(", ")}${more})`;
  });
  return {
    text: `${partText(name.text, part, others)}${toldBy(part)}`,
    prefixes,
    part,
  };
}

const toldBy = ({ source, federation }: Part): string =>
  source === "builder" ? ", as the shard builder says" : `, by the descriptions of federation ${federation ?? ""}`;

function partText(name: string, { source, parts }: Part, others: readonly string[]): string {
  const unnamed = parts - 1 - others.length;
  const listed = listing([...others, ...(unnamed > 0 ? [`${unnamed} more`] : [])]);
  if (source === "derived") return `${name} are also at ${listed}`;
  return `One of ${parts} parts of ${name}; the ${parts === 2 ? "other is" : "others are"} ${listed}`;
}

/** "One of 2 parts of people; the other is shop-b, as the shard builder says." Undefined without parts. */
export function partSentence([part, ...more]: readonly Part[]): string | undefined {
  if (part === undefined) return undefined;
  const name = severalOf(readableName(part.class) ?? plainText(iriParts(part.class).local || part.class, 60));
  const others = part.siblings.slice(0, mostSiblings).map(({ endpoint }) => endpoint);
  const rest = more.length === 0 ? "" : ` (likewise ${amountText(more.length, "more class")})`;
  const text = partText(name, part, others);
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${toldBy(part)}${rest}.`;
}
