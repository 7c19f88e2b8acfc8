/**
 * How an engine gets DISTINCT wrong: it refuses it everywhere, or in COUNT only; ignores it; or estimates COUNT(DISTINCT)
 * when there are more than a few values, always or only over data.
 */
export type DistinctFault = "refused" | "count-refused" | "ignored" | "estimated" | "data-estimated";

const counted = /COUNT\(DISTINCT (\?\w+)\)/gu;
/** Up to this many values an estimate is right, as those of sketches are. */
const fewValues = 20;

/** The query that an engine with this fault would answer rightly instead; undefined for one that it refuses. */
export function withDistinctFault(query: string, fault: DistinctFault | undefined): string | undefined {
  if (fault === "refused") return query.includes("DISTINCT") ? undefined : query;
  if (fault === "count-refused") return query.includes("COUNT(DISTINCT") ? undefined : query;
  if (fault === "ignored") return query.replaceAll("DISTINCT ", "");
  if (fault === undefined || (fault === "data-estimated" && !/\?s\b/u.test(query))) return query;
  return query.replaceAll(counted, (count) => {
    const factor = `IF(REGEX(STR(${count}), "[02468]$"), 0.97, 1.03)`;
    return `IF(${count} > ${fewValues}, FLOOR(${count} * ${factor}), ${count})`;
  });
}
