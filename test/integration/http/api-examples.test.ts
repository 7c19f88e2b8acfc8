import { Check } from "typebox/schema";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startService } from "../../support/running-service.ts";

// What a reader of /docs sees of each operation.

interface Operation {
  readonly operationId: string;
  readonly description?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly required?: boolean;
    readonly example?: unknown;
    readonly schema: object;
  }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: object; readonly example?: unknown }>>;
  };
}

let service: Awaited<ReturnType<typeof startService>>;
let operations: readonly Operation[];
let fits: (schema: object, value: unknown) => boolean;
beforeAll(async () => {
  const env = {
    FEDWAY_EXAMPLES: "on",
    FEDWAY_ACCEPT_ADAPTERS: "on",
    FEDWAY_CHAT: "http://127.0.0.1:9/v1",
    FEDWAY_CHAT_MODEL: "m",
  };
  service = await startService({}, env);
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    readonly components: object;
  };
  operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  fits = (schema, value) => Check({ ...schema, components: document.components }, value);
});
afterAll(() => service?.close());

it("every operation has a description, and says which role it needs", () => {
  expect(operations.length).toBeGreaterThan(120);
  const bare = operations.filter(({ description = "" }) => !/^\S.{8,}\. Role of the caller: \w+\.$/s.test(description));
  expect(bare.map(({ operationId }) => operationId)).toEqual([]);
});

const parameterFaults = ({ operationId, parameters = [] }: Operation): readonly string[] =>
  parameters
    .filter(({ required, schema, example }) => required === true && !fits(schema, example))
    .map(({ name }) => `${operationId} ${name}`);

function bodyFaults({ operationId, requestBody }: Operation): readonly string[] {
  const bodies = Object.entries(requestBody?.content ?? {});
  const wrong = bodies.filter(([, { schema, example }]) => example !== undefined && !fits(schema, example));
  const isBare = bodies.length > 0 && bodies[0]?.[1].example === undefined;
  return [...wrong.map(([mediaType]) => mediaType), ...(isBare ? ["none"] : [])].map(
    (what) => `${operationId} ${what}`,
  );
}

it("every required parameter and every body has an example that fits its schema", () => {
  const faults = operations.flatMap((operation) => parameterFaults(operation).concat(bodyFaults(operation)));
  expect(faults).toEqual([]);
});

it("the tools come as the APIs of models take them", async () => {
  const list = async (format: string): Promise<readonly object[]> =>
    ((await (await fetch(`${service.url}/api/tools?profile=small&format=${format}`)).json()) as { tools: object[] })
      .tools;
  const name = "find_endpoints";
  const description = expect.any(String);
  const parameters = {
    type: "object",
    properties: { question: { type: "string" }, limit: { type: "integer", minimum: 1, maximum: 20 } },
    required: ["question"],
    additionalProperties: false,
  };
  expect((await list("openai"))[0]).toStrictEqual({ type: "function", function: { name, description, parameters } });
  expect((await list("anthropic"))[0]).toStrictEqual({ name, description, input_schema: parameters });
  expect((await list("fedway"))[0]).toMatchObject({ name, title: "Find endpoints", annotations: {} });
});
