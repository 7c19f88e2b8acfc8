import { fromJsonSchema, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { setTimeout as sleep } from "node:timers/promises";

// The tools, resources and prompts that the scenarios of @modelcontextprotocol/conformance ask for by name.

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const text = (words: string) => ({ type: "text" as const, text: words });
const image = { type: "image" as const, data: png, mimeType: "image/png" };
const embedded = (uri: string, words: string, mimeType = "text/plain") => ({
  type: "resource" as const,
  resource: { uri, mimeType, text: words },
});

function addTools(server: McpServer): void {
  server.registerTool("test_simple_text", { description: "Text" }, () => ({
    content: [text("This is a simple text response for testing.")],
  }));
  server.registerTool("test_image_content", { description: "Image" }, () => ({ content: [image] }));
  server.registerTool("test_audio_content", { description: "Audio" }, () => ({
    content: [{ type: "audio", data: wav, mimeType: "audio/wav" }],
  }));
  server.registerTool("test_embedded_resource", { description: "Resource" }, () => ({
    content: [embedded("test://embedded-resource", "This is an embedded resource content.")],
  }));
  server.registerTool("test_multiple_content_types", { description: "Several" }, () => ({
    content: [
      text("Multiple content types test:"),
      image,
      embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
    ],
  }));
  server.registerTool("test_error_handling", { description: "Fails" }, () => ({
    isError: true,
    content: [text("This tool intentionally returns an error for testing")],
  }));
  server.registerTool("test_tool_with_progress", { description: "Progress" }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
      await sleep(50);
    }
    return { content: [text("Done.")] };
  });
}

function addResources(server: McpServer): void {
  server.registerResource("static-text", "test://static-text", { mimeType: "text/plain" }, ({ href }) => ({
    contents: [{ uri: href, mimeType: "text/plain", text: "This is the content of the static text resource." }],
  }));
  server.registerResource("static-binary", "test://static-binary", { mimeType: "image/png" }, ({ href }) => ({
    contents: [{ uri: href, mimeType: "image/png", blob: png }],
  }));
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { mimeType: "application/json" },
    ({ href }, { id }) => ({
      contents: [
        {
          uri: href,
          mimeType: "application/json",
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  );
}

const strings = (...names: readonly string[]) =>
  fromJsonSchema<Record<string, string>>({
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    required: [...names],
  });

function addPrompts(server: McpServer): void {
  const said = (...content: readonly (ReturnType<typeof text> | typeof image | ReturnType<typeof embedded>)[]) => ({
    messages: content.map((each) => ({ role: "user" as const, content: each })),
  });
  server.registerPrompt("test_simple_prompt", { description: "Simple" }, () =>
    said(text("This is a simple prompt for testing.")),
  );
  server.registerPrompt(
    "test_prompt_with_arguments",
    { description: "Arguments", argsSchema: strings("arg1", "arg2") },
    ({ arg1, arg2 }) => said(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "Resource", argsSchema: strings("resourceUri") },
    ({ resourceUri = "" }) =>
      said(
        embedded(resourceUri, "Embedded resource content for testing."),
        text("Please process the embedded resource above."),
      ),
  );
  server.registerPrompt("test_prompt_with_image", { description: "Image" }, () =>
    said(image, text("Please analyze the image above.")),
  );
}

/** A server for one request of the conformance suite. */
export function createScenarioServer(): McpServer {
  const server = new McpServer(
    { name: "scenarios", version: "1.0.0" },
    { capabilities: { completions: {} }, cacheHints: { "tools/list": { ttlMs: 1_000, cacheScope: "public" } } },
  );
  server.server.setRequestHandler("completion/complete", () => ({
    completion: { values: ["paris", "park"], total: 2, hasMore: false },
  }));
  addTools(server);
  addResources(server);
  addPrompts(server);
  return server;
}
