import type { Random } from "../../../support/random.ts";

/** N-Triples of each endpoint. */
export interface LibraryData {
  readonly library: string;
  readonly reviews: string;
  readonly shops: string;
  /** What no endpoint tells: which book each offer is for, by `urn:bench:book`. */
  readonly truth: string;
}

/** How the shops write the keys of books that the library writes as "BK-0042" or as its IRIs. */
export const keyStyles = ["node", "scheme", "case", "padding", "version", "blanks", "curie", "same-as"] as const;
export type KeyStyle = (typeof keyStyles)[number];

const books = 400;
const authors = 60;
const publishers = 25;
const reviews = 500;
const offersOfStyle = 50;
const shops = 20;

export const genres: readonly string[] = ["Poetry", "Crime Novel", "Drama", "Fairy Tale", "Biography", "Satire"];
export const countries: readonly string[] = ["France", "Germany", "New Zealand", "Senegal", "Peru", "Iceland"];
const cities: readonly string[] = ["Lyon", "Hamburg", "Porto Alegre", "Dakar", "Lima", "Bergen"];
const firstNames = ["Ada", "Bruno", "Chidi", "Dagny", "Elif", "Farid", "Greta", "Hugo"];
const lastNames = ["Moreau", "Schulz", "Okafor", "Lindqvist", "Yilmaz", "Haddad", "Keller", "Varga"];

const type = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const l = (name: string): string => `http://library.example/terms/${name}`;
const r = (name: string): string => `http://reviews.example/ns#${name}`;
const s = (name: string): string => `http://shops.example/vocab/${name}`;
export const bookIri = (at: number): string => `http://library.example/book/${at}`;
const bookKey = (at: number): string => `BK-${String(at).padStart(4, "0")}`;
export const authorName = (at: number): string =>
  `${firstNames[at % firstNames.length]} ${lastNames[Math.floor(at / firstNames.length) % lastNames.length]}`;

type Value = string | number | { readonly iri: string } | { readonly text: string; readonly language: string };

function termText(value: Value): string {
  if (typeof value === "number") return `"${value}"^^<http://www.w3.org/2001/XMLSchema#integer>`;
  if (typeof value === "string") return `"${value}"`;
  return "iri" in value ? `<${value.iri}>` : `"${value.text}"@${value.language}`;
}

const triple = (subject: string, predicate: string, value: Value): string =>
  `<${subject}> <${predicate}> ${termText(value)} .`;

/** A library, reviews of its books by their IRIs, and shops that write the books' keys in ways of their own. */
export function generateLibrary(random: Random): LibraryData {
  return { library: libraryOf(random), reviews: reviewsOf(random), ...shopsOf(random) };
}

function libraryOf(random: Random): string {
  const lines: string[] = [];
  for (let at = 0; at < authors; at++) {
    const iri = `http://library.example/author/${at}`;
    lines.push(
      triple(iri, type, { iri: l("Author") }),
      triple(iri, l("fullName"), authorName(at)),
      triple(iri, l("bornIn"), 1900 + random.below(90)),
      triple(iri, l("homeCountry"), { text: random.pick(countries), language: "en" }),
    );
  }
  for (let at = 0; at < publishers; at++) {
    const iri = `http://library.example/publisher/${at}`;
    lines.push(
      triple(iri, type, { iri: l("Publisher") }),
      triple(iri, l("companyName"), `House No. ${at}`),
      triple(iri, l("seat"), random.pick(cities)),
    );
  }
  for (let at = 0; at < books; at++) {
    lines.push(
      triple(bookIri(at), type, { iri: l("Book") }),
      triple(bookIri(at), l("title"), { text: `The ${random.pick(lastNames)} Papers ${at}`, language: "en" }),
      triple(bookIri(at), l("catalogueKey"), bookKey(at)),
      triple(bookIri(at), l("pageCount"), 80 + random.below(700)),
      triple(bookIri(at), l("genre"), random.pick(genres)),
      triple(bookIri(at), l("yearOfIssue"), 1950 + random.below(70)),
      triple(bookIri(at), l("writtenBy"), { iri: `http://library.example/author/${random.below(authors)}` }),
      triple(bookIri(at), l("issuedBy"), { iri: `http://library.example/publisher/${random.below(publishers)}` }),
    );
  }
  return lines.join("\n");
}

function reviewsOf(random: Random): string {
  const lines: string[] = [];
  for (let at = 0; at < reviews; at++) {
    const iri = `http://reviews.example/review/${at}`;
    lines.push(
      triple(iri, type, { iri: r("Review") }),
      triple(iri, r("subject"), { iri: bookIri(random.below(books)) }),
      triple(iri, r("stars"), 1 + random.below(5)),
      triple(iri, r("reviewer"), `Reader ${random.below(90)}`),
    );
  }
  return lines.join("\n");
}

/** The class of the offers whose keys have a style. */
export const offerClass = (style: KeyStyle): string => s(`Offer${keyStyles.indexOf(style)}`);
export const offerKey = (style: KeyStyle): string => s(`ref${keyStyles.indexOf(style)}`);
/** Whether the library's side of a style is the IRI of the book, not its key. */
export const joinsIris = (style: KeyStyle): boolean => style === "scheme" || style === "same-as";

/** Numbers of the shops' own, so that a book and an item with one number are two things. */
const itemIri = (book: number): string => `http://shops.example/item/${(7 * book + 13) % books}`;

function styled(style: KeyStyle, at: number): Value {
  const key = bookKey(at);
  switch (style) {
    case "node":
      return { iri: `urn:book:${key}` };
    case "scheme":
      return { iri: bookIri(at).replace("http:", "https:") };
    case "case":
      return key.toLowerCase();
    case "padding":
      return `BK-${at}`;
    case "version":
      return `${key}.${1 + (at % 3)}`;
    case "blanks":
      return ` ${key} `;
    case "curie":
      return `lib:${key}`;
    default:
      return { iri: itemIri(at) };
  }
}

function shopsOf(random: Random): Pick<LibraryData, "shops" | "truth"> {
  const lines: string[] = [];
  const truth: string[] = [];
  for (let at = 0; at < shops; at++) {
    const iri = `http://shops.example/shop/${at}`;
    lines.push(
      triple(iri, type, { iri: s("Shop") }),
      triple(iri, s("shopName"), `Shop ${at}`),
      triple(iri, s("town"), random.pick(cities)),
    );
  }
  for (const style of keyStyles) {
    for (let at = 0; at < offersOfStyle; at++) {
      const iri = `http://shops.example/offer/${style}/${at}`;
      const book = random.below(books);
      lines.push(
        triple(iri, type, { iri: offerClass(style) }),
        triple(iri, offerKey(style), styled(style, book)),
        triple(iri, s("price"), 5 + random.below(60)),
        triple(iri, s("soldBy"), { iri: `http://shops.example/shop/${random.below(shops)}` }),
      );
      truth.push(triple(iri, "urn:bench:book", { iri: bookIri(book) }));
      if (style !== "same-as") continue;
      const same = "http://www.w3.org/2002/07/owl#sameAs";
      lines.push(triple(itemIri(book), same, { iri: bookIri(book) }));
    }
  }
  return { shops: lines.join("\n"), truth: truth.join("\n") };
}
