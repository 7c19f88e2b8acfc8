import { dialectTable } from "./dialect-table.ts";
import { foreignCharacters } from "./foreign-characters.ts";
import * as moves from "./moves.ts";
import { Stumble } from "./stumble.ts";
import { type Edit, type Mending, matches, written } from "./token-pattern.ts";

/** A habit of another language, and how SPARQL writes the same. */
interface DialectRule {
  readonly kind: string;
  /** One sentence for the writer. */
  readonly why: string;
  readonly mend: Mending;
}

const ways: Readonly<Record<string, Mending>> = { ...moves };

function* rulesOf(lines: string): Generator<DialectRule> {
  for (const section of lines.trim().split(/\n(?! )/)) {
    const [head = "", ...forms] = section.split("\n");
    const [, kind = "", clause = "", why = ""] = /^(\S+) (\S+): (.*)$/.exec(head) ?? [];
    const holds = new RegExp(`^(?:${clause})$`);
    const mends = forms.flatMap((line) => line.trim().split(/ {3,}/)).map((form) => mendingOf(form));
    yield {
      kind,
      why,
      mend: (stumble) => (holds.test(stumble.clause()) ? mends.flatMap((mend) => mend(stumble)) : []),
    };
  }
}

function mendingOf(form: string): Mending {
  const way = ways[form];
  if (way !== undefined) return way;
  const [pattern = "", template = ""] = form.split(/ ->(?: |$)/);
  return (stumble) =>
    matches(stumble, pattern).flatMap((found) => {
      const edit = written(stumble, found, template);
      return edit ? [[edit]] : [];
    });
}

const rules: readonly DialectRule[] = [...rulesOf(dialectTable)];

/** A change that makes SPARQL of what another language writes. */
interface DialectEdit {
  readonly kind: string;
  readonly why: string;
  readonly edit: Edit;
}

/** Ways to mend a text at the offset of its error, likeliest first, none of them parsed; one without change is only a hint. */
export function* dialectEdits(text: string, offset: number, message: string): Generator<DialectEdit> {
  yield* foreignCharacters(text);
  const stumble = new Stumble(text, offset, message);
  for (const { kind, why, mend } of rules)
    for (const edit of mend(stumble))
      yield { kind, why, edit: edit.toSorted((one, other) => one.start - other.start || one.end - other.end) };
}
