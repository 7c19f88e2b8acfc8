import type { Html } from "../../../html.ts";

/** Shows a view as it is now. What the reader has opened stays open. */
export function draw(place: HTMLElement, { html }: Html): void {
  const open = [...place.querySelectorAll("details")].map((each) => each.open);
  place.replaceChildren(document.createRange().createContextualFragment(html));
  for (const [at, each] of place.querySelectorAll("details").entries()) each.open = open[at] ?? each.open;
}

/** The element of this kind that a selector names. */
export function part<Kind extends Element>(root: ParentNode, selector: string, kind: new () => Kind): Kind {
  const found = root.querySelector(selector);
  if (found instanceof kind) return found;
  throw new Error(`The page has no ${kind.name} ${selector}.`);
}
