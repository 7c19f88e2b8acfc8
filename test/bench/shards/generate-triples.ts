import { closeSync, openSync, writeSync } from "node:fs";

const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const subjectTriples = 10;

/** Vocabulary of the generated dataset. */
export const vocabulary = (name: string): string => `http://example.org/vocabulary#${name}`;

/** One subject: its type, then links, numbers and texts in turn. Subjects do not come in the order of their IRIs. */
function linesOf(index: number, subjects: number): string {
  // A prime far from powers of ten: each subject comes once.
  const subject = `<http://example.org/data/entity/${(index * 7_919) % subjects}>`;
  const lines = [`${subject} ${type} <${vocabulary(`Class${index % 20}`)}> .`];
  for (let property = 0; property < subjectTriples - 1; property += 1) {
    const head = `${subject} <${vocabulary(`property${property}`)}>`;
    if (property % 3 === 0) lines.push(`${head} "text number ${index} of property ${property}, with some words" .`);
    else if (property % 3 === 1)
      lines.push(`${head} <http://example.org/data/entity/${(index * 31 + property) % subjects}> .`);
    else lines.push(`${head} "${index * property}"^^<http://www.w3.org/2001/XMLSchema#integer> .`);
  }
  return `${lines.join("\n")}\n`;
}

/** Writes a dataset of N-Triples, ten a subject, each in one of 20 classes; the same for the same number. */
export function generateTriples(path: string, triples: number): void {
  const subjects = triples / subjectTriples;
  const file = openSync(path, "w");
  try {
    for (let from = 0; from < subjects; from += 5_000) {
      const count = Math.min(5_000, subjects - from);
      writeSync(file, Array.from({ length: count }, (_, index) => linesOf(from + index, subjects)).join(""));
    }
  } finally {
    closeSync(file);
  }
}
