/** Characters that have no place in an IRI, and the sign that escapes them. */
const notInIri = /[% <>"\{\}\|^`\\[[\p{ASCII}&&\p{Cc}]--[\x7f]]]/gv;

const percent = (character: string): string => encodeURIComponent(character);

/**
 * The IRI, in front of `a:<number>` or `b:<label>`, that stands for blank nodes of an input (RDF 1.1, section 3.5). It
 * depends on the input's name only: labelled nodes keep theirs whatever the order of statements and files.
 */
export const skolemBase = (inputName: string): string =>
  `urn:fedway:genid:${encodeURIComponent(inputName.toWellFormed())}:`;

/** What a labelled blank node is called behind `skolemBase`. */
export const skolemLabel = (label: string): string => `b:${label.toWellFormed().replaceAll(notInIri, percent)}`;

/** What the n-th node without a label is called behind `skolemBase`. */
export const skolemNumber = (number: number): string => `a:${number}`;
