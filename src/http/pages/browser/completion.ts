import type { Hint, Yasqe } from "@zazuko/yasqe";
import type { Completion, Option } from "../../../completion/completion.ts";
import { html } from "../../../html.ts";
import { draw } from "./elements.ts";
import { ownUrl } from "./own-url.ts";
import type { Target } from "./requests.ts";

const name = "fedway";
/** Behind these, options are shown without being asked for. */
const opening = /[\w:<?$"]$/;

/** Makes the service complete queries in all editors that are created from now on. */
export function installCompletion(Editor: typeof Yasqe, targetOf: (yasqe: Yasqe) => Target): void {
  // Documents in which options are to be shown, and those whose reader asked for them; keys get another editor object.
  const [wanted, asked] = [new WeakSet(), new WeakSet()];
  const hints = new WeakMap<Yasqe, Hint[]>();
  Editor.registerAutocompleter({
    name,
    bulk: false,
    autoShow: true,
    persistenceId: null,
    onInitialize(yasqe) {
      yasqe.on("inputRead", (_?: unknown, change?: { readonly text: readonly string[] }) => {
        asked.delete(yasqe.getDoc());
        if (opening.test(change?.text.join("\n") ?? "")) wanted.add(yasqe.getDoc());
      });
      yasqe.on("autocompletionShown", (_, { hints: list }: { readonly hints: HTMLElement }) =>
        list.setAttribute("aria-label", "Completions"),
      );
    },
    isValidCompletionPosition: (yasqe) => wanted.delete(yasqe.getDoc()),
    async get(yasqe) {
      const found = await complete(yasqe, targetOf(yasqe)).catch(() => undefined);
      const why = asked.has(yasqe.getDoc()) && found?.options.length === 0 ? found.why : undefined;
      const shown =
        found?.options.map((each) => hintOf(each.label, each.detail, () => apply(yasqe, found, each))) ?? [];
      hints.set(yasqe, why === undefined ? shown : [hintOf(why, "", () => undefined)]);
      return [];
    },
    postprocessHints: (yasqe) => hints.get(yasqe) ?? [],
  });
  Editor.defaults.autocompleters = [name];
  const ask = (yasqe: Yasqe): void => {
    asked.add(yasqe.getDoc());
    wanted.add(yasqe.getDoc());
    yasqe.autocomplete();
  };
  Object.assign(Editor.defaults.extraKeys ?? {}, { "Ctrl-Space": ask });
}

async function complete(yasqe: Yasqe, target: Target): Promise<Completion | undefined> {
  const document = yasqe.getDoc();
  const body = { ...target, query: document.getValue(), position: document.indexFromPos(document.getCursor()) };
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(ownUrl("/api/complete"), { method: "POST", headers, body: JSON.stringify(body) });
  return response.ok ? response.json() : undefined;
}

/** As CodeMirror takes it; the text is not used, as it puts itself in. */
function hintOf(label: string, detail = "", hint: () => void): Hint {
  const render = (place: HTMLElement): void => draw(place, html`${label}<small>${detail && ` ${detail}`}</small>`);
  return Object.assign({ text: label, render }, { hint });
}

function apply(yasqe: Yasqe, { from, to }: Completion, { insert, declare }: Option): void {
  const document = yasqe.getDoc();
  document.replaceRange(insert, document.posFromIndex(from), document.posFromIndex(to));
  if (declare !== undefined) document.replaceRange(`${declare}\n`, { line: 0, ch: 0 });
}
