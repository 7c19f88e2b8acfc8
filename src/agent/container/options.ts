import type { Building, Column } from "./draft.ts";
import type { Hop, PropertyChoice, Schema } from "./schema.ts";

/** Properties and paths that can be chosen, each for a node of the draft; their numbers are their places in these lists, from 1. */
export interface Options {
  readonly classes: Schema["classes"];
  readonly properties: readonly (PropertyChoice & { readonly node: string })[];
  /** `to`: the path ends at a node that is there already. */
  readonly paths: readonly { readonly node: string; readonly hops: readonly Hop[]; readonly to?: string }[];
  readonly columns: readonly Column[];
}

/** Everything that can be chosen next. */
export function optionsOf({ draft }: Building, schema: Schema): Options {
  const nodes = draft.columns.filter(({ kind }) => kind === "node");
  return {
    classes: schema.classes,
    properties: nodes.flatMap(({ variable, iri, at }) =>
      schema
        .properties(iri, at)
        .map(({ at: where, property, kind }) => ({ at: where, property, kind, node: variable })),
    ),
    paths: nodes.flatMap(({ variable, iri, at }) =>
      schema.paths(iri, at).flatMap((hops) => {
        const others = ends(hops, nodes).filter((to) => to !== variable);
        return [{ node: variable, hops }].concat(others.map((to) => ({ node: variable, hops, to })));
      }),
    ),
    columns: draft.columns,
  };
}

/** Nodes of the class that a path of one hop leads to. */
function ends(hops: readonly Hop[], nodes: readonly Column[]): readonly string[] {
  const [hop] = hops;
  return hops.length === 1 ? nodes.filter(({ iri }) => iri === hop?.class).map(({ variable }) => variable) : [];
}

/** Lists whose items are numbered; `step` is what a number of it is for. */
export interface NumberedList {
  readonly step: "class" | "property" | "path" | "filter";
  readonly items: readonly string[];
  /** Items behind the last one that is shown. */
  readonly more: number;
}

const mostShown = 40;

/**
 * A list as numbered lines, as many as an answer has room for.
 * @param words only lines with all of these; they keep their numbers
 */
export function numbered(
  step: NumberedList["step"],
  options: Options,
  { schema, words }: { readonly schema: Schema; readonly words: string },
): NumberedList {
  const name = (iri: string): string => schema.table.short(iri).text;
  const where = (at: string): string => (schema.sources.length > 1 ? ` at ${at}` : "");
  const lines: Readonly<Record<NumberedList["step"], () => readonly string[]>> = {
    class: () => options.classes.map(({ class: iri, at }) => `${name(iri)}${where(at)}`),
    property: () =>
      options.properties.map(({ node, property, kind, at }) => `?${node} ${name(property)} (${kind})${where(at)}`),
    path: () =>
      options.paths.map(
        ({ node, hops, to }) =>
          `?${node} ${hops.map((hop) => hopText(hop, name)).join(" ")}${to === undefined ? "" : ` = ?${to}`}`,
      ),
    filter: () => options.columns.map(({ variable, kind, iri }) => `?${variable} (${kind}, ${name(iri)})`),
  };
  const wanted = words.toLowerCase().split(/\s+/);
  const items = lines[step]()
    .map((line, index) => `${index + 1}. ${line}`)
    .filter((line) => wanted.every((word) => line.toLowerCase().includes(word)));
  return { step, items: items.slice(0, mostShown), more: Math.max(0, items.length - mostShown) };
}

const hopText = ({ property, back, class: iri }: Hop, name: (iri: string) => string): string =>
  `${back ? "<-" : "-"} ${name(property)} ${back ? "-" : "->"} ${name(iri)}`;
