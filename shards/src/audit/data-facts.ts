import { compareText } from "../../../src/rdf/canonical.ts";
import { type JsonTerm, type Solution, valueOf, type WholeStore } from "../package/whole-store.ts";

/** Facts about the data for the checks. */
export interface DataFacts {
  /** Literals of each property, in the order of the store. */
  readonly values: ReadonlyMap<string, readonly JsonTerm[]>;
  /** Properties that several things have these values of. */
  readonly propertiesOf: ReadonlyMap<string, ReadonlySet<string>>;
  /** Properties of the instances of each class. */
  readonly classes: ReadonlyMap<string, ReadonlySet<string>>;
  /** Classes of the things that each property has as objects. */
  readonly objectClasses: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Datasets with more different values have no checks of values. */
const mostValues = 200_000;
const longest = 200;
const ofLiterals = `WHERE { ?s ?property ?value FILTER(isLiteral(?value) && STRLEN(STR(?value)) <= ${longest}) }`;

/** Reads the literals of a dataset, each once; or why they are not read. */
export async function readDataFacts(store: WholeStore): Promise<DataFacts | { readonly why: string }> {
  if (!store.hasShards) return { why: "The dataset has named graphs." };
  // Found by going through a part of the data, while groups are there when all have been counted.
  const beyond = `SELECT ?value { SELECT DISTINCT ?property ?value ${ofLiterals} OFFSET ${mostValues} LIMIT 1 }`;
  if ((await solutionsOf(store, beyond)).length > 0)
    return { why: `The dataset has more than ${mostValues} different values.` };
  const literals = await solutionsOf(
    store,
    `SELECT ?property ?value (COUNT(*) AS ?count) ${ofLiterals} GROUP BY ?property ?value`,
  );
  const values = new Map<string, JsonTerm[]>();
  const propertiesOf = new Map<string, Set<string>>();
  for (const { property, value, count } of literals.toSorted(byText)) {
    if (value === undefined) continue;
    const [name, text] = [valueOf(property), valueOf(value).trim()];
    const known = values.get(name) ?? [];
    known.push(value);
    values.set(name, known);
    const isShared = Number(valueOf(count)) > 1;
    if (isShared) propertiesOf.set(text, (propertiesOf.get(text) ?? new Set()).add(name));
  }
  const classes = await pairsOf(store, "SELECT DISTINCT ?of ?one { ?s a ?of ; ?one ?o } ORDER BY ?of ?one");
  const objectClasses = await pairsOf(store, "SELECT DISTINCT ?of ?one { ?s ?of ?o . ?o a ?one } ORDER BY ?of ?one");
  return { values, propertiesOf, classes, objectClasses };
}

async function pairsOf(store: WholeStore, query: string): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = new Map<string, Set<string>>();
  for (const { of, one } of await solutionsOf(store, query)) {
    found.set(valueOf(of), (found.get(valueOf(of)) ?? new Set()).add(valueOf(one)));
  }
  return found;
}

const byText = (left: Solution, right: Solution): number => compareText(JSON.stringify(left), JSON.stringify(right));

async function solutionsOf(store: WholeStore, query: string) {
  const answer = await store.ask(query);
  return answer.kind === "bindings" ? answer.solutions : [];
}
