import { type Country, countries } from "./countries.ts";
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
import { dcterms, populationTotal, rdfsLabel, rdfType, schema } from "./vocabulary.ts";
import type { City, World } from "./world.ts";

const namespace = "https://places.example/";

/** The IRI of a city; the people endpoint refers to it. */
export const cityIri = ({ id }: City): TermText => iri(`${namespace}city/${id}`);
const countryIri = ({ code }: Country): TermText => iri(`${namespace}country/${code}`);

/** Cities and countries with labels in two languages, coordinates and population. */
export function placesData({ cities }: World): string {
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
