import { afterAll, beforeAll, expect, it } from "vitest";
import { createEndpointDescriber } from "../../../support/endpoint-describer.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../../support/sparql-test-server.ts";

const rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const data = `<urn:s> <${rdf}type> <urn:C> .
<urn:s> <urn:p> "a" .
<urn:s> <urn:p> "a"@en .
<urn:s> <urn:p> "a"@en--ltr .
<urn:s> <urn:p> "a"@en--rtl .
<urn:s> <urn:p> <urn:o> .
<urn:s> <urn:p> <<( <urn:a> <urn:b> "a"@en--ltr )>> .
<urn:s> <urn:p> <<( <urn:a> <urn:b> "a"@en--rtl )>> .
`;

let server: SparqlTestServer;
beforeAll(async () => {
  server = await startSparqlTestServer(data);
});
afterAll(() => server?.close());

// [how it is described, bytes up to which data are read whole]
it.each([
  ["triple by triple", 100_000],
  ["by queries", 0],
])("a description made %s counts directional strings and triple terms as what they are", async (_, readBytes) => {
  const describer = createEndpointDescriber({ readBytes });
  try {
    const { propertyPartitions } = await describer.describe(server.url);
    const found = propertyPartitions.find(({ property }) => property === "urn:p");
    const datatypes = found?.datatypes?.map(({ iri, triples }) => [iri, triples?.value]) ?? [];
    expect(Object.fromEntries(datatypes)).toEqual({
      "http://www.w3.org/2001/XMLSchema#string": 1,
      [`${rdf}langString`]: 1,
      [`${rdf}dirLangString`]: 2,
    });
    expect([found?.triples?.value, found?.distinctObjects?.value]).toEqual([7, 7]);
  } finally {
    await describer.close();
  }
});
