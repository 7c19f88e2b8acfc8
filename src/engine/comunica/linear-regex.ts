import { TermFunctionRegex } from "@comunica/actor-function-factory-term-regex";
import { TermFunctionReplace } from "@comunica/actor-function-factory-term-replace/lib/TermFunctionReplace.js";
import { ExpressionError } from "@comunica/utils-expression-evaluator";
import { LRUCache } from "lru-cache";
import { RE2JS } from "re2js";

const compiled = new LRUCache<string, RE2JS>({ max: 200 });
const flagBits = { i: RE2JS.CASE_INSENSITIVE, s: RE2JS.DOTALL, m: RE2JS.MULTILINE } as const;

/**
 * REGEX and REPLACE in time linear in the text (XPath and XQuery Functions, section 5.6). The patterns come from anybody's
 * query; with the platform's backtracking engine one of them can stop the whole process, and no deadline could end it.
 */
export function useLinearRegex(): void {
  Object.assign(TermFunctionRegex, { matches });
  Object.assign(TermFunctionReplace, { replace });
}

/** `fn:matches`. @throws ExpressionError for a pattern or flags that are not valid */
export function matches(text: string, pattern: string, flags = ""): boolean {
  return compile(pattern, flags).matcher(text).find();
}

type ReplaceArguments = [text: string, pattern: string, replacement: string, flags?: string];

/** `fn:replace`; `$1` stands for a group, `$0` for the match. @throws ExpressionError as above */
export function replace(...[text, pattern, replacement, flags = ""]: ReplaceArguments): string {
  const literal = flags.includes("q");
  const fill = (...found: unknown[]): string => {
    const groups = found.slice(0, -2);
    if (literal) return replacement;
    return replacement.replaceAll(/\\([\\$])|\$(\d)/g, (_, escaped?: string, group?: string) => {
      const value = groups[Number(group)];
      return escaped ?? (typeof value === "string" ? value : "");
    });
  };
  return compile(pattern, flags).matcher(text).replaceAll(fill);
}

function compile(pattern: string, flags: string): RE2JS {
  const key = `${flags}/${pattern}`;
  const known = compiled.get(key);
  if (known) return known;
  const made = make(pattern, flags);
  compiled.set(key, made);
  return made;
}

function make(pattern: string, flags: string): RE2JS {
  try {
    const clean = TermFunctionRegex.cleanFlags(flags);
    const spaced = clean.includes("x") ? TermFunctionRegex.flagX(pattern) : pattern;
    const source = clean.includes("q") ? TermFunctionRegex.flagQ(spaced) : spaced;
    const bits = Object.entries(flagBits).filter(([flag]) => clean.includes(flag));
    return RE2JS.compile(
      source,
      bits.reduce((sum, [, bit]) => sum | bit, 0),
    );
  } catch (error) {
    throw new ExpressionError(`Not a regular expression: ${error instanceof Error ? error.message : String(error)}`);
  }
}
