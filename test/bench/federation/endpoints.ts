import { createServer } from "node:http";

// Endpoints of the federation bench, as a process of their own: /left/N/sparql knows N subjects with a name each, and
// /right/sparql one number for each of the first 20,000, or for those that VALUES names. LIMIT and OFFSET are heeded.
// Prints its origin.

const asked = /<urn:bench:s(\d+)>/gu;

const server = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const query = decodeURIComponent(Buffer.concat(pieces).toString().replaceAll("+", " "));
    const [, side = "", size = "0"] = (request.url ?? "").split("/");
    const numbers =
      side === "left"
        ? Array.from({ length: Number(size) }, (_, number) => String(number))
        : query.includes("VALUES")
          ? [...new Set(Array.from(query.matchAll(asked), ([, number = ""]) => number))]
          : Array.from({ length: 20_000 }, (_, number) => String(number));
    const from = Number(/\bOFFSET (\d+)/u.exec(query)?.[1] ?? 0);
    const most = Number(/\bLIMIT (\d+)/u.exec(query)?.[1] ?? Number.POSITIVE_INFINITY);
    const rows = numbers.slice(from, from + most).map((number) => {
      const value = side === "left" ? `A name that subject ${number} has` : `${Number(number) * 7}`;
      return `{"s":{"type":"uri","value":"urn:bench:s${number}"},"${side}":{"type":"literal","value":"${value}"}}`;
    });
    const body = Buffer.from(`{"head":{"vars":["s","${side}"]},"results":{"bindings":[${rows.join(",")}]}}`);
    response.writeHead(200, { "content-type": "application/sparql-results+json", "content-length": body.length });
    response.end(body);
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") process.stdout.write(`http://127.0.0.1:${address.port}\n`);
});
