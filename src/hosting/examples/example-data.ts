import {
  createWorld,
  type World,
  createRandom,
  type Random,
  type City,
  fullName,
  padded,
  type Person,
} from "./world.ts";
import {
  blank,
  createTripleWriter,
  iri,
  plain,
  type TermText,
  type TripleWriter,
  tagged,
  typed,
  dcterms,
  rdfType,
  schema,
  foaf,
  owlSameAs,
  populationTotal,
  rdfsLabel,
  sosa,
} from "./triple-writer.ts";
import { type Country, countries } from "./countries.ts";

const generators: ReadonlyMap<string, (world: World) => string> = new Map([
  ["museums", museumsData],
  ["people", peopleData],
  ["places", placesData],
  ["library", libraryData],
  ["weather", weatherData],
]);

/** Catalogue ids of the example endpoints, the one nobody needs last. */
export const exampleIds: readonly string[] = [...generators.keys()];

/**
 * The data of one example endpoint as N-Triples; the same text each time.
 * @throws RangeError for an unknown id
 */
export function exampleData(id: string): string {
  const generate = generators.get(id);
  if (generate === undefined) throw new RangeError(`no example endpoint ${id}`);
  return generate(createWorld());
}

const museumsNamespace = "https://museums.example/";
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
const artistIri = ({ id }: Person): TermText => iri(`${museumsNamespace}agent/${id.slice(2).replace(/^0+/, "")}`);

