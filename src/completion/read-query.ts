import { rdf } from "../rdf/vocabularies.ts";
import { wellKnownNamespaces } from "../rdf/well-known-prefixes.ts";
import { Prologue, type Token, tokenize } from "../sparql/query.ts";

/** Where a token stands. */
interface Place {
  /** Role of the place: a part of a triple, or of the clause. */
  readonly slot: string;
  /** The keyword that began the clause. */
  readonly word?: string;
  /** The SERVICE around it, as it is written. */
  readonly service?: string | undefined;
  readonly subject?: string | undefined;
  readonly predicate?: string | undefined;
  readonly object?: string | undefined;
  /** A step of a path, whose subject is not the one of the triple. */
  readonly isPath?: boolean;
}

/** A query around the cursor. Subjects and objects are as they are written, predicates are IRIs. */
export interface ReadQuery {
  /** Start of the completed text, and its part before the cursor. */
  readonly from: number;
  readonly to: number;
  readonly typed: string;
  readonly place: Place;
  readonly triples: readonly Place[];
  /** Namespaces by prefixes with their colons. */
  readonly prefixes: ReadonlyMap<string, string>;
  readonly variables: ReadonlySet<string>;
  /** The tokens before and behind. */
  readonly before: readonly Token[];
  readonly after: readonly Token[];
  /** A name as an IRI. */
  readonly iriOf: (written: string | undefined) => string | undefined;
}

/** Stands for the term at the cursor in the triples. */
export const atCursor = "|";

/** Slots by the words that begin them. */
const slots: ReadonlyMap<string, string> = new Map(
  "prefix PREFIX,base BASE,service SERVICE,name GRAPH FROM,data VALUES,expression FILTER BIND HAVING,select SELECT DESCRIBE,order GROUP ORDER,limit LIMIT OFFSET,subject ASK CONSTRUCT WHERE OPTIONAL UNION MINUS"
    .split(",")
    .map((line) => line.split(" "))
    .flatMap(([slot = "", ...words]) => words.map((word) => [word, slot] as const)),
);
const inTriples: ReadonlySet<string> = new Set(["subject", "predicate", "object", "end"]);
const queryWords: ReadonlySet<string | undefined> = new Set(["SELECT", "DESCRIBE", "WHERE", "FROM"]);

/** Reads tokens of a query that may be incomplete or wrong: nothing is refused, what does not fit begins something new. */
class Reader {
  readonly triples: Place[] = [];
  readonly prefixes = new Map<string, string>();
  readonly variables = new Set<string>();
  now: Place & { readonly target?: string } = { slot: "start" };
  readonly #open: Reader["now"][] = [];

  readonly iriOf = (written = ""): string | undefined => {
    if (written === "A") return rdf.type;
    const name = written.slice(0, written.indexOf(":") + 1);
    const namespace = this.prefixes.get(name) ?? wellKnownNamespaces.get(name.slice(0, -1)) ?? "";
    const token = { kind: written.startsWith("<") ? "iri" : "pname", text: written, start: 0, end: 0 } as const;
    const prefixes = new Map([[name, namespace]]);
    return name === "" ? undefined : new Prologue(prefixes).iriOf(token);
  };

  read({ kind, text }: Token): void {
    const { now } = this;
    const slot = kind === "word" ? slots.get(text) : undefined;
    if (slot !== undefined) this.now = { ...this.#fresh(), slot, word: text };
    else if (kind === "punct") this.#sign(text);
    // Only a predicate is written so: the supposed object is its subject.
    else if (text === "A" && now.slot === "end")
      this.now = { ...now, subject: now.object, predicate: text, slot: "object" };
    else if (kind !== "word" && kind !== "invalid" && kind !== "lang") this.term(text);
    else if (["A", "TRUE", "FALSE"].includes(text)) this.term(text);
  }

  term(text: string): void {
    const { now } = this;
    if (/^[?$]./.test(text)) this.variables.add(text);
    if (now.slot === "subject" || now.slot === "end") this.now = { ...this.#fresh(), subject: text, slot: "predicate" };
    else if (now.slot === "predicate") this.now = { ...now, predicate: text, slot: "object" };
    else if (now.slot === "object") {
      this.now = { ...now, object: text, slot: "end" };
      this.triples.push({ ...this.now, predicate: now.isPath ? undefined : this.iriOf(now.predicate) });
    } else if (text.startsWith("<") && (now.slot === "prefix" || now.slot === "base")) this.#declare(text);
    else this.now = { ...now, target: text };
  }

  #declare(iri: string): void {
    const { slot, word, target = "" } = this.now;
    if (slot === "prefix") this.prefixes.set(target, iri.slice(1, -1));
    this.now = { slot: "start", ...(word !== undefined && { word }) };
  }

  #sign(sign: string): void {
    const { now } = this;
    if ("{[(".includes(sign)) this.#enter(sign);
    else if ("}])".includes(sign)) this.#leave(sign);
    else if (!inTriples.has(now.slot)) return;
    else if (sign === ".") this.now = this.#fresh();
    else if (sign === ";") this.now = { ...now, slot: "predicate", isPath: false };
    else if (sign === ",") this.now = { ...now, slot: "object" };
    // The datatype is no subject.
    else if (sign === "^^") this.now = { ...now, slot: "object", isPath: true };
    else if ("/|^".includes(sign) && now.slot !== "end") this.now = { ...now, slot: "predicate", isPath: true };
  }

