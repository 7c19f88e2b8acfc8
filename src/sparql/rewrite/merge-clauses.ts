import type { Query, TextEdit } from "../parse/query.ts";
import type { Element, Group, ServiceElement, TokenRange } from "../parse/outline.ts";
import { groupsWithin } from "../structure/scope.ts";

interface MergeOptions {
  readonly isMember: (service: ServiceElement) => boolean;
  /** New target of the clause, `<` and `>` included where it is a URL. */
  readonly targetOf: (service: ServiceElement) => string;
  /** FROM and FROM NAMED stay. */
  readonly keepsDataset: boolean;
}

/**
 * Merges SERVICE clauses of one endpoint that stand side by side in a group (FILTERs between them do not matter) and
 * have a variable in common, if both or none are SILENT; and writes the endpoint's absolute URL into every clause.
 * Each body keeps its own braces unless it is nothing but triples, so FILTER, BIND and VALUES keep their scope.
 * Without a common variable merging would make one endpoint compute a Cartesian product.
 * `merged`: how many clauses were merged away.
 */
export function mergeClauses(query: Query, options: MergeOptions) {
  const edits = options.keepsDataset ? [] : query.datasetEdits;
  let merged = 0;
  const groups = groupsWithin(query.outline.groups, (element) => !isClause(element, options));
  for (const group of groups) {
    for (const run of runs(query, group, options)) {
      merged += run.length - 1;
      edits.push(...runEdits(query, run, options));
    }
  }
  return { text: query.cut(edits), merged };
}

function isClause(element: Element, options: MergeOptions): element is ServiceElement {
  return element.kind === "service" && options.isMember(element);
}

/** Member clauses of a group in runs that become one clause each. */
function runs(query: Query, group: Group, options: MergeOptions): ServiceElement[][] {
  const found: ServiceElement[][] = [];
  let names = new Set<string>();
  let open = false;
  for (const element of group.elements) {
    if (element.kind === "filter") continue;
    const clause = isClause(element, options) ? element : undefined;
    const last = found.at(-1)?.[0];
    if (!clause) {
      open = false;
      continue;
    }
    const own = query.variablesIn(clause.group);
    const fits = open && last && last.silent === clause.silent && options.targetOf(last) === options.targetOf(clause);
    if (fits && !names.isDisjointFrom(own)) {
      found.at(-1)?.push(clause);
      names = new Set([...names, ...own]);
      continue;
    }
    found.push([clause]);
    names = own;
    open = true;
  }
  return found;
}

function runEdits(query: Query, run: readonly ServiceElement[], options: MergeOptions): TextEdit[] {
  const [first, ...others] = run;
  if (!first) return [];
  const name = { range: { from: first.name, to: first.name + 1 }, replacement: options.targetOf(first) };
  if (others.length === 0) return [name];
  const body = run.map((clause) => bodyText(query, clause.group)).join(" ");
  return [
    name,
    { range: first.group, replacement: `{ ${body} }` },
    ...others.map((clause) => ({ range: withDot(query, clause), replacement: "" })),
  ];
}

/** An element and the dot behind it, which would be one too many without it. */
export function withDot(parsed: Query, { from, to }: TokenRange): TokenRange {
  return { from, to: parsed.tokens[to]?.text === "." ? to + 1 : to };
}

/** The body of a clause as a part of a larger one: triples as they are, everything else in braces of its own. */
export function bodyText(parsed: Query, group: Group): string {
  const plain = !group.select && group.elements.length === 1 && group.elements[0]?.kind === "triples";
  const triples = group.elements[0];
  if (!plain || !triples) return parsed.textOf(group);
  const text = parsed.textOf(triples);
  return text.endsWith(".") ? text : `${text} .`;
}
