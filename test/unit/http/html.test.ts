import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { html, link, page, pageHeaders } from "../../../src/http/html.ts";

it("escapes what is put in", () =>
  expect(html`<a title="${`"'<&>`}">${["<b>", html`<i>ok</i>`, 1, undefined]}</a>`.html).toBe(
    '<a title="&quot;&#39;&lt;&amp;&gt;">&lt;b&gt;<i>ok</i>1</a>',
  ));

it("links to the web only", () => {
  expect(link("https://x.example/?a&b", "x").html).toBe('<a href="https://x.example/?a&amp;b" rel="noopener">x</a>');
  expect(link("javascript:alert(1)", "x").html).toBe("x");
  expect(link("data:text/html,<b>", "x").html).toBe("x");
});

it("allows exactly its own style", () => {
  const style = /<style>([^]*)<\/style>/.exec(page("t", html`<p>b</p>`))?.[1] ?? "";
  const hash = createHash("sha256").update(style).digest("base64");
  expect(style.length).toBeGreaterThan(100);
  expect(pageHeaders["Content-Security-Policy"]).toContain(`default-src 'none'; style-src 'sha256-${hash}'`);
});

it("is a page for phones and readers of either colour scheme", () => {
  const text = page("A & B", html`<p>b</p>`);
  expect(text).toContain("<title>A &amp; B</title>");
  expect(text).toContain('<html lang="en">');
  expect(text).toContain('name="viewport"');
  expect(text).toContain("color-scheme: light dark");
});