  #enter(sign: string): void {
    const { now } = this;
    this.#open.push(now);
    const { service, target = service, slot, word } = now;
    if (sign === "[")
      this.now = { ...this.#fresh(), subject: `_:${this.triples.length} ${this.#open.length}`, slot: "predicate" };
    else if (sign === "{")
      this.now = { slot: slot === "data" ? slot : "subject", service: word === "SERVICE" ? target : service };
    else if (slot === "predicate") this.now = { ...now, isPath: true };
    else this.now = { ...now, slot: slot === "data" ? slot : "expression" };
  }

  #leave(sign: string): void {
    const { subject = "" } = this.now;
    const outer = this.#open.pop() ?? this.now;
    this.now = outer;
    const isQuery = this.#open.length === 0 || queryWords.has(outer.word);
    if (sign === "}") this.now = isQuery ? { ...this.#fresh(), slot: "tail" } : this.#fresh();
    else if (sign === "]") this.term(subject);
    else if (outer.slot === "predicate") this.now = { ...outer, slot: "object", isPath: true };
    else if (outer.slot === "expression") this.now = this.#fresh();
    else if (inTriples.has(outer.slot)) this.term("()");
  }

  #fresh(): Place {
    return { slot: "subject", service: this.now.service };
  }
}

/**
 * Reads a text at a cursor; undefined in a comment or a number.
 * @throws FedwayError `QUERY_TOO_LARGE`, `QUERY_SYNTAX` for what the scanner refuses
 */
export function readQuery(text: string, position: number): ReadQuery | undefined {
  const head = text.slice(0, position);
  const scanned = tokenize(head);
  const from = startOf(head, scanned);
  if (from === undefined) return undefined;
  const before = scanned.filter(({ end }) => end <= from);
  const reader = new Reader();
  for (const token of before) reader.read(token);
  const place = reader.now;
  reader.term(atCursor);
  const to = endOf(text, from, position);
  const after = tokenize(text.slice(to));
  for (const token of after) reader.read(token);
  const { triples, prefixes, variables, iriOf } = reader;
  return { from, to, typed: text.slice(from, position), place, triples, prefixes, variables, before, after, iriOf };
}

/** Where the term at the end of a text begins: a string or IRI that is not closed, a name, or nothing yet. */
function startOf(head: string, tokens: readonly Token[]): number | undefined {
  const string = tokens.find((token) => isOpenString(token, head));
  if (string) return string.start;
  const last = tokens.at(-1) ?? noToken;
  const iri = head.search(/<[^\s<>"{}|^`\\]*$/);
  const comment = head.indexOf("#", Math.max(last.end, head.lastIndexOf("\n"), head.lastIndexOf("\r")));
  if (comment !== -1 && (iri === -1 || iri > comment)) return undefined;
  if (iri !== -1) return iri;
  if (last.end < head.length || last.kind === "punct") return head.length - Number(/[?$]$/.test(head));
  if (["word", "pname", "var"].includes(last.kind)) return last.start;
  return ["number", "lang", "blank"].includes(last.kind) ? undefined : head.length;
}

const noToken: Token = { kind: "punct", text: "", start: 0, end: 0 };

const isOpenString = ({ kind, text, start }: Token, head: string): boolean =>
  kind === "invalid" &&
  /["']/.test(text) &&
  (head.startsWith(text.repeat(3), start) || !/[\n\r]/.test(head.slice(start)));

const longestTerm = 2_000;

/** The end of the token that begins there; the cursor where none does, or where a string would swallow what follows. */
function endOf(text: string, from: number, position: number): number {
  const [token] = from === position ? [] : tokenize(text.slice(from, Math.max(position, from + longestTerm)));
  const end = from + (token?.end ?? 0);
  const isTerm = token !== undefined && token.kind !== "punct" && token.kind !== "invalid";
  return isTerm && !/[(){}]/.test(text.slice(position, end)) ? Math.max(position, end) : position;
}
