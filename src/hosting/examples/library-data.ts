import { personIri } from "./people-data.ts";
import { createRandom, type Random } from "./random.ts";
import { createTripleWriter, iri, plain, type TermText, type TripleWriter, tagged, typed } from "./triple-writer.ts";
import { dcterms, foaf, owlSameAs, rdfType, schema } from "./vocabulary.ts";
import { fullName, padded, type Person, type World } from "./world.ts";

const namespace = "https://library.example/";
const bookCount = 380;
const printCount = 160;

/** Books about artists and a collection of prints; persons are IRIs of the people endpoint or authority records. */
export function libraryData({ artists, authors }: World): string {
  const random = createRandom(13);
  const writer = createTripleWriter();
  for (const person of authors) addAuthority(writer, person);
  for (let index = 1; index <= bookCount; index += 1) {
    addBook(writer, { index, author: random.pick(authors), subject: random.pick(artists), random });
  }
  for (let index = 1; index <= printCount; index += 1) addPrint(writer, index, random.pick(artists));
  return writer.text();
}

const authorityIri = ({ id }: Person): TermText => iri(`${namespace}authority/${id}`);

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
    iri(`${namespace}book/${padded(index, 4)}`),
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
    iri(`${namespace}print/${padded(index, 4)}`),
    [rdfType, iri(schema("VisualArtwork"))],
    [dcterms("title"), tagged(`${artist.birthplace.name}, etching no. ${index}`, "en")],
    [dcterms("creator"), personIri(artist)],
    [schema("artMedium"), tagged("etching", "en")],
  );
}
