import { createRandom } from "./random.ts";
import { blank, createTripleWriter, iri, plain, type TermText, typed } from "./triple-writer.ts";
import { rdfsLabel, rdfType, schema, sosa } from "./vocabulary.ts";
import { padded } from "./world.ts";

const namespace = "https://weather.example/";
const stationCount = 25;
const months = 10;

/** Temperatures of stations at sea: common vocabulary, but nothing that the other endpoints know of. */
export function weatherData(): string {
  const random = createRandom(14);
  const writer = createTripleWriter();
  for (let station = 1; station <= stationCount; station += 1) {
    const subject = iri(`${namespace}station/${station}`);
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
    for (let month = 1; month <= months; month += 1) {
      writer.add(observationIri(station, month), [rdfType, iri(sosa("Observation"))], [sosa("madeBySensor"), subject]);
      writer.add(
        observationIri(station, month),
        [sosa("observedProperty"), iri(`${namespace}property/water-temperature`)],
        [sosa("hasSimpleResult"), typed((random.below(300) / 10).toFixed(1), "decimal")],
        [sosa("resultTime"), typed(`2023-${padded(month, 2)}-15T12:00:00Z`, "dateTime")],
      );
    }
  }
  return writer.text();
}

const observationIri = (station: number, month: number): TermText =>
  iri(`${namespace}observation/${station}-${padded(month, 2)}`);
