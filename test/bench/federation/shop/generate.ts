import { createRandom } from "../../../support/seeded-random.ts";

// A shop federation in the spirit of FedShop: vendors have offers of products, rating sites have reviews of them, and all
// use one vocabulary. Members come in groups of twenty. A group has product types of its own, so that a query about one of
// them needs the same members however many groups there are; products of the type "everyday" are sold everywhere.

/** N-Triples by the member's name. */
export type Shop = Readonly<Record<string, string>>;

export const shopPrefixes = `PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX shop: <http://shop.example/vocabulary#>
PREFIX type: <http://shop.example/type/>
PREFIX feature: <http://shop.example/feature/>
PREFIX product: <http://products.shop.example/>
`;

const groupSize = 20;
const typesOfGroup = 4;
const productsOfType = 30;
const featuresOfType = 20;
const countries = ["DE", "US", "FR"];
const words = (
  "walnut maple amber cobalt linen copper marble velvet cedar ivory slate coral hazel onyx pearl quartz " +
  "lamp chair clock kettle basket mirror drill saddle ladder anchor"
).split(" ");

interface Product {
  readonly iri: string;
  readonly type: string;
  readonly label: string;
  readonly comment: string;
  readonly producer: string;
  readonly features: readonly number[];
  readonly size: number;
  readonly weight: number | undefined;
}

const iri = (text: string): string => `<${text}>`;
const vocabulary = (name: string): string => iri(`http://shop.example/vocabulary#${name}`);
const rdf = (name: string): string => iri(`http://www.w3.org/1999/02/22-rdf-syntax-ns#${name}`);
const rdfs = (name: string): string => iri(`http://www.w3.org/2000/01/rdf-schema#${name}`);
const foaf = (name: string): string => iri(`http://xmlns.com/foaf/0.1/${name}`);
const sameAs = iri("http://www.w3.org/2002/07/owl#sameAs");
const typed = (value: number | string, type: string): string =>
  `"${value}"^^<http://www.w3.org/2001/XMLSchema#${type}>`;
const text = (value: string): string => `"${value}"`;
const typeIri = (type: string): string => iri(`http://shop.example/type/${type}`);
const featureIri = (type: string, feature: number): string => iri(`http://shop.example/feature/${type}-${feature}`);

/** The first vendors and sites of a larger shop are those of a smaller one, triple by triple. */
export function generateShop(members: number): Shop {
  const shop: Record<string, string> = {};
  for (let member = 0; member < members; member++) {
    const place = member >> 1;
    shop[member % 2 === 0 ? `vendor${place}` : `site${place}`] = member % 2 === 0 ? vendor(place) : site(place);
  }
  return shop;
}

const groupOf = (place: number): number => Math.floor(place / (groupSize / 2));
const below = (random: () => number, limit: number): number => Math.floor(random() * limit);

/** The products of a type; the same whoever asks. */
function productsOf(type: string): readonly Product[] {
  const seed = type === "everyday" ? 7 : 100 + Number(type);
  const random = createRandom(seed);
  const word = (): string => words[below(random, words.length)] ?? "";
  return Array.from({ length: productsOfType }, (_, number) => {
    const features = new Set([number % 2, 2 + below(random, 3)]);
    while (features.size < 5) features.add(below(random, featuresOfType));
    return {
      iri: iri(`http://products.shop.example/${type}-${number}`),
      type,
      label: `${word()} ${word()} ${type}-${number}`,
      comment: Array.from({ length: 12 }, word).join(" "),
      producer: iri(`http://products.shop.example/producer/${below(random, 10)}`),
      features: [...features],
      size: 1 + below(random, 1_000),
      weight: random() < 0.7 ? 1 + below(random, 1_000) : undefined,
    };
  });
}

const typesOf = (place: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, each) => String(groupOf(place) * typesOfGroup + ((place + each) % typesOfGroup)));

