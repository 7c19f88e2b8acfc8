import { createRandom, type Random } from "./random.ts";
import {
  blank,
  createTripleWriter,
  iri,
  plain,
  type TermText,
  type TripleWriter,
  tagged,
  typed,
} from "./triple-writer.ts";
import { dcterms, rdfType, schema } from "./vocabulary.ts";
import { type City, fullName, padded, type Person, type World } from "./world.ts";

const namespace = "https://museums.example/";
const museumEvery = 8;
const artworkCount = 750;
const media = ["oil on canvas", "tempera on panel", "watercolour", "bronze", "limestone", "charcoal"] as const;
const motifs = [
  "Still Life with Herring",
  "Winter Harbour",
  "The Letter",
  "Two Sisters",
  "Night Train",
  "Orchard",
] as const;

/** The museums' own IRI of an artist; the people endpoint says owl:sameAs. */
export const artistIri = ({ id }: Person): TermText => iri(`${namespace}agent/${id.slice(2).replace(/^0+/, "")}`);

/** Museums, their works, and artists under IRIs of their own with the authority number as a literal. */
export function museumsData({ cities, artists }: World): string {
  const random = createRandom(12);
  const writer = createTripleWriter();
  const museums = cities.filter((_, index) => index % museumEvery === 0);
  for (const city of museums) addMuseum(writer, city);
  for (const artist of artists) {
    writer.add(
      artistIri(artist),
      [rdfType, iri(schema("Person"))],
      [schema("name"), plain(fullName(artist))],
      [schema("identifier"), plain(artist.id)],
    );
  }
  for (let index = 1; index <= artworkCount; index += 1) {
    addArtwork(writer, { index, artist: random.pick(artists), museum: random.pick(museums), random });
  }
  return writer.text();
}

const museumIri = ({ id }: City): TermText => iri(`${namespace}museum/${id}`);

function addMuseum(writer: TripleWriter, city: City): void {
  const address = blank(`address${city.id.replace("-", "")}`);
  writer.add(
    museumIri(city),
    [rdfType, iri(schema("Museum"))],
    [schema("name"), tagged(`${city.name} Museum of Art`, "en")],
    [schema("identifier"), plain(`M-${city.id}`)],
    [schema("address"), address],
  );
  writer.add(
    address,
    [rdfType, iri(schema("PostalAddress"))],
    [schema("addressLocality"), plain(city.name)],
    [schema("addressCountry"), plain(city.country.code)],
  );
}

interface Artwork {
  readonly index: number;
  readonly artist: Person;
  readonly museum: City;
  readonly random: Random;
}

function addArtwork(writer: TripleWriter, { index, artist, museum, random }: Artwork): void {
  const year = Math.min(artist.born.year + 18 + random.below(40), artist.died?.year ?? Number.POSITIVE_INFINITY);
  writer.add(
    iri(`${namespace}work/${padded(index, 4)}`),
    [rdfType, iri(schema("VisualArtwork"))],
    [dcterms("title"), ...titles(artist, random)],
    [dcterms("creator"), artistIri(artist)],
    [schema("dateCreated"), typed(String(year), "gYear")],
    [schema("artMedium"), tagged(random.pick(media), "en")],
    [schema("height"), typed((20 + random.below(2_300) / 10).toFixed(1), "decimal")],
    [schema("location"), museumIri(museum)],
  );
}

/** A view of the artist's birthplace in two languages, or a motif. */
function titles({ birthplace }: Person, random: Random): readonly TermText[] {
  if (random.chance(0.6)) return [tagged(random.pick(motifs), "en")];
  const { country, name } = birthplace;
  return [tagged(`View of ${name}`, "en"), tagged(country.view.replace("{}", name), country.language)];
}
