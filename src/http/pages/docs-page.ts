import { html } from "../../html.ts";
import type { HttpShell, TypedApp } from "../http-deps.ts";
import { assetPaths, referencePath } from "./assets.ts";
import { policyWith, sendPage } from "./page-reply.ts";

/** Settings of Scalar's API reference: no other host has a part in it. */
const settings = {
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: "",
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  defaultOpenAllTags: false,
  operationTitleSource: "summary",
  customCss: `nav[aria-label="Site"] { padding: 0.6rem 0.8rem; border-bottom: 1px solid var(--scalar-border-color); }
nav[aria-label="Site"] a { color: var(--scalar-color-1); }`,
};

/**
 * Scalar's script and the styles that it puts in, and requests to this service, also by its public URL, where the document says
 * that it is.
 */
const docsPolicy = (publicUrl: string): string =>
  policyWith({
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "connect-src": `'self' ${new URL(publicUrl).origin}`,
  });

/** The API reference: every operation with examples, snippets for clients, and a form to try it. It has styles of its own, not ours. */
const docsPage = (basePath: string): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API - Fedway</title>
<link rel="icon" type="image/svg+xml" href="${assetPaths.icon}">
</head>
<body>
<nav aria-label="Site"><a href="/">Fedway</a> · <a href="/query">Query</a> · <a href="/status">Status</a> · <a href="/help">Help</a> · <a href="/openapi.json">OpenAPI document</a></nav>
<noscript><p>The API reference needs JavaScript; the OpenAPI document says the same.</p></noscript>
<div id="reference" data-settings="${JSON.stringify({ ...settings, url: `${basePath}/openapi.json` })}"></div>
<script src="${referencePath()}"></script>
</body>
</html>
`.html;

/** `/docs`. */
export const addDocs = (app: TypedApp, { publicUrl }: HttpShell): void =>
  void app.get("/docs", {
    schema: { tags: ["Pages"], summary: "This API as a page to read and to try" },
    handler: async (request, reply) =>
      sendPage(request, reply, {
        text: docsPage(app.basePath),
        headers: { "Content-Security-Policy": docsPolicy(publicUrl()) },
      }),
  });
