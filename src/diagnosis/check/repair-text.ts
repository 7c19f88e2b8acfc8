import { FedwayError, type Repair } from "../../errors/fedway-error.ts";
import { type ParsedQuery, parseQuery } from "../../sparql/parse-query.ts";
import { withServiceUrls } from "../../sparql/service-ids.ts";
import { type SubstitutedText, substituted } from "../../sparql/substituted-text.ts";
import { withBraces } from "./braces.ts";
import { querySlices } from "./foreign-text.ts";
import { type NamespaceSource, withPrefixes } from "./missing-prefixes.ts";
import { withServiceNames } from "./service-names.ts";
import { readTokens, updateVerb } from "./update-to-select.ts";

/** What repairs of a text look up. */
export interface RepairSources extends NamespaceSource {
  /** URL of the endpoint with this catalogue id. */
  readonly urlOf: (id: string) => string | undefined;
}

/** A text that was made to parse. */
interface RepairedText {
  readonly text: string;
  /** Of `text` with catalogue ids replaced by URLs. */
  readonly parsed: ParsedQuery;
  readonly repairs: readonly Repair[];
}

/** A text that cannot be run, whatever was tried. */
export interface UnrepairedText {
  /** Why, at its place in the text as it was written. */
  readonly error: FedwayError;
  /** The text without what stands around the query. */
  readonly core: string;
}

/** Longer texts are not repaired. */
const longestRepaired = 100_000;
const mostAttempts = 60;

/**
 * Makes a text parse that does not: takes out what stands around the query (code fences, reasoning tags, prose), declares
 * prefixes, closes braces, reads names of endpoints. Every result is parsed.
 * @returns the error of an update that the text holds; undefined when nothing helps
 */
export function repairText(text: string, sources: RepairSources): RepairedText | UnrepairedText | undefined {
  if (text.length > longestRepaired) return undefined;
  for (const { start, end, repairs } of querySlices(text).take(mostAttempts)) {
    const core = text.slice(start, end);
    const found = repairedCore(core, sources);
    if (!(found instanceof FedwayError)) return { ...found, repairs: [...repairs, ...found.repairs] };
    const isUpdate = found.code === "UPDATE_REFUSED" && updateVerb(text, start) !== undefined;
    if (isUpdate) return { core, error: movedBy(found, text, start) };
  }
  return undefined;
}

/** The query in a part of the text, with its own faults mended; else what is wrong with it. */
function repairedCore(core: string, sources: RepairSources): RepairedText | FedwayError {
  const steps = [withServiceNames, withPrefixes, withBraces];
  let text = core;
  const repairs: Repair[] = [];
  let parsed = parsedOrError(text, sources);
  for (const step of steps) {
    // Beyond the bounds of a text nothing can be read of it.
    if (!(parsed instanceof FedwayError) || readTokens(text) === undefined) break;
    const written = withServiceUrls(text, (id) => sources.urlOf(id)).text;
    for (const attempt of step(text, sources, written)) {
      const next = parsedOrError(attempt.text, sources);
      const isLast = step === withBraces;
      if (isLast && next instanceof FedwayError) continue;
      text = attempt.text;
      repairs.push(...attempt.repairs);
      parsed = next;
      break;
    }
  }
  return parsed instanceof FedwayError ? parsed : { text, parsed, repairs };
}

/** A text as SPARQL 1.1, with catalogue ids replaced by URLs; else what is wrong with it. */
export function parsedOrError(text: string, { urlOf }: Pick<RepairSources, "urlOf">): ParsedQuery | FedwayError {
  let written: SubstitutedText | undefined;
  try {
    written = withServiceUrls(text, urlOf);
    return parseQuery(written.text);
  } catch (thrown) {
    const error = written?.relocated(thrown) ?? thrown;
    if (error instanceof FedwayError && error.code !== "INTERNAL") return error;
    throw error;
  }
}

/** The error of a part, at its place in the whole. */
function movedBy(error: FedwayError, whole: string, start: number): FedwayError {
  const moved = substituted(whole, [{ start: 0, end: start, text: "" }]).relocated(error);
  return moved instanceof FedwayError ? moved : error;
}
