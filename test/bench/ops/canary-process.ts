/**
 * Endpoints that answer every query at once with the rows of the canary, on all addresses of 127.0.0.0/8: a process of
 * its own, so that its work is not counted. Sends its port to its parent.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const integer = "http://www.w3.org/2001/XMLSchema#integer";
const answer = JSON.stringify({
  head: { vars: ["x"] },
  results: { bindings: [1, 2, 3].map((value) => ({ x: { type: "literal", datatype: integer, value: `${value}` } })) },
});

let answered = 0;
const server = createServer((request, response) => {
  request.resume().on("end", () => {
    answered++;
    response.writeHead(200, { "Content-Type": "application/sparql-results+json" }).end(answer);
  });
});
server.keepAliveTimeout = 5_000;
server.listen(0, "0.0.0.0", () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on("message", () => process.send?.({ answered }));
process.on("disconnect", () => process.exit(0));
