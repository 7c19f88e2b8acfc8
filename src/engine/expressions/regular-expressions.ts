import { LRUCache } from "lru-cache";
import { RE2JS } from "re2js";
import { FedwayError } from "../../errors/fedway-error.ts";
import { BacktrackingPattern, type Match } from "./backtracking.ts";
import { ExpressionError, longestComputed, tooLong } from "./expression-error.ts";
import { matchesNothing, type ParsedPattern, type Pattern, parsePattern, sizeOf, toRe2 } from "./xpath-pattern.ts";

// RE2JS compiles 4,096 characters in 0.2 s and 1 MB at most.
const longestPattern = 4_096;
const mostKept = 20;
// The tables of a program grow with its texts, to 8 MiB. Those of all together are dropped beyond this: to drop them one by one
// sooner made rows of a nasty pattern 100 times slower.
const mostTableBytes = 32 * 1024 * 1024;
const mostInstructions = 10_000;
/** RE2 repeats no more often, repetitions within repetitions multiplied. */
const mostRepeated = 1_000;
// Characters of the text times instructions of the program: 25 ns each at worst, and the thread is blocked meanwhile.
const mostSteps = 2 ** 25;
// Searching once is linear, replacing all is not: each search may look at the whole rest of the text.
// Of processor time: a busy machine must not refuse what an idle one computes.
const longestReplaceMs = 1_000;
const processorMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** A compiled pattern. */
interface Program {
  /** True if there is a match. */
  test(text: string): boolean;
  /** The matches from left to right, none within another. */
  matches(text: string): Iterable<Match>;
  readonly groups: number;
  /** Steps that one character of a text may take; undefined where the program itself counts them. */
  readonly size: number | undefined;
  /** Drops the tables, which are made again when they are needed. */
  dropTables(): void;
}

const compiled = new LRUCache<string, Program>({ max: mostKept, dispose: (program) => program.dropTables() });
let tableBytes = 0;

/**
 * `fn:matches` (XPath and XQuery Functions and Operators 3.1, section 5.6.3). The patterns come from anybody's query, so RE2
 * matches them, in time linear in the text; those with references, which it cannot, have a bound of steps.
 * @throws ExpressionError for a pattern or flags that are not valid
 * @throws FedwayError `EVALUATION_TOO_LARGE` for too much work
 */
export const matches = (text: string, pattern: string, flags = ""): boolean =>
  programFor(text, pattern, flags).test(text);

/** `fn:replace` (section 5.6.4); `$1` stands for a group, `$0` for the match. @throws as `matches` */
export function replace(text: string, pattern: string, replacement: string, flags = ""): string {
  const program = programFor(text, pattern, flags);
  if (program.test("")) throw matchesEmptyText();
  const fill = replacementOf(replacement, program.groups, flags.includes("q"));
  const [began, spent] = [performance.now(), processorMs()];
  // The clock is read first, as that costs next to nothing.
  const isTooLong = (): boolean =>
    performance.now() - began > longestReplaceMs && processorMs() - spent > longestReplaceMs;
  let result = "";
  let at = 0;
  for (const match of program.matches(text)) {
    result += text.slice(at, match[0]) + fill(text, match);
    at = match[1] ?? text.length;
    if (result.length > longestComputed) throw tooLong();
    if (isTooLong()) throw tooMuch(pattern, "takes too long in REPLACE with this text");
  }
  return result + text.slice(at);
}

/** The constants of a call of REGEX, or of REPLACE where it has a replacement. */
export interface CalledPattern {
  readonly pattern: string;
  readonly flags?: string | undefined;
  readonly replacement?: string | undefined;
}

/**
 * The error that a call has for every text, found without compiling its pattern; undefined if there is none.
 * `EVALUATION_TOO_LARGE` is that of a pattern beyond the bounds.
 */
export function patternFault(call: CalledPattern): ExpressionError | FedwayError | undefined {
  try {
    judge(call);
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionError || error instanceof FedwayError) return error;
    throw error;
  }
}

function judge({ pattern, flags = "", replacement }: CalledPattern): void {
  checkLimits(pattern, flags);
  const isLiteral = flags.includes("q");
  const parsed = isLiteral ? undefined : parsedAs(pattern, flags, true);
  // Twice as many, as automata share what alternatives have in common.
  if (parsed && sizeOf(parsed.pattern) > 2 * mostInstructions) throw tooMuch(pattern, "repeats too much");
  if (replacement === undefined) return;
  if (parsed ? matchesNothing(parsed.pattern) : pattern === "") throw matchesEmptyText();
  replacementOf(replacement, parsed?.groups ?? 0, isLiteral);
}

const matchesEmptyText = (): ExpressionError =>
  new ExpressionError("REPLACE takes no pattern that matches the empty text.");

type Fill = (text: string, match: Match) => string;

/** @throws ExpressionError for `$` without a digit and `\` without `\` or `$` behind it */
function replacementOf(replacement: string, groups: number, isLiteral: boolean): Fill {
  if (isLiteral) return () => replacement;
  if (!/^(?:[^\\$]|\\[\\$]|\$\d)*$/su.test(replacement)) {
    throw new ExpressionError('In a replacement, "$" needs a digit behind it, or a "\\" before it.');
  }
  const parts = [...replacement.matchAll(/\\([\\$])|\$(\d+)|[^\\$]+/gsu)].map(([plain, escaped, digits]) =>
    digits === undefined ? (escaped ?? plain) : reference(digits, groups),
  );
  return (text, match) => {
    let filled = "";
    for (const part of parts) {
      filled +=
        typeof part === "string" ? part : text.slice(match[2 * part.group], match[2 * part.group + 1]) + part.rest;
      if (filled.length > longestComputed) throw tooLong();
    }
    return filled;
  };
}

