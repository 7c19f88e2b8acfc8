import { parsedIfLegal } from "../../plan/fill-prefixes.ts";
import { editText, type TextEdit } from "../../sparql/edit-text.ts";
import type { ParsedQuery } from "../../sparql/parse-query.ts";
import type { Inquiry } from "./inquiry.ts";
import { headOf, partsOf, type QueryPart, renderParts } from "./query-parts.ts";

/** Ways to edit the whole query. */
interface Way {
  readonly edits: readonly TextEdit[];
}

/** Those of some ways to edit a query with which it has solutions, in their order. @throws BudgetSpent */
export const mending = async <W extends Way>(inquiry: Inquiry, ways: readonly W[]): Promise<readonly W[]> =>
  (await mendingBeside(inquiry, [], ways)).helping;

/**
 * The same, asked in one question with groups of parts, and whether any of those has solutions. Ways that change a prefix take one
 * question each, where nothing else helps. @throws BudgetSpent
 */
export async function mendingBeside<W extends Way>(
  { query, prober }: Inquiry,
  groups: readonly (readonly QueryPart[])[],
  ways: readonly W[],
) {
  const { prologue } = headOf(query);
  const changed = ways.flatMap((way) => {
    const text = way.edits.length === 0 ? undefined : parsedIfLegal(editText(query, way.edits));
    return text ? [{ way, text, isMoved: headOf(text).prologue !== prologue }] : [];
  });
  const inPlace = changed.filter(({ isMoved }) => !isMoved);
  const asked = [...groups, ...inPlace.map(({ text }) => partsOf(text))];
  const has = await prober.anySolutions(asked.map(renderParts));
  const own = new Set(has.slice(0, groups.length));
  const helping = new Set(inPlace.filter((_, at) => has[groups.length + at] === true));
  for (const each of changed) {
    if (helping.size > 0 || own.has(true)) break;
    if (each.isMoved && (await hasRows(prober, each.text))) helping.add(each);
  }
  return { own, helping: [...helping].map(({ way }) => way) };
}

async function hasRows(prober: Inquiry["prober"], changed: ParsedQuery): Promise<boolean> {
  const { prologue, dataset } = headOf(changed);
  const group = renderParts(partsOf(changed));
  return (await prober.rows(`${prologue}SELECT * ${dataset} WHERE { ${group} } LIMIT 1`, 1))?.length === 1;
}
