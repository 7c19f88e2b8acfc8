import type * as RDF from "@rdfjs/types";
import { rdf } from "../../src/rdf/vocabularies.ts";
import { type TextEdit, type Query, parseQuery, type TokenRange } from "../../src/sparql/query.ts";
import { type PatternTerm } from "../../src/sparql/patterns.ts";
import type { Random } from "./random.ts";
import type { DataTruth, PropertyTruth } from "./void-truth.ts";

/** A term of a triple pattern with its tokens. */
interface Written {
  readonly term: PatternTerm;
  readonly range: TokenRange;
}

interface WrittenTriple {
  readonly subject: Written;
  readonly predicate: Written;
  readonly object: Written;
}

/** What a break looks at. */
interface Breakable {
  readonly parsed: Query;
  readonly triples: readonly WrittenTriple[];
  /** Constants that comparisons have, and the variable on the other side. */
  readonly compared: readonly { readonly name: string; readonly constant: Written }[];
  readonly truth: DataTruth;
  readonly random: Random;
}

type Break = (query: Breakable) => readonly TextEdit[] | undefined;

/** A query that its data contradict: a right one, changed as people and models do. Undefined where it cannot be broken so. */
export function broken(text: string, kind: string, known: Pick<Breakable, "truth" | "random">): string | undefined {
  const parsed = parseQuery(text);
  const edits = breaks[kind]?.({ parsed, ...known, ...writtenIn(parsed) });
  return edits === undefined || edits.length === 0 ? undefined : parsed.cut(edits);
}

/** The triple patterns that are written out, and the constants of comparisons. */
export function writtenIn(parsed: Query): Pick<Breakable, "triples" | "compared"> {
  const triples: WrittenTriple[] = [];
  const compared: { name: string; constant: Written }[] = [];
  const written = (node: object): Written | undefined => {
    const range = parsed.places.get(node as never);
    if (range === undefined || !("termType" in node)) return undefined;
    const { termType, value } = node as RDF.Term;
    if (termType === "NamedNode") return { range, term: { kind: "iri", iri: value } };
    if (termType === "Literal") return { range, term: { kind: "literal", literal: node as RDF.Literal } };
    return { range, term: { kind: "variable", name: termType === "BlankNode" ? `_:${value}` : value } };
  };
  const compare = (args: readonly object[]): void => {
    const sides = args.map((each) => written(each));
    const variable = sides.find((each) => each?.term.kind === "variable")?.term;
    const constant = sides.find((each) => each !== undefined && each.term.kind !== "variable");
    if (variable?.kind === "variable" && constant) compared.push({ name: variable.name, constant });
  };
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null || "termType" in node) return;
    const ends = endsOf(node);
    if (ends) {
      const [subject, predicate, object] = ends.map((each) => written(each));
      if (subject && predicate && object) triples.push({ subject, predicate, object });
      return;
    }
    if ("operator" in node && "args" in node && /^(?:[<>]?=|[<>])$/.test(String(node.operator))) {
      compare(node.args as readonly object[]);
    }
    for (const inner of Object.values(node)) visit(inner);
  };
  visit(parsed.ast);
  return { triples, compared };
}

const endsOf = (node: object): readonly object[] | undefined =>
  "subject" in node && "predicate" in node && "object" in node
    ? ([node.subject, node.predicate, node.object] as readonly object[])
    : undefined;
const nameOf = ({ term }: Written): string | undefined => (term.kind === "variable" ? term.name : undefined);
const iriOf = ({ term }: Written): string | undefined => (term.kind === "iri" ? term.iri : undefined);
const isType = ({ predicate }: WrittenTriple): boolean => iriOf(predicate) === rdf.type;
const truthOf = ({ predicate }: WrittenTriple, { propertyPartitions }: DataTruth): PropertyTruth | undefined =>
  propertyPartitions.get(iriOf(predicate) ?? "");

function pick<T>(items: readonly T[], random: Random): T | undefined {
  return items[random.below(Math.max(1, items.length))];
}

/** Joins by IRIs: the value of one pattern is the subject of another. */
const linksOf = ({ triples, truth }: Breakable): readonly WrittenTriple[] =>
  triples.filter((triple) => {
    const { datatypes = new Map(), objectClasses = new Map() } = truthOf(triple, truth) ?? {};
    const value = nameOf(triple.object);
    const goesOn = triples.some((other) => other !== triple && nameOf(other.subject) === value && !isType(other));
    return !isType(triple) && value !== undefined && goesOn && datatypes.size === 0 && objectClasses.size > 0;
  });

const classesWith = (property: string, { classPartitions }: DataTruth): readonly string[] =>
  [...classPartitions].flatMap(([iri, { properties }]) => (properties.has(property) ? [iri] : []));

/** Literals of properties, and of comparisons with values of properties. */
function constantsOf({ triples, compared, truth }: Breakable) {
  const objects = triples.flatMap((triple) =>
    triple.object.term.kind === "literal" ? [{ triple, constant: triple.object }] : [],
  );
  const others = compared.flatMap(({ name, constant }) => {
    const triple = triples.find(({ object }) => nameOf(object) === name);
    return triple && constant.term.kind === "literal" ? [{ triple, constant }] : [];
  });
  return [...objects, ...others].flatMap(({ triple, constant }) => {
    const facts = truthOf(triple, truth);
    const { term } = constant;
    return facts && term.kind === "literal" ? [{ facts, range: constant.range, literal: term.literal }] : [];
  });
}