function vendor(place: number): string {
  const random = createRandom(1_000 + place);
  const origin = `http://vendor${place}.shop.example`;
  const self = iri(`${origin}/about`);
  const lines: string[] = [];
  const say = (...terms: readonly string[]): void => void lines.push(`${terms.join(" ")} .`);
  say(self, rdf("type"), vocabulary("Vendor"));
  say(self, rdfs("label"), text(`Vendor ${place}`));
  say(self, vocabulary("country"), text(countries[place % countries.length] ?? ""));
  say(self, foaf("homepage"), iri(`${origin}/`));
  let offers = 0;
  for (const type of [...typesOf(place, 2), "everyday"]) {
    for (let feature = 0; feature < featuresOfType; feature++) {
      say(featureIri(type, feature), rdf("type"), vocabulary("Feature"));
      say(featureIri(type, feature), rdfs("label"), text(`Feature ${feature} of ${type}`));
    }
    for (const [number, product] of productsOf(type).entries()) {
      // Whoever sells a type has its first product.
      if (random() > (type === "everyday" ? 0.3 : 0.8) && number > 0) continue;
      const local = iri(`${origin}/product/${type}-${number}`);
      sayProduct(say, local, product);
      for (let times = 0; times < 3; times++) {
        const offer = iri(`${origin}/offer/${offers++}`);
        const day = String(1 + below(random, 28)).padStart(2, "0");
        say(offer, rdf("type"), vocabulary("Offer"));
        say(offer, vocabulary("product"), local);
        say(offer, vocabulary("vendor"), self);
        say(offer, vocabulary("price"), typed(10 + below(random, 9_990), "integer"));
        say(offer, vocabulary("deliveryDays"), typed(1 + below(random, 7), "integer"));
        say(offer, vocabulary("validFrom"), typed(`2026-0${1 + below(random, 3)}-${day}`, "date"));
        say(offer, vocabulary("validTo"), typed(`2026-0${4 + below(random, 6)}-${day}`, "date"));
        say(offer, foaf("page"), iri(`${origin}/page/${offers}`));
      }
    }
  }
  say(self, vocabulary("offerOfTheDay"), iri(`${origin}/offer/0`));
  return lines.join("\n");
}

function sayProduct(say: (...terms: readonly string[]) => void, local: string, product: Product): void {
  say(local, rdf("type"), typeIri(product.type));
  say(local, sameAs, product.iri);
  say(local, rdfs("label"), text(product.label));
  say(local, rdfs("comment"), text(product.comment));
  say(local, vocabulary("producer"), product.producer);
  say(local, vocabulary("size"), typed(product.size, "integer"));
  if (product.weight !== undefined) say(local, vocabulary("weight"), typed(product.weight, "integer"));
  for (const feature of product.features) say(local, vocabulary("feature"), featureIri(product.type, feature));
}

function site(place: number): string {
  const random = createRandom(5_000 + place);
  const origin = `http://site${place}.shop.example`;
  const lines: string[] = [];
  const say = (...terms: readonly string[]): void => void lines.push(`${terms.join(" ")} .`);
  const words12 = (): string => Array.from({ length: 12 }, () => words[below(random, words.length)]).join(" ");
  for (let person = 0; person < 60; person++) {
    const self = iri(`${origin}/person/${person}`);
    say(self, rdf("type"), foaf("Person"));
    say(self, foaf("name"), text(`Person ${person} of site ${place}`));
    say(self, vocabulary("country"), text(countries[below(random, countries.length)] ?? ""));
    say(self, foaf("mbox"), iri(`mailto:person${person}@site${place}.shop.example`));
  }
  const types = typesOf(place, 3);
  for (let number = 0; number < 220; number++) {
    // The first product of its first type has six reviews at least.
    const [type, product] =
      number < 6
        ? [types[0] ?? "", 0]
        : [number % 10 === 0 ? "everyday" : (types[number % 3] ?? ""), below(random, productsOfType)];
    const review = iri(`${origin}/review/${number}`);
    const language = random() < 0.6 ? "en" : "de";
    say(review, rdf("type"), vocabulary("Review"));
    say(review, vocabulary("reviewFor"), iri(`http://products.shop.example/${type}-${product}`));
    say(review, vocabulary("reviewer"), iri(`${origin}/person/${below(random, 60)}`));
    say(review, vocabulary("title"), text(`Review ${number} of site ${place}`));
    say(review, vocabulary("text"), `${text(words12())}@${language}`);
    say(review, vocabulary("date"), typed(`2026-0${1 + below(random, 9)}-${10 + below(random, 18)}`, "date"));
    say(review, vocabulary("rating1"), typed(1 + below(random, 10), "integer"));
    if (random() < 0.5) say(review, vocabulary("rating2"), typed(1 + below(random, 10), "integer"));
    say(review, foaf("page"), iri(`${origin}/page/${number}`));
  }
  return lines.join("\n");
}
