import { readFileSync } from "node:fs";

/** The answer-set programs, one file a concern (`shards/README.md`). */
export type Encoding =
  | "domain"
  | "choice"
  | "coverage"
  | "precedence"
  | "federation"
  | "impossible"
  | "objectives"
  | "canonical"
  | "answer"
  | "show";

const folder = new URL("../../../shards/", import.meta.url);
const texts = new Map<Encoding, string>();

function encodingText(name: Encoding): string {
  const known = texts.get(name);
  if (known !== undefined) return known;
  const text = readFileSync(new URL(`${name}.lp`, folder), "utf8");
  texts.set(name, text);
  return text;
}

/** A program: the facts and the encodings that give them a meaning, its first line says which. */
export function composeProgram(facts: readonly string[], encodings: readonly Encoding[]): string {
  const files = encodings.map((name) => `shards/${name}.lp`).join(" ");
  return [`% with ${files}`, ...facts, ...encodings.map(encodingText)].join("\n");
}