const string = "http://www.w3.org/2001/XMLSchema#string";

/** The ways in which queries are broken, by kind. */
export const breaks: Readonly<Record<string, Break>> = {
  "wrong class": ({ parsed, triples, truth, random }) => {
    const typed = triples.filter((triple) => isType(triple) && iriOf(triple.object) !== undefined);
    const ways = typed.flatMap(({ subject, object }) => {
      const used = triples.flatMap((other) =>
        nameOf(other.subject) === nameOf(subject) && !isType(other) ? (iriOf(other.predicate) ?? []) : [],
      );
      const others = [...truth.classPartitions].filter(([, { properties }]) =>
        used.some((iri) => !properties.has(iri)),
      );
      return others.map(([iri]) => ({ range: object.range, replacement: parsed.prologue.written(iri) }));
    });
    const way = pick(ways, random);
    return way && [way];
  },
  "join reversed": (query) => {
    const { parsed, truth, random } = query;
    const links = linksOf(query).filter(({ subject, predicate, object }) => {
      const { objectClasses = new Map<string, number>() } = truthOf({ subject, predicate, object }, truth) ?? {};
      const isOneWay = !classesWith(iriOf(predicate) ?? "", truth).some((iri) => objectClasses.has(iri));
      return isOneWay && subject.range.to === predicate.range.from;
    });
    const link = pick(links, random);
    return (
      link && [
        { range: link.subject.range, replacement: parsed.textOf(link.object.range) },
        { range: link.object.range, replacement: parsed.textOf(link.subject.range) },
      ]
    );
  },
  "node skipped": (query) => {
    const { parsed, triples, truth, random } = query;
    const link = pick(
      linksOf(query).filter(({ subject, predicate, object }) => {
        const isApart = subject.range.to === predicate.range.from && parsed.tokens[object.range.to]?.text === ".";
        return isApart && nameOf(subject) !== undefined;
      }),
      random,
    );
    if (link === undefined) return undefined;
    const value = nameOf(link.object);
    const own = triples.filter((triple) => triple !== link && nameOf(triple.subject) === value);
    const types = own.filter((triple) => isType(triple) && parsed.tokens[triple.object.range.to]?.text === ".");
    const without = [link, ...types].map(({ subject, object }) => ({
      range: { from: subject.range.from, to: object.range.to + 1 },
      replacement: " ",
    }));
    const ownClasses = triples.flatMap((each) =>
      isType(each) && nameOf(each.subject) === nameOf(link.subject) ? (iriOf(each.object) ?? []) : [],
    );
    // Where what the node has fits the subject as well, the query is another right one.
    if (
      own.every(({ predicate }) =>
        ownClasses.some((iri) => truth.classPartitions.get(iri)?.properties.has(iriOf(predicate) ?? "")),
      )
    )
      return undefined;
    const moved = own
      .filter((triple) => !types.includes(triple) && triple.subject.range.to === triple.predicate.range.from)
      .map(({ subject }) => ({ range: subject.range, replacement: parsed.textOf(link.subject.range) }));
    return moved.length === 0 ? undefined : [...without, ...moved];
  },
  "value as IRI": (query) => {
    const constant = pick(
      constantsOf(query).filter(
        ({ literal, facts }) => facts.objectClasses.size === 0 && /^[\p{L}\d .-]+$/u.test(literal.value),
      ),
      query.random,
    );
    const name = constant?.literal.value.replaceAll(" ", "_") ?? "";
    return constant && [{ range: constant.range, replacement: ` <http://data.example/${encodeURIComponent(name)}> ` }];
  },
  "date or number as text": (query) => {
    const typed = constantsOf(query).filter(
      ({ literal, facts }) =>
        literal.language === "" && literal.datatype.value !== string && !facts.datatypes.has(string),
    );
    const constant = pick(typed, query.random);
    return constant && [{ range: constant.range, replacement: JSON.stringify(constant.literal.value) }];
  },
  "text as number": (query) => {
    const texts = constantsOf(query).filter(
      ({ literal: { datatype }, facts }) =>
        datatype.value === string && facts.datatypes.size === 1 && facts.datatypes.has(string),
    );
    const constant = pick(texts, query.random);
    return constant && [{ range: constant.range, replacement: String(query.random.below(1000)) }];
  },
  "keys unlike": (query) => {
    const { parsed, truth, random } = query;
    const ways = linksOf(query).flatMap(({ predicate }) => {
      const classes = classesWith(iriOf(predicate) ?? "", truth).flatMap((iri) => truth.classPartitions.get(iri) ?? []);
      const literals = classes.flatMap(({ properties }) =>
        [...properties].filter(([, { objectClasses, datatypes }]) => objectClasses.size === 0 && datatypes.size > 0),
      );
      return literals.map(([iri]) => ({ range: predicate.range, replacement: parsed.prologue.written(iri) }));
    });
    const way = pick(ways, random);
    return way && [way];
  },
};
