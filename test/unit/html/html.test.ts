import { describe, expect, it } from "vitest";
import { html, joined, link, ownLink } from "../../../src/html.ts";

it("escapes what is put in", () =>
  expect(html`<a title="${`"'<&>`}">${["<b>", html`<i>ok</i>`, 1, undefined]}</a>`.html).toBe(
    '<a title="&quot;&#39;&lt;&amp;&gt;">&lt;b&gt;<i>ok</i>1</a>',
  ));

it("keeps text that needs no escaping", () => expect(html`${"Größe → 1"}`.html).toBe("Größe → 1"));

describe("links", () => {
  it("lead to the web", () =>
    expect(link("https://x.example/?a&b", "x").html).toBe('<a href="https://x.example/?a&amp;b" rel="noopener">x</a>'));

  const shouldBeText = (url: string): void =>
    it(`${url} becomes no link`, () => {
      expect(link(url, "x").html).toBe("x");
      expect(ownLink(url, "x").html).toBe("x");
    });
  shouldBeText("javascript:alert(1)");
  shouldBeText("data:text/html,<b>");
  shouldBeText(" https://x.example/");
  shouldBeText("//x.example/");
  shouldBeText("/\\x.example/");

  it("lead to a path of this service", () => expect(ownLink("/a?b&c", "x").html).toBe('<a href="/a?b&amp;c">x</a>'));
});

it("joins what is there", () =>
  expect(html`${joined(["<", undefined, html`<i>`, 2], ", ")}`.html).toBe("&lt;, <i>, 2"));
