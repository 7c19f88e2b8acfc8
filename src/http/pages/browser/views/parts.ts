/** A value as a label: the local name of an IRI, the text of a literal. */
export function labelOf(value: { readonly value: string; readonly type?: string } | undefined, longest = 40): string {
  if (value === undefined) return "";
  const text = value.type === "uri" ? localName(value.value) : value.value;
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

function localName(iri: string): string {
  const name = iri.slice(Math.max(iri.lastIndexOf("#"), iri.lastIndexOf("/")) + 1);
  return name === "" ? iri : name;
}

/** A paragraph above a view. */
export function sentence(text: string): HTMLElement {
  const paragraph = document.createElement("p");
  paragraph.textContent = text;
  return paragraph;
}

/** A labelled list to choose from. */
export function choice(name: string, options: readonly string[], onChange: () => void) {
  const label = document.createElement("label");
  const select = document.createElement("select");
  select.append(...options.map((option) => new Option(option)));
  select.addEventListener("change", onChange);
  label.append(`${name} `, select);
  return { label, select };
}
