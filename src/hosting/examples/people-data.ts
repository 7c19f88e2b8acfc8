import { artistIri } from "./museums-data.ts";
import { cityIri } from "./places-data.ts";
import { createRandom } from "./random.ts";
import { createTripleWriter, iri, plain, type TermText, tagged, typed } from "./triple-writer.ts";
import { dcterms, foaf, owlSameAs, rdfType, schema } from "./vocabulary.ts";
import { fullName, type Person, type World } from "./world.ts";

/** The IRI of a person; the library refers to it. */
export const personIri = ({ id }: Person): TermText => iri(`https://people.example/id/${id}`);

/** Everybody, with dates, birthplace (an IRI of the places endpoint), nationality (a country code) and acquaintances. */
export function peopleData({ persons, artists }: World): string {
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
