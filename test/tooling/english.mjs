// Finds wordings that style.md's rules replace: node test/tooling/english.mjs [PATH...] prints file:line: word: better.
// Reads whole Markdown files, and the comments and strings of source files.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Wording, what to write instead. A wording may span a line end. */
const rules = [
  [/\btold\b(?!-error)/i, '"is shown", "is notified", "is passed to"'],
  [/\btells\b/i, '"shows", "reports", "notifies"'],
  [/\bnobody\b|\bno one\b/i, 'name the thing in the passive: "is not done", "unused"'],
  [/\bhears? of\b/i, '"is notified of"'],
  [/\bso (?:many|much) (?!that\b|as\b)/i, "the number's name"],
  [/\b(?:comes|came|become|became) of\b/i, '"results", "the outcome"'],
  [/\b(?:is|are|was|were|be) (?:not )?(?:to be )?had\b/i, '"is available"'],
  [/\bby itself\b/i, '"automatically", "alone"'],
  [
    /(?:^|[.;:(]\s+)[Ww]hat (?:is|are|was|were|has|have|comes|came|goes|can|cannot|may|does|needs|takes)\b(?![^.?\n]*\?)/,
    "a noun phrase",
  ],
  [/\bwhatever (?:is|was|comes)\b/i, "name it"],
];
const docstring = [/^\/\*\*\s*(?:\*\s*)?(?:What|Who|Whose|Whether|So)\b/, "begin with a noun phrase or a verb"];

const folders = ["README.md", "CHANGELOG.md", ".github", "catalog", "deploy", "k8s", "shards", "src"];
const asked = process.argv.slice(2);
const root = fileURLToPath(new URL("../..", import.meta.url));
const listed = execFileSync("git", ["ls-files", "--", ...(asked.length > 0 ? asked : folders)], {
  cwd: root,
  encoding: "utf8",
});
// Reports to another project, in its words.
const files = listed
  .split("\n")
  .filter((file) => /\.(?:md|ts|mjs)$/.test(file) && !file.includes("comunica/upstream/"));

/** Comments, strings and templates of a source file. */
const token = /\/\*[^]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;

/** Comment marks at the head of a line become blanks, so that sentences run on. */
const unmarked = (text) =>
  text.replaceAll(/(?<=\n)([ \t]*)(\*|\/\/)(?= )/g, (_, lead, mark) => lead + " ".repeat(mark.length));

const isCode = (file) => !file.endsWith(".md");

/** Texts of a file with their offsets. */
function textsOf(file, content) {
  if (!isCode(file))
    return [{ at: 0, text: content.replaceAll(/^```[^]*?^```/gm, (block) => block.replaceAll(/[^\n]/g, " ")) }];
  return [...content.matchAll(token)].map(({ 0: text, index }) => ({ at: index, text }));
}

let faults = 0;
for (const file of files) {
  const content = readFileSync(`${root}${file}`, "utf8");
  const report = (at, word, better) => {
    faults += 1;
    process.stdout.write(
      `${file}:${content.slice(0, at).split("\n").length}: ${word.replaceAll(/\s+/g, " ")}: ${better}\n`,
    );
  };
  for (const { at, text } of textsOf(file, content)) {
    const [pattern, better] = docstring;
    const opening = pattern.exec(text);
    if (opening !== null) report(at, opening[0], better);
    const flat = unmarked(text)
      .replaceAll("\n", " ")
      .replaceAll(/\$\{[^}]*\}/g, (code) => " ".repeat(code.length));
    for (const [wording, instead] of rules)
      for (const found of flat.matchAll(new RegExp(wording.source, `g${wording.flags}`)))
        report(at + found.index, found[0], instead);
  }
}
if (faults > 0) process.stdout.write(`${faults} places; the rules and examples are in test/tooling/english.mjs\n`);
process.exitCode = faults > 0 ? 1 : 0;
