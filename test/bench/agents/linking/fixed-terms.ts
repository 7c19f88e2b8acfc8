import { catalogEntry } from "../../../support/catalog-entry.ts";
import { classPartition, descriptionOf, propertyPartition } from "../../../support/synthetic-catalog.ts";
import type { Described } from "./question-sets.ts";

/**
 * Vocabularies of ten made-up endpoints, as real ones name things: `Class number-of-instances: property>Range, property`.
 * `=` sets a label.
 */
const schemas: Readonly<Record<string, readonly string[]>> = {
  administration: [
    "Municipality 2110: population, area, belongsTo>District, officialName, postalCode, mayor>Person",
    "District 143: capital>Municipality, inCanton>Canton",
    "Canton 26: abbreviation, joinedConfederation",
    "Person 9000: birthDate, surname, firstName",
  ],
  verwaltung: [
    "Gemeinde 10900: einwohnerzahl, fläche, liegtIn>Landkreis, bürgermeister",
    "Landkreis 294: kennzeichen, hauptort>Gemeinde",
    "Behörde 5200: anschrift, zuständigFür>Gemeinde",
  ],
  hospital: [
    "Patient 52000: bloodType, admittedOn, treatedBy>Physician, hasDiagnosis>Diagnosis",
    "Physician 800: specialty, worksIn>Ward",
    "Ward 45: numberOfBeds, floor",
    "Diagnosis 14000: icdCode, severity",
    "Prescription 88000: dosage, prescribedDrug>Drug",
    "Drug 3100: sideEffect, activeIngredient, halfLife",
  ],
  library: [
    "Book 410000: isbn, writtenBy>Author, publishedIn, numberOfPages, translatedFrom>Book",
    "Author 120000: placeOfBirth, deathDate, pseudonym",
    "Journal 8200: issn, impactFactor",
    "Manuscript 9100: shelfmark, watermark, copiedBy>Scribe",
    "Scribe 700: handwritingStyle",
  ],
  transit: [
    "RailwayStation 1750: platformCount, servedBy>TrainLine, wheelchairAccessible",
    "TrainLine 320: departureTime, arrivalTime, operatedBy>Company",
    "BusStop 23000: shelter, stop_name",
    "Company 90: headquarters, foundingYear",
    "Delay 710000: delayMinutes, cause",
  ],
  rivers: [
    "River 5100: length, flowsInto>River, dischargeRate, hasSource>Spring",
    "Lake 1480: maximumDepth, surfaceArea, shorelineLength",
    "Spring 9900: waterTemperature",
    "GaugingStation 640: measures>Measurement, installedOn",
    "Measurement 8200000: resultTime, waterLevel",
  ],
  energy: [
    "PowerPlant 4400: installedCapacity, fuelType, commissionedIn, emits>Pollutant",
    "WindTurbine 30600: hubHeight, rotorDiameter",
    "Pollutant 32: emissionFactor",
    "SolarPanel 210000: peakPower, tiltAngle",
    "Household 610000: annualConsumption, tariff",
  ],
  zoo: [
    "Animal 22000: species>Taxon, weightKg, livesIn>Enclosure, eats>Food",
    "Taxon 3900: scientificName, parentTaxon>Taxon, conservationStatus",
    "Enclosure 310: heated, visitorCapacity",
    "Keeper 260: hiredOn, responsibleFor>Enclosure",
    "Food 140: energyContent",
  ],
  registry_codes: [
    "C0001=Vessel 5100: P0101=home port, P0102=gross tonnage, P0103=year of construction",
    "C0002=Shipping company 410: P0201=registered office, P0202=fleet size",
    "C0003=Lighthouse 1900: P0301=focal height, P0302=light characteristic",
  ],
  museum: [
    "Gemälde=painting 18000: technique, createdBy>Künstler, dimensions",
    "Künstler=artist 5200: movement, activeFrom",
    "Œuvre 2400: série, datation",
    "Sculpture 7700: material, castBy>Foundry",
    "Foundry 64: openedIn",
    "Exhibition 900: curatedBy, openingDay, venue",
  ],
};

const lineForm = /^(\S+?)(?:=(.+?))? (\d+): (.*)$/u;
const propertyForm = /^(\S+?)(?:=([^>]+))?(?:>(\S+))?$/u;

/** The endpoints of these vocabularies. */
export const termEndpoints: readonly Described[] = Object.entries(schemas).map(([id, lines]) => {
  const base = `https://${id.replace("_", "-")}.example/ns#`;
  const labels = new Map<string, string>();
  const named = (name: string, label: string | undefined): string => {
    if (label !== undefined) labels.set(base + name, label);
    return base + name;
  };
  const classes = lines.map((line) => {
    const [, name = "", label, count = "", rest = ""] = lineForm.exec(line) ?? [];
    const properties = rest.split(", ").map((each, at) => {
      const [, property = "", its, range] = propertyForm.exec(each) ?? [];
      const triples = Math.max(1, Number(count) - at);
      return propertyPartition(named(property, its), { triples, ...(range !== undefined && { range: base + range }) });
    });
    return classPartition(named(name, label), Number(count), properties);
  });
  const description = descriptionOf({
    endpoint: `http://${id}.example/sparql`,
    classPartitions: classes.toSorted((left, right) => (right.entities?.value ?? 0) - (left.entities?.value ?? 0)),
    propertyPartitions: classes.flatMap(({ properties }) => properties),
    terms: [...labels].map(([iri, label]) => ({ iri, label, status: "exact", record: 0 })),
  });
  return { dataset: id, entry: catalogEntry(id.replace("_", "-")), description };
});

