import { shopPrefixes } from "./generate.ts";

/** A query over the shop, and how it is answered with the fewest requests by one who knows where everything is. */
export interface ShopQuery {
  readonly name: string;
  readonly text: string;
  /** The members that it needs become more with the federation. */
  readonly wide?: boolean | undefined;
  /**
   * The plan by hand: CONSTRUCT queries, one round after the other, each sent at once to those members alone that have
   * something to say to it. What they tell is put together here.
   * @param known the rows of a query over what has been told so far
   */
  readonly rounds: readonly ((known: (query: string) => readonly Row[]) => string)[];
  /** Asked of what was told, where that is not the query itself. */
  readonly last?: string | undefined;
}

type Row = ReadonlyMap<string, { toString(): string }>;

// Type 0 belongs to the first group: 5 of its 10 vendors sell it, 8 of its 10 sites review it.
const product = "product:0-0";
const offer = "<http://vendor0.shop.example/offer/0>";
const review = "<http://site0.shop.example/review/0>";

const construct = (pattern: string, filter = "", optional = ""): string =>
  `CONSTRUCT { ${pattern} ${optional} } WHERE { ${pattern} ${filter} ${optional && `OPTIONAL { ${optional} }`} }`;

const star01 =
  "?local a type:0 ; rdfs:label ?label ; owl:sameAs ?product ; shop:feature feature:0-0 , feature:0-2 ; shop:size ?size .";
const star03 =
  "?local a type:0 ; rdfs:label ?label ; owl:sameAs ?product ; shop:feature feature:0-1 ; shop:size ?size ; shop:weight ?weight .";
const without03 = "?local shop:feature feature:0-3 ; shop:producer ?producer .";
const star04 = "?local a type:everyday ; rdfs:label ?label ; owl:sameAs ?product ; shop:size ?size .";
const star02 =
  "?local owl:sameAs product:0-0 ; rdfs:label ?label ; rdfs:comment ?comment ; shop:producer ?producer ; shop:feature ?feature .";
const labels02 = "?feature rdfs:label ?featureLabel .";
const offers07 =
  '?offer shop:product ?local ; shop:price ?price ; shop:vendor ?vendor ; shop:validTo ?validTo . ?vendor shop:country "DE" .';
const reviews07 = `?review shop:reviewFor ${product} ; shop:reviewer ?reviewer ; shop:title ?title . ?reviewer foaf:name ?name .`;
const star08 = `?review shop:reviewFor ${product} ; shop:title ?title ; shop:text ?text ; shop:date ?date ; shop:reviewer ?reviewer .
  ?reviewer foaf:name ?name .`;
const star10 = `?local owl:sameAs ${product} .
  ?offer shop:product ?local ; shop:vendor ?vendor ; shop:deliveryDays ?days ; shop:price ?price . ?vendor shop:country "US" .`;
const star12 = `${offer} shop:product ?local ; shop:price ?price ; shop:vendor ?vendor ; shop:validTo ?validTo .
  ?local rdfs:label ?label ; owl:sameAs ?product . ?vendor rdfs:label ?name ; foaf:homepage ?homepage .`;

