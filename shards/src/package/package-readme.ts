import type { ShardDataset } from "../finished-folder.ts";

/** The text that a package begins with, for those who find it without Fedway. */
export const readmeOf = (
  { dataset, title, licence, citation, source }: ShardDataset,
  { baseUrl, federation }: { readonly baseUrl: string; readonly federation: string },
): string => `# ${title}

A federated benchmark: questions over ${dataset}, whose triples are spread over several SPARQL endpoints.

Licence: <${licence}>${citation === undefined ? "" : `\nCite as: ${citation}`}${source === undefined ? "" : `\nSource: <${source}>`}

| file | |
| --- | --- |
| \`questions.jsonl\` | \`id\`, \`question\`, and the id of its \`query\`, and the \`flags\` of the audit |
| \`audit.json\` | doubts about gold queries: name, evidence, place in the query. Flagged questions stay; give scores with and without them |
| \`copies.json\` | signatures of the gold answers over altered copies of the data: a query that is right by luck is wrong there |
| \`queries.jsonl\` | original \`query\`, \`gold\` federated query (each pattern at the shards with matches), \`trivial\` federation (each pattern at all shards), gold \`answer\` with signature and ties, \`fanOut\`, \`rules\`, \`outcome\`, \`strata\`, shards without which the answer is another one (\`needed\`) |
| \`endpoints.json\`, \`void/\` | the endpoints: their topics, and VoID with and without extensions |
| \`build/\` | the shards, their rules and their report |
| \`exports/\` | the same for t2s-metrics, text2sparql-client, QALD and SHACL |
| \`manifest.json\` | versions, checksums of all files, and how many queries have which outcome |

The endpoints are expected at <${baseUrl}>:

    FEDWAY_PUBLIC_URL=${baseUrl} fedway shards serve build

Whoever asks <${federation}> need not name endpoints. In \`exports/t2s-metrics.*.jsonl\` put the queries of your system into
\`generated\`.

Answers: numbers are equal by value, \`xsd:string\` is a plain literal, rows of one class of \`ties\` may change places, and of the
last one any \`take\` of its rows and \`others\` are right, and so is each of \`alternatives\`. The signature is the SHA-256 of the set of rows, columns in the order that makes it smallest.
`;
