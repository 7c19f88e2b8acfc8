/** Response headers as the HTTP client parses them: lower-case names, repeated fields as arrays. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** One header as text; repeated fields are joined as RFC 9110 (section 5.2) does. */
export function headerOf(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** Content-Length as a number; undefined when absent or not one plain number. */
export function contentLength(headers: ResponseHeaders): number | undefined {
  const value = headers["content-length"];
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