/** What people type, and the end of the IRI that must be among the first three. */
export const fixedTerms: readonly (readonly [query: string, name: string])[] = [
  // Number.
  ["municipalities", "#Municipality"],
  ["cantons", "#Canton"],
  ["people", "administration.example/ns#Person"],
  ["diagnoses", "#Diagnosis"],
  ["prescriptions", "#Prescription"],
  ["physicians", "#Physician"],
  ["libraries books", "#Book"],
  ["journals", "#Journal"],
  ["railway stations", "#RailwayStation"],
  ["companies", "#Company"],
  ["bus stops", "#BusStop"],
  ["rivers", "#River"],
  ["measurements", "#Measurement"],
  ["taxa", "#Taxon"],
  ["side effects", "#sideEffect"],
  ["active ingredients", "#activeIngredient"],
  ["foundries", "#Foundry"],
  ["exhibitions", "#Exhibition"],
  ["wind turbines", "#WindTurbine"],
  ["lengths", "#length"],
  ["households", "#Household"],
  ["capacities", "#installedCapacity"],
  // Case and separators.
  ["postal code", "#postalCode"],
  ["postal_code", "#postalCode"],
  ["POSTALCODE", "#postalCode"],
  ["official-name", "#officialName"],
  ["blood type", "#bloodType"],
  ["bloodtype", "#bloodType"],
  ["number of beds", "#numberOfBeds"],
  ["NumberOfPages", "#numberOfPages"],
  ["stopName", "#stop_name"],
  ["stop name", "#stop_name"],
  ["powerplant", "#PowerPlant"],
  ["power-plants", "#PowerPlant"],
  ["train line", "#TrainLine"],
  ["hub height", "#hubHeight"],
  ["water level", "#waterLevel"],
  ["ICD code", "#icdCode"],
  ["gauging station", "#GaugingStation"],
  ["tilt_angle", "#tiltAngle"],
  ["scientific name", "#scientificName"],
  ["weight kg", "#weightKg"],
  // Other forms of a word, and part of a name.
  ["translated", "#translatedFrom"],
  ["translation", "#translatedFrom"],
  ["emission", "#emissionFactor"],
  ["publishing", "#publishedIn"],
  ["written", "#writtenBy"],
  ["commissioned", "#commissionedIn"],
  ["curator", "#curatedBy"],
  ["departures", "#departureTime"],
  ["wheelchair access", "#wheelchairAccessible"],
  ["handwriting", "#handwritingStyle"],
  ["conservation", "#conservationStatus"],
  ["discharge of a river", "#dischargeRate"],
  ["depth of lakes", "#maximumDepth"],
  ["place where an author was born", "#placeOfBirth"],
  // Labels of names that say nothing.
  ["vessels", "#C0001"],
  ["home port", "#P0101"],
  ["tonnage", "#P0102"],
  ["construction year", "#P0103"],
  ["shipping companies", "#C0002"],
  ["lighthouses", "#C0003"],
  ["size of the fleet", "#P0202"],
  ["paintings", "#Gemälde"],
  ["artists", "#Künstler"],
  // Accents and other languages.
  ["Gemeinden", "#Gemeinde"],
  ["gemalde", "#Gemälde"],
  ["Kunstler", "#Künstler"],
  ["oeuvres", "#Œuvre"],
  ["serie", "#série"],
  ["Landkreise", "#Landkreis"],
  ["Behorden", "#Behörde"],
  ["Bürgermeister", "#bürgermeister"],
  ["burgermeister", "#bürgermeister"],
  ["Fläche", "#fläche"],
  ["Einwohnerzahl der Gemeinden", "#einwohnerzahl"],
  // Typing errors.
  ["municipalty", "#Municipality"],
  ["diagnosys", "#Diagnosis"],
  ["perscription", "#Prescription"],
  ["manuscirpt", "#Manuscript"],
  ["polutant", "#Pollutant"],
  ["enclosre", "#Enclosure"],
  ["physican", "#Physician"],
  ["headquaters", "#headquarters"],
  // Other words for it.
  ["doctor", "#Physician"],
  ["medicine", "#Drug"],
  ["painter", "#Künstler"],
  ["ship", "#C0001"],
  ["train stop", "#RailwayStation"],
  ["inhabitants", "#population"],
  ["writer", "#Author"],
  ["stream flowing into another", "#flowsInto"],
  ["illness", "#Diagnosis"],
  ["electricity use per year", "#annualConsumption"],
  ["family name", "#surname"],
  ["creature", "#Animal"],
  ["date of birth", "#birthDate"],
  ["how long is a river", "#length"],
  ["statue", "#Sculpture"],
];
if (fixedTerms.length !== 99) throw new Error(`${fixedTerms.length} fixed terms instead of 99`);
