import type { ManifestShard } from "../materialise/manifest.ts";
import { yamlText } from "./exports.ts";

/** A shard and the URL of its endpoint. */
export interface ServedShard extends ManifestShard {
  readonly url: string;
}

/** Fuseki as the tests run it; the checksum is that of its jar. */
const fuseki = { version: "5.6.0", sha256: "d28c1eaf703122ee628895a460c20fa4aa60a892f435d403ea8c036f241da1f8" };
const jar = `/opt/jena-fuseki-server-${fuseki.version}.jar`;

/**
 * A Compose file that serves each shard by a Fuseki of its own at the path of its URL, behind one nginx: whoever has no Fedway
 * asks the gold queries as they are. `--file` is a dataset in memory, which keeps terms as they are spelled.
 */
export function composeFile(dataset: string, baseUrl: string, shards: readonly ServedShard[]): string {
  const { hostname, port } = new URL(baseUrl);
  const isHere = /^(?:localhost|127\.0\.0\.1|\[::1\])$/u.test(hostname);
  const served = shards.map((shard, number) => ({ ...shard, name: `shard-${number + 1}` }));
  const listened = isHere ? port || "80" : "8080";
  return `# Serves the shards of ${dataset} without Fedway: docker compose up --detach --wait (Compose 2.23.1 or later).
# Then http://127.0.0.1:${listened} answers for ${baseUrl}${isHere ? "" : "; direct requests for it here"}.
x-fuseki: &fuseki
  image: fuseki-of-benchmarks:${fuseki.version}
  build:
    dockerfile_inline: |
      FROM maven:3.9.9-eclipse-temurin-21
      RUN mvn --batch-mode --quiet dependency:copy -Dartifact=org.apache.jena:jena-fuseki-server:${fuseki.version} -DoutputDirectory=/opt -Dmdep.useBaseVersion=true && echo "${fuseki.sha256}  ${jar}" | sha256sum --check
  environment: { FUSEKI_BASE: /tmp/fuseki }
  read_only: true
  tmpfs: [/tmp]
  cap_drop: [ALL]
  security_opt: ["no-new-privileges:true"]
  volumes: ["./build/shards:/shards:ro"]
  healthcheck: { test: [CMD, bash, -c, ": < /dev/tcp/127.0.0.1/3030"], interval: 2s, retries: 300 }

services:
  proxy:
    image: nginx:1.27.5-alpine
    ports: ["127.0.0.1:${listened}:80"]
    configs: [{ source: paths, target: /etc/nginx/conf.d/default.conf }]
    depends_on:
${served.map(({ name }) => `      ${name}: { condition: service_healthy }\n`).join("")}
${served.map(serviceOf).join("\n")}
configs:
  paths:
    content: |
      server {
        listen 80;
        client_max_body_size 16m;
${served.map(({ name, url }) => `        location ${pathOf(url)}/ { proxy_pass http://${name}:3030; }\n`).join("")}      }
`;
}

/** Name of the dataset in Fuseki: the endpoint's path without its last part, \`/sparql\`. */
const pathOf = (url: string): string => new URL(url).pathname.replace(/\/sparql$/u, "");

function serviceOf({ name, file, url, lineBytes }: ServedShard & { readonly name: string }): string {
  // Jena's index in memory takes some ten times the bytes of the lines.
  const heap = 256 + Math.ceil((lineBytes * 12) / 2 ** 20);
  const command = ["java", `-Xmx${heap}m`, "-jar", jar, "--port=3030", `--file=/${file}`, pathOf(url)];
  return `  ${name}:
    <<: *fuseki
    command: [${command.map(yamlText).join(", ")}]
`;
}
