import { numberText } from "../figures.ts";
import type { SchemaJson } from "../registry/schema.ts";
import { type Cell, unknown, type View } from "./view.ts";

type SchemaFact = NonNullable<SchemaJson["facts"]>[number];
type SchemaClass = NonNullable<SchemaJson["classes"]>[number];
type CountValue = NonNullable<SchemaFact["count"]> | null;
type FactStatus = NonNullable<CountValue>["status"];

const statusTexts: Readonly<Record<FactStatus, string>> = {
  exact: "exact",
  lowerBound: "lower bound",
  exists: "at least, seen to exist",
  sampled: "seen in a sample",
  claimed: "stated by the publisher",
};

const signs: Readonly<Record<FactStatus, string>> = {
  exact: "",
  lowerBound: "≥ ",
  exists: "≥ ",
  sampled: "~ ",
  claimed: "",
};

/** The summary of an endpoint's schema: counts, the largest classes, and facts that are lists. */
export function descriptionView({
  facts = [],
  classes = [],
  prefixes,
}: Pick<SchemaJson, "facts" | "classes" | "prefixes">): View {
  const counted = facts.filter(({ count }) => count !== undefined);
  const listed = facts.filter(({ fact, values }) => values !== undefined && fact !== "source");
  return {
    title: "data",
    children: [
      {
        title: "statistics",
        table: { columns: ["What", "#Count", "How it is known", "List"], rows: counted.map(countRow) },
      },
      classes.length === 0
        ? { title: "largest classes", lines: ["No class is known."] }
        : {
            title: "largest classes",
            table: {
              columns: ["Class", "#Instances", "How it is known"],
              rows: classes.map((each) => classRow(each, prefixes)),
            },
          },
      { title: "more", facts: listed.map(({ fact, values = [] }) => [fact, values]) },
    ],
  };
}

/** A number with the sign of what is known of it: exact, at least, or about. */
export const countWithSign = ({ value, status }: NonNullable<CountValue>): string =>
  `${signs[status]}${numberText(value)}`;

const countCells = (count: CountValue | undefined): readonly Cell[] =>
  count ? [countWithSign(count), statusTexts[count.status]] : [unknown, unknown];

const countRow = ({ fact, count, complete }: SchemaFact): readonly Cell[] => [
  fact,
  ...countCells(count),
  complete === undefined ? undefined : complete ? "complete" : "perhaps not all",
];

function classRow({ iri, status, entities }: SchemaClass, prefixes: SchemaJson["prefixes"]): readonly Cell[] {
  const counts = entities === null ? [unknown, `class: ${statusTexts[status]}`] : countCells(entities);
  return [{ text: shortName(iri, prefixes), path: `/?class=${encodeURIComponent(iri)}`, title: iri }, ...counts];
}

/** `prefix:name`, where the view declares a prefix for the namespace; else the IRI. */
function shortName(iri: string, prefixes: SchemaJson["prefixes"]): string {
  const known = Object.entries(prefixes).find(([, namespace]) => iri.startsWith(namespace) && iri !== namespace);
  const local = known && iri.slice(known[1].length);
  return local === undefined || /[#/:]/.test(local) ? iri : `${known?.[0]}:${local}`;
}
