/** One instruction of a Dockerfile, its continued lines joined. */
export interface Instruction {
  /** Line it begins in, from 1. */
  readonly line: number;
  /** In capitals. */
  readonly keyword: string;
  /** `--name=value` before the arguments. */
  readonly flags: Readonly<Record<string, string>>;
  /** What follows the flags. */
  readonly text: string;
}

/** One `FROM` and what follows it. */
export interface Stage {
  readonly base: string;
  /** Name after `AS`; undefined for a stage without one. */
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

function parseInstruction(source: string, line: number): Instruction {
  const [, keyword = "", rest = ""] = /^(\S+)\s+(.*)$/s.exec(source) ?? [];
  const flags: Record<string, string> = {};
  let text = rest;
  for (;;) {
    const flag = /^--([a-z-]+)=(\S+)\s+/.exec(text);
    if (!flag) return { line, keyword: keyword.toUpperCase(), flags, text: text.trim() };
    flags[flag[1] ?? ""] = flag[2] ?? "";
    text = text.slice(flag[0].length);
  }
}

/** Reads the part of the language that Fedway's Dockerfile uses: no ARG, no here-documents, no variables. */
export function parseDockerfile(content: string): readonly Stage[] {
  const stages: { base: string; name: string | undefined; instructions: Instruction[] }[] = [];
  const lines = content.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const first = at + 1;
    let source = lines[at] ?? "";
    if (/^\s*(#.*)?$/.test(source)) continue;
    while (source.endsWith("\\")) source = source.slice(0, -1) + (lines[++at] ?? "").trim();
    const instruction = parseInstruction(source, first);
    if (instruction.keyword === "FROM") {
      const [base = "", as, name] = instruction.text.split(/\s+/);
      stages.push({ base, name: as?.toUpperCase() === "AS" ? name : undefined, instructions: [] });
      continue;
    }
    const stage = stages.at(-1);
    if (!stage) throw new Error(`line ${first}: ${instruction.keyword} comes before FROM`);
    stage.instructions.push(instruction);
  }
  return stages;
}

/** The arguments of an instruction in exec form; undefined for the shell form. */
export function execForm(text: string): readonly string[] | undefined {
  if (!text.startsWith("[")) return undefined;
  const parsed: unknown = JSON.parse(text);
  const isWords = Array.isArray(parsed) && parsed.every((word) => typeof word === "string");
  if (!isWords) throw new Error(`${text} is not a list of texts`);
  return parsed;
}

/** The one instruction with a keyword. @throws Error when there are none or several */
export function only(stage: Stage, keyword: string): Instruction {
  const [found, ...others] = stage.instructions.filter((instruction) => instruction.keyword === keyword);
  if (!found || others.length > 0) throw new Error(`${keyword} is there ${found ? others.length + 1 : 0} times`);
  return found;
}

/** `NAME=value` pairs of ENV and LABEL instructions; values may be quoted. */
export function pairs(stage: Stage, keyword: "ENV" | "LABEL"): Readonly<Record<string, string>> {
  const found = stage.instructions.filter((instruction) => instruction.keyword === keyword);
  const entries = found.flatMap(({ text }) =>
    [...text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S*))/g)].map(([, name = "", quoted, bare = ""]) => [
      name,
      quoted ?? bare,
    ]),
  );
  return Object.fromEntries(entries);
}

/** What a COPY copies, and to where. */
export function copied({ text }: Instruction): { readonly sources: readonly string[]; readonly target: string } {
  const words = text.split(/\s+/);
  const target = words.pop() ?? "";
  return { sources: words, target };
}

/**
 * Whether a file of the build context is left out by the content of a `.dockerignore`. The last pattern that fits the
 * path or a folder above it decides; `*` stands for part of one name.
 */
export function isIgnored(dockerignore: string, path: string): boolean {
  const segments = path.split("/");
  const prefixes = segments.map((_, at) => segments.slice(0, at + 1).join("/"));
  let ignored = false;
  for (const line of dockerignore.split("\n")) {
    const rule = line.trim();
    if (rule === "" || rule.startsWith("#")) continue;
    const pattern = rule.replace(/^!/, "").replace(/\/$/, "");
    const source = pattern.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`).replaceAll("*", "[^/]*");
    const fits = new RegExp(`^${source}$`);
    if (prefixes.some((prefix) => fits.test(prefix))) ignored = !rule.startsWith("!");
  }
  return ignored;
}
