import type { Html } from "../../../html.ts";

/** An element with attributes and children; text is never markup. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElement {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Shows a view as it is now. What the reader has opened stays open. */
export function draw(place: HTMLElement, { html }: Html): void {
  const open = [...place.querySelectorAll("details")].map((each) => each.open);
  place.replaceChildren(document.createRange().createContextualFragment(html));
  for (const [at, each] of place.querySelectorAll("details").entries()) each.open = open[at] ?? each.open;
}
