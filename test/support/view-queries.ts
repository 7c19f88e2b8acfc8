import { createRandom } from "./random.ts";
import type { Triple } from "./described-data.ts";

/** A query over the default graph that any two of the generated graphs may answer together. */
export interface ViewQuery {
  readonly shape: string;
  readonly text: string;
}

const rdfType = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const xsdNumber = /\^\^<http:\/\/www\.w3\.org\/2001\/XMLSchema#(?:double|decimal)>$/u;

/** Draws queries from the terms of a graph, so that most have answers; each shape comes equally often. */
export function viewQueries(
  triples: readonly Triple[],
  options: { seed: number; count: number },
): readonly ViewQuery[] {
  const random = createRandom(options.seed);
  const plain = triples.filter(([, predicate, object]) => predicate !== rdfType && !xsdNumber.test(object));
  const types = triples.filter(([, predicate]) => predicate === rdfType);
  const bySubject = Map.groupBy(plain, ([subject]) => subject);
  const some = (): Triple => random.pick(plain);
  const type = (): string => random.pick(types)[2];
  /** A property of the subject of a triple. */
  const besides = ([subject]: Triple): string => random.pick(bySubject.get(subject) ?? plain)[1];
  const typed = new Map(types.map(([subject, , object]) => [subject, object]));

  const shapes: Readonly<Record<string, () => string>> = {
    "class and property": () => {
      const triple = some();
      return `?s a ${typed.get(triple[0]) ?? type()} . ?s ${triple[1]} ?o`;
    },
    star: () => {
      const triple = some();
      return `?s ${triple[1]} ?a . ?s ${besides(triple)} ?b`;
    },
    path: () => {
      const links = plain.filter(([, , object]) => typed.has(object));
      const [, property, object] = random.pick(links);
      return `?s ${property} ?o . ?o a ${typed.get(object) ?? type()}`;
    },
    object: () => {
      const [, property, object] = some();
      return `?s ${property} ${object}`;
    },
    subject: () => `${some()[0]} ?p ?o`,
    "subject and object": () => {
      const [subject, , object] = some();
      return `${subject} ?p ${object}`;
    },
    union: () => `{ ?s a ${type()} } UNION { ?s ${some()[1]} ?o }`,
    optional: () => {
      const triple = some();
      return `?s a ${typed.get(triple[0]) ?? type()} OPTIONAL { ?s ${triple[1]} ?o }`;
    },
    "any predicate": () => `?s a ${type()} . ?s ?p ?o`,
    "instances of classes": () => `?s a ?c . ?c a <http://www.w3.org/2002/07/owl#Class>`,
  };
  const names = Object.keys(shapes);
  return Array.from({ length: options.count }, (_, index) => {
    const shape = names[index % names.length] ?? "star";
    return { shape, text: `SELECT * WHERE { ${shapes[shape]?.() ?? ""} }` };
  });
}
