#!/usr/bin/env bash
# digest-fetch 3.1.1 and digest-header 1.1.0 (HTTP Digest): the nonce count is a decimal number, and goes on with a new nonce.
# Needs Node with npm.
#
# Expected: nc is the hexadecimal count of the requests that the client has sent with this nonce, the present one included
# (RFC 7616, section 3.4): 00000001 ... 00000009, 0000000a with one nonce, and 00000001 with the next.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund digest-fetch@3.1.1 digest-header@1.1.0 >/dev/null
cat >run.mjs <<'JS'
import { createServer } from "node:http";
import { once } from "node:events";
import DigestClient from "digest-fetch";
import digestHeader from "digest-header";

const countIn = (header) => /nc=([0-9a-f]+)/.exec(header)[1];
const challenge = (nonce) => `Digest realm="r", nonce="${nonce}", qop="auth", algorithm=MD5`;

// A nonce is good for ten requests.
const seen = [];
let nonce = 0;
const server = createServer(({ headers: { authorization = "" } }, response) => {
  const isGood = authorization.includes(`nonce="n${nonce}"`) && (seen[nonce] ?? []).length < 10;
  if (isGood) (seen[nonce] ??= []).push(countIn(authorization));
  else nonce += 1;
  response.writeHead(isGood ? 200 : 401, isGood ? {} : { "www-authenticate": challenge(`n${nonce}`) }).end();
}).listen(0, "127.0.0.1");
await once(server, "listening");
const client = new DigestClient("user", "secret");
for (let time = 0; time < 12; time += 1) await client.fetch(`http://127.0.0.1:${server.address().port}/`);
server.close();
const [, first, second] = seen;
console.log("digest-fetch, tenth count of a nonce:", first[9]);
console.log("digest-fetch, first count of the next nonce:", second[0]);

const headers = Array.from({ length: 10 }, () => digestHeader("GET", "/", challenge("a"), "user:secret"));
console.log("digest-header, tenth count of a nonce:", countIn(headers[9]));
console.log("digest-header, first count of the next nonce:", countIn(digestHeader("GET", "/", challenge("b"), "user:secret")));
JS
seen=$(node run.mjs)
known='digest-fetch, tenth count of a nonce: 00000010
digest-fetch, first count of the next nonce: 00000012
digest-header, tenth count of a nonce: 00000010
digest-header, first count of the next nonce: 00000011'
echo 'expected: 0000000a, then 00000001, from both'
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