/** The group that digits name, as many of them as there are groups for, and the digits behind its number. */
function reference(digits: string, groups: number): string | { readonly group: number; readonly rest: string } {
  let length = 1;
  while (length < digits.length && Number(digits.slice(0, length + 1)) <= groups) length += 1;
  const group = Number(digits.slice(0, length));
  const rest = digits.slice(length);
  return group <= groups ? { group, rest } : rest;
}

function programFor(text: string, pattern: string, flags: string): Program {
  if (text.length > longestComputed) throw tooLong();
  const program = compile(pattern, flags);
  if (program.size === undefined || text.length * program.size <= mostSteps) return program;
  throw tooMuch(pattern, `is too large for a text of ${text.length} characters`);
}

function checkLimits(pattern: string, flags: string): void {
  if (!/^[imsxq]*$/u.test(flags)) throw new ExpressionError("The flags of a regular expression are i, m, s, x and q.");
  if (pattern.length > longestPattern) throw tooMuch(pattern, `has more than ${longestPattern} characters`);
}

function parsedAs(pattern: string, flags: string, withoutSets = false): ParsedPattern {
  const text = flags.includes("x") ? withoutBlanks(pattern) : pattern;
  // Cases change no judgement, and take long.
  return parsePattern(text, {
    ignoresCase: flags.includes("i") && !withoutSets,
    dotAll: flags.includes("s"),
    withoutSets,
  });
}

function compile(pattern: string, flags: string): Program {
  checkLimits(pattern, flags);
  const key = `${flags}/${pattern}`;
  const known = compiled.get(key);
  if (known) return known;
  const made = make(pattern, flags);
  if ((made.size ?? 0) > mostInstructions) throw tooMuch(pattern, "repeats too much");
  compiled.set(key, made);
  return made;
}

function make(pattern: string, flags: string): Program {
  const has = (flag: string): boolean => flags.includes(flag);
  if (has("q")) return automaton(RE2JS.quote(pattern), 0, has("i") ? RE2JS.CASE_INSENSITIVE : 0);
  const ignoresCase = has("i");
  const multiline = has("m");
  const parsed = parsedAs(pattern, flags);
  const { groups } = parsed;
  if (needsBacktracking(parsed)) {
    const backtracking = new BacktrackingPattern(pattern, parsed.pattern, groups, { ignoresCase, multiline });
    const inText = (text: string): Iterable<Match> => backtracking.matches(text);
    const test = (text: string): boolean => backtracking.matches(text).next().done !== true;
    return { test, matches: inText, groups, size: undefined, dropTables: () => {} };
  }
  return automaton(toRe2(parsed.pattern), groups, multiline ? RE2JS.MULTILINE : 0);
}

function boundTables(): void {
  if (tableBytes > mostTableBytes) for (const kept of compiled.values()) kept.dropTables();
}

/** Null before they are first needed. */
type Tables = ReturnType<RE2JS["re2"]>["lazyDFA"] | null;

function automaton(expression: string, groups: number, bits: number): Program {
  const program = RE2JS.compile(expression, bits);
  let counted = 0;
  const count = (): void => {
    const tables: Tables = program.re2().lazyDFA;
    const bytes = tables === null ? 0 : tables.maxMem - tables.memBudget;
    tableBytes += bytes - counted;
    counted = bytes;
  };
  return {
    groups,
    size: program.programSize(),
    test(text) {
      const found = program.test(text);
      count();
      boundTables();
      return found;
    },
    *matches(text) {
      const matcher = program.matcher(text);
      while (matcher.find()) {
        yield Array.from({ length: groups + 1 }, (_, group) => [matcher.start(group), matcher.end(group)]).flat();
      }
      count();
      boundTables();
    },
    dropTables() {
      const tables: Tables = program.re2().lazyDFA;
      tables?.clearCache();
      count();
    },
  };
}

/** True for a pattern that RE2 cannot match. */
function needsBacktracking({ pattern, hasReferences }: ParsedPattern): boolean {
  return hasReferences || repeatsMore(pattern, mostRepeated);
}

/** Repetitions within each other are multiplied; `*`, `+` and `?` do not count. */
function repeatsMore(part: Pattern, allowed: number): boolean {
  if (part.kind === "sequence" || part.kind === "choice") return part.parts.some((each) => repeatsMore(each, allowed));
  if (part.kind === "group") return repeatsMore(part.part, allowed);
  if (part.kind !== "repeat") return false;
  const times = Math.max(part.most === Number.POSITIVE_INFINITY ? part.least : part.most, 1);
  return times > allowed || repeatsMore(part.part, Math.floor(allowed / times));
}

const tooMuch = (pattern: string, what: string): FedwayError =>
  new FedwayError("EVALUATION_TOO_LARGE", `The regular expression ${JSON.stringify(pattern.slice(0, 100))} ${what}.`, {
    next: "Write a smaller pattern, or compare shorter texts.",
  });

/** Flag `x`: blanks count in character classes only. */
const withoutBlanks = (pattern: string): string =>
  pattern.replaceAll(/(\\.|\[(?:[^\]\\]|\\.)*\]?)|[\t\n\r ]/gsu, (_, kept?: string) => kept ?? "");
