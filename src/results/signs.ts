import type { ScanVerdict } from "./answer-reader.ts";

/** Sign inside a document that it is not the whole answer. */
export type Sign =
  | { readonly kind: "failure" | "partial"; readonly words: string }
  /** The document names the number of rows that there are. */
  | { readonly kind: "total"; readonly rows: number };

/** Characters of a value that are looked at. */
export const longestSign = 300;

type Judge = (value: string) => Sign["kind"] | undefined;

const nothing = /^(?:null|false|0|""|\[\s*\]|\{\s*\})?$/u;
const goodNews = /\b(?:ok|success\w*|succeeded|executed|completed?|done|finished|none|no errors?|200)\b/iu;
const badStatus = /^"?(?:err|fail|exception|abort|cancel|kill|time|refused|[45]\d\d)/iu;
const partialStatus = /^"?(?:partial|incomplete|truncat|206)/iu;
const announced = /"(?:next|next_?page|has_?more|truncated)"\s*:\s*(?!null|false|""|\s)/iu;

const unlessNothing =
  (kind: "failure" | "partial"): Judge =>
  (value) =>
    nothing.test(value) ? undefined : kind;
const ifFalse =
  (kind: "failure" | "partial"): Judge =>
  (value) =>
    value === "false" ? kind : undefined;
const ofStatus: Judge = (value) => {
  if (badStatus.test(value)) return "failure";
  return partialStatus.test(value) ? "partial" : undefined;
};
const ofPages: Judge = (value) => (announced.test(value) ? "partial" : undefined);
const total: Judge = (value) => (/^\d{1,15}$/u.test(value) ? "total" : undefined);

const named = (judge: Judge, names: string): readonly (readonly [string, Judge])[] =>
  names.split(" ").map((name) => [name, judge]);

/** Members beside the rows, by their names in lower case, without what stands between words. */
const members: ReadonlyMap<string, Judge> = new Map([
  ...named(unlessNothing("failure"), "error errors exception exceptions failure fault errormessage errorcode"),
  ...named((value) => (nothing.test(value) || goodNews.test(value) ? undefined : "failure"), "message msg"),
  ...named(ofStatus, "status state statuscode"),
  ...named(ifFalse("failure"), "success ok"),
  ...named(ifFalse("partial"), "complete iscomplete"),
  ...named(unlessNothing("partial"), "truncated istruncated partial ispartial incomplete hasmore more next nextpage"),
  ...named(unlessNothing("partial"), "nextpagetoken nextlink nextcursor nextpageurl"),
  ...named(ofPages, "links link meta metadata paging pagination page"),
  ...named(total, "total totalcount totalrows totalresults numfound"),
  ...named((value) => (/"status"\s*:\s*"partial"/u.test(value) ? "partial" : undefined), "fedway"),
]);

const judgeOf = (name: string): Judge | undefined => members.get(name.replaceAll(/[\s_-]/gu, "").toLowerCase());

/** True for the name of a member that may say that an answer is not whole. */
export const isTelling = (name: string): boolean => judgeOf(name) !== undefined;

/** @param value the beginning of its JSON text */
export function signOf(name: string, value: string): Sign | undefined {
  const text = value.trim();
  const kind = judgeOf(name)?.(text);
  if (kind === undefined) return undefined;
  return kind === "total" ? { kind, rows: Number(text) } : { kind, words: `${name}: ${text}` };
}

/** Sign in a comment; Fedway itself says there that an answer is partial. */
export function signInComment(text: string): Sign | undefined {
  if (/\b(?:partial|truncated|incomplete)\b/iu.test(text)) return { kind: "partial", words: text.trim() };
  const fails = /\b(?:\w*exception|error|timed out|time-?out|aborted|cancell?ed|failed)\b/iu.test(text);
  return fails ? { kind: "failure", words: text.trim() } : undefined;
}

/** The verdict on a document that is whole but for what it says itself. */
export function judgedBySigns(verdict: ScanVerdict, signs: readonly Sign[]): ScanVerdict {
  const failure = signs.find(({ kind }) => kind === "failure");
  if (failure !== undefined && "words" in failure) {
    return { ...verdict, complete: false, detail: "The document reports a failure itself.", words: failure.words };
  }
  const partial = signs.find(({ kind }) => kind === "partial");
  const totals = signs.flatMap((sign) => (sign.kind === "total" ? [sign.rows] : []));
  return {
    ...verdict,
    ...(partial !== undefined && "words" in partial && { partial: partial.words }),
    ...(totals.length > 0 && { total: Math.max(...totals) }),
  };
}