/** Museums, their works, and artists under IRIs of their own with the authority number as a literal. */
function museumsData({ cities, artists }: World): string {
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

const museumIri = ({ id }: City): TermText => iri(`${museumsNamespace}museum/${id}`);

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
    iri(`${museumsNamespace}work/${padded(index, 4)}`),
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

/** The IRI of a person; the library refers to it. */
const personIri = ({ id }: Person): TermText => iri(`https://people.example/id/${id}`);

/** Everybody, with dates, birthplace (an IRI of the places endpoint), nationality (a country code) and acquaintances. */
function peopleData({ persons, artists }: World): string {
  const random = createRandom(11);
  const writer = createTripleWriter();
  const isArtist = new Set(artists);
  for (const person of persons) {
    writer.add(
      personIri(person),
      [rdfType, iri(foaf("Person"))],
      [foaf("name"), plain(fullName(person))],
      [foaf("givenName"), plain(person.given)],
      [foaf("familyName"), plain(person.family)],
      [dcterms("identifier"), plain(person.id)],
      [schema("birthDate"), typed(person.born.date, "date")],
      [schema("birthPlace"), cityIri(person.birthplace)],
      [schema("nationality"), plain(person.birthplace.country.code)],
      [schema("hasOccupation"), tagged(person.occupation, "en")],
    );
    if (person.died !== undefined)
      writer.add(personIri(person), [schema("deathDate"), typed(person.died.date, "date")]);
    if (isArtist.has(person)) writer.add(personIri(person), [owlSameAs, artistIri(person)]);
    const friend = random.pick(persons);
    if (friend !== person) writer.add(personIri(person), [foaf("knows"), personIri(friend)]);
  }
  return writer.text();
}

const placesNamespace = "https://places.example/";

/** The IRI of a city; the people endpoint refers to it. */
const cityIri = ({ id }: City): TermText => iri(`${placesNamespace}city/${id}`);
const countryIri = ({ code }: Country): TermText => iri(`${placesNamespace}country/${code}`);

/** Cities and countries with labels in two languages, coordinates and population. */
function placesData({ cities }: World): string {
  const writer = createTripleWriter();
  for (const country of countries) {
    writer.add(
      countryIri(country),
      [rdfType, iri(schema("Country"))],
      [rdfsLabel, tagged(country.name, "en"), tagged(country.localName, country.language)],
      [dcterms("identifier"), plain(country.code)],
    );
  }
  for (const city of cities) addCity(writer, city);
  return writer.text();
}

function addCity(writer: TripleWriter, city: City): void {
  const position = blank(`position${city.id.replace("-", "")}`);
  writer.add(
    cityIri(city),
    [rdfType, iri(schema("City"))],
    [rdfsLabel, tagged(city.name, "en"), tagged(city.name, city.country.language)],
    [dcterms("identifier"), plain(city.id)],
    [schema("containedInPlace"), countryIri(city.country)],
    [populationTotal, typed(String(city.population), "integer")],
    [schema("geo"), position],
  );
  writer.add(
    position,
    [rdfType, iri(schema("GeoCoordinates"))],
    [schema("latitude"), typed(city.latitude, "decimal")],
    [schema("longitude"), typed(city.longitude, "decimal")],
  );
}

const libraryNamespace = "https://library.example/";
const bookCount = 380;
const printCount = 160;

/** Books about artists and a collection of prints; persons are IRIs of the people endpoint or authority records. */
function libraryData({ artists, authors }: World): string {
  const random = createRandom(13);
  const writer = createTripleWriter();
  for (const person of authors) addAuthority(writer, person);
  for (let index = 1; index <= bookCount; index += 1) {
    addBook(writer, { index, author: random.pick(authors), subject: random.pick(artists), random });
  }
  for (let index = 1; index <= printCount; index += 1) addPrint(writer, index, random.pick(artists));
  return writer.text();
}

const authorityIri = ({ id }: Person): TermText => iri(`${libraryNamespace}authority/${id}`);

function addAuthority(writer: TripleWriter, person: Person): void {
  writer.add(
    authorityIri(person),
    [rdfType, iri(foaf("Person"))],
    [foaf("name"), plain(`${person.family}, ${person.given}`)],
    [owlSameAs, personIri(person)],
  );
}

interface Book {
  readonly index: number;
  readonly author: Person;
  readonly subject: Person;
  readonly random: Random;
}

function addBook(writer: TripleWriter, { index, author, subject, random }: Book): void {
  const city = subject.birthplace;
  const title = random.chance(0.5) ? `${fullName(subject)}: A Life` : `The Painters of ${city.name}`;
  const year = Math.max(author.born.year, subject.born.year) + 40 + random.below(20);
  writer.add(
    iri(`${libraryNamespace}book/${padded(index, 4)}`),
    [rdfType, iri(schema("Book"))],
    [dcterms("title"), tagged(title, "en")],
    [dcterms("creator"), authorityIri(author)],
    [dcterms("subject"), personIri(subject)],
    [dcterms("date"), typed(String(year), "gYear")],
    [schema("inLanguage"), plain(city.country.language)],
    [schema("isbn"), plain(`978-0-${padded(random.below(100_000), 5)}-${padded(index, 3)}-${random.below(10)}`)],
  );
}

/** Prints by artists whose paintings hang in the museums: the class VisualArtwork is split over two endpoints. */
function addPrint(writer: TripleWriter, index: number, artist: Person): void {
  writer.add(
    iri(`${libraryNamespace}print/${padded(index, 4)}`),
    [rdfType, iri(schema("VisualArtwork"))],
    [dcterms("title"), tagged(`${artist.birthplace.name}, etching no. ${index}`, "en")],
    [dcterms("creator"), personIri(artist)],
    [schema("artMedium"), tagged("etching", "en")],
  );
}

const weatherNamespace = "https://weather.example/";
const stationCount = 25;

/** Temperatures of stations at sea: common vocabulary, but nothing that the other endpoints know of. */
function weatherData(): string {
  const random = createRandom(14);
  const writer = createTripleWriter();
  for (let station = 1; station <= stationCount; station += 1) {
    const subject = iri(`${weatherNamespace}station/${station}`);
    const position = blank(`buoy${station}`);
    writer.add(
      subject,
      [rdfType, iri(sosa("Platform"))],
      [rdfsLabel, plain(`Buoy ${station}`)],
      [schema("geo"), position],
    );
    writer.add(
      position,
      [rdfType, iri(schema("GeoCoordinates"))],
      [schema("latitude"), typed((random.below(120_000) / 1_000 - 60).toFixed(3), "decimal")],
      [schema("longitude"), typed((random.below(360_000) / 1_000 - 180).toFixed(3), "decimal")],
    );
    for (let month = 1; month <= 10; month += 1) {
      writer.add(
        iri(`${weatherNamespace}observation/${station}-${padded(month, 2)}`),
        [rdfType, iri(sosa("Observation"))],
        [sosa("madeBySensor"), subject],
        [sosa("observedProperty"), iri(`${weatherNamespace}property/water-temperature`)],
        [sosa("hasSimpleResult"), typed((random.below(300) / 10).toFixed(1), "decimal")],
        [sosa("resultTime"), typed(`2023-${padded(month, 2)}-15T12:00:00Z`, "dateTime")],
      );
    }
  }
  return writer.text();
}