const withoutPrefixes: readonly ShopQuery[] = [
  {
    name: "q01",
    text: `SELECT DISTINCT ?product ?label { ${star01} FILTER(?size > 200) } ORDER BY ?product ?label LIMIT 10`,
    rounds: [() => construct(star01, "FILTER(?size > 200)")],
  },
  {
    name: "q02",
    text: `SELECT DISTINCT ?label ?comment ?producer ?featureLabel ?weight { ${star02} ${labels02} OPTIONAL { ?local shop:weight ?weight } }`,
    rounds: [() => construct(star02 + labels02, "", "?local shop:weight ?weight .")],
  },
  {
    name: "q03",
    text: `SELECT DISTINCT ?product ?label { ${star03} FILTER(?size > 100) FILTER(?weight < 900)
      OPTIONAL { ${without03} } FILTER(!BOUND(?producer)) } ORDER BY ?product ?label LIMIT 10`,
    rounds: [() => construct(star03, "FILTER(?size > 100) FILTER(?weight < 900)", without03)],
  },
  {
    name: "q04",
    wide: true,
    text: `SELECT DISTINCT ?product ?label ?size {
      { ${star04} ?local shop:feature feature:everyday-0 FILTER(?size > 300) }
      UNION { ${star04} ?local shop:feature feature:everyday-3 ; shop:weight ?weight FILTER(?weight < 500) }
    } ORDER BY ?product ?label ?size OFFSET 2 LIMIT 10`,
    rounds: [
      () => `CONSTRUCT { ${star04} ?local shop:feature ?feature ; shop:weight ?weight } WHERE { ${star04}
        ?local shop:feature ?feature FILTER(?feature IN (feature:everyday-0, feature:everyday-3)) OPTIONAL { ?local shop:weight ?weight } }`,
    ],
  },
  {
    name: "q05",
    text: `SELECT DISTINCT ?product ?label { ?mine owl:sameAs ${product} ; shop:feature ?feature ; shop:size ?size .
      ?local shop:feature ?feature ; owl:sameAs ?product ; rdfs:label ?label ; shop:size ?other .
      FILTER(?product != ${product}) FILTER(?other < ?size + 200 && ?other > ?size - 200) } ORDER BY ?product ?label LIMIT 5`,
    rounds: [
      () => construct(`?mine owl:sameAs ${product} ; shop:feature ?feature ; shop:size ?size .`),
      (known) => {
        const features = new Set(known("SELECT ?f { ?mine shop:feature ?f }").map((row) => String(row.get("f"))));
        const sizes = known("SELECT DISTINCT ?n { ?mine shop:size ?s BIND(STR(?s) AS ?n) }").map((row) =>
          Number(String(row.get("n")).replaceAll('"', "")),
        );
        const pattern = "?local shop:feature ?feature ; owl:sameAs ?product ; rdfs:label ?label ; shop:size ?other .";
        return construct(
          pattern,
          `VALUES ?feature { ${[...features].join(" ")} }
            FILTER(?other < ${Math.max(...sizes) + 200} && ?other > ${Math.min(...sizes) - 200})`,
        );
      },
    ],
  },
  {
    name: "q06",
    wide: true,
    text: `SELECT DISTINCT ?product ?label { ?local owl:sameAs ?product ; rdfs:label ?label FILTER(CONTAINS(?label, "walnut")) }
      ORDER BY ?product ?label LIMIT 20`,
    rounds: [() => construct("?local owl:sameAs ?product ; rdfs:label ?label .", 'FILTER(CONTAINS(?label, "walnut"))')],
  },
  {
    name: "q07",
    text: `SELECT DISTINCT ?label ?offer ?price ?vendor ?review ?title ?name ?rating { ?local owl:sameAs ${product} ; rdfs:label ?label .
      OPTIONAL { ${offers07} FILTER(?validTo > "2026-05-01"^^xsd:date) }
      OPTIONAL { ${reviews07} OPTIONAL { ?review shop:rating2 ?rating } } }`,
    rounds: [
      () => `CONSTRUCT { ?local owl:sameAs ${product} ; rdfs:label ?label . ${offers07} ${reviews07} ?review shop:rating2 ?rating }
        WHERE { { ?local owl:sameAs ${product} ; rdfs:label ?label OPTIONAL { ${offers07} FILTER(?validTo > "2026-05-01"^^xsd:date) } }
          UNION { ${reviews07} OPTIONAL { ?review shop:rating2 ?rating } } }`,
    ],
  },
  {
    name: "q08",
    text: `SELECT ?title ?text ?date ?review ?name ?rating1 ?rating2 { ${star08} FILTER(LANG(?text) = "en")
      OPTIONAL { ?review shop:rating1 ?rating1 } OPTIONAL { ?review shop:rating2 ?rating2 } } ORDER BY DESC(?date) ?review LIMIT 20`,
    rounds: [
      () => `CONSTRUCT { ${star08} ?review shop:rating1 ?rating1 ; shop:rating2 ?rating2 } WHERE { ${star08} FILTER(LANG(?text) = "en")
        OPTIONAL { ?review shop:rating1 ?rating1 } OPTIONAL { ?review shop:rating2 ?rating2 } }`,
    ],
  },
  {
    name: "q09",
    text: `SELECT DISTINCT ?property ?value { ${review} shop:reviewer ?person . ?person ?property ?value }`,
    rounds: [() => construct(`${review} shop:reviewer ?person . ?person ?property ?value .`)],
  },
  {
    name: "q10",
    text: `SELECT DISTINCT ?offer ?price { ${star10} FILTER(?days <= 4) } ORDER BY ?price ?offer LIMIT 10`,
    rounds: [() => construct(star10, "FILTER(?days <= 4)")],
  },
  {
    name: "q11",
    text: `SELECT DISTINCT ?property ?value ?of { { ${offer} ?property ?value } UNION { ?of ?property ${offer} } }`,
    rounds: [
      () => `CONSTRUCT { ${offer} ?property ?value . ?of ?inverse ${offer} }
        WHERE { { ${offer} ?property ?value } UNION { ?of ?inverse ${offer} } }`,
    ],
  },
  {
    name: "q12",
    text: `SELECT DISTINCT ?label ?product ?price ?name ?homepage ?validTo { ${star12} }`,
    rounds: [() => construct(star12)],
  },
  {
    name: "total",
    wide: true,
    text: `SELECT ?country (COUNT(?offer) AS ?offers) (MIN(?price) AS ?least) (MAX(?price) AS ?most) (SUM(?price) AS ?sum)
      { ?offer shop:vendor ?vendor ; shop:price ?price . ?vendor shop:country ?country } GROUP BY ?country`,
    rounds: [
      () => `CONSTRUCT { ?vendor shop:country ?country ; shop:offers ?offers ; shop:least ?least ; shop:most ?most ; shop:sum ?sum }
        WHERE { { SELECT ?vendor ?country (COUNT(?offer) AS ?offers) (MIN(?price) AS ?least) (MAX(?price) AS ?most) (SUM(?price) AS ?sum)
          { ?offer shop:vendor ?vendor ; shop:price ?price . ?vendor shop:country ?country } GROUP BY ?vendor ?country } }`,
    ],
    last: `SELECT ?country (SUM(?o) AS ?offers) (MIN(?l) AS ?least) (MAX(?m) AS ?most) (SUM(?s) AS ?sum)
      { ?vendor shop:country ?country ; shop:offers ?o ; shop:least ?l ; shop:most ?m ; shop:sum ?s } GROUP BY ?country`,
  },
];

/** Twelve queries in the spirit of FedShop's, and one that counts over all vendors; none says where anything is. */
export const shopQueries: readonly ShopQuery[] = withoutPrefixes.map(({ name, wide, text, rounds, last }) => ({
  name,
  wide,
  text: shopPrefixes + text,
  last: last === undefined ? undefined : shopPrefixes + last,
  rounds: rounds.map(
    (round): ShopQuery["rounds"][number] =>
      (known) =>
        shopPrefixes + round((query) => known(shopPrefixes + query)),
  ),
}));
