import { isIP } from "node:net";

/** How one environment variable is read. */
export interface Setting<T> {
  /** Name of the variable. */
  readonly name: string;
  /** Text that holds when the variable is unset or empty; it is read like any other value. */
  readonly default: string;
  /** One sentence for `--help` and the README. */
  readonly meaning: string;
  /** Form of a valid value, for the message about an invalid one. */
  readonly expected: string;
  /** The value is never repeated in a message. */
  readonly secret?: boolean;
  /** The value, or `undefined` when the text is not what is expected. */
  readonly parse: (text: string) => { readonly value: T } | undefined;
}

/** Form of a value, and its parser. */
type Parser<T> = Pick<Setting<T>, "expected" | "secret" | "parse">;

/** Settings by name, some of them in groups. */
export interface SettingTree {
  readonly [name: string]: Setting<unknown> | SettingTree;
}

const flags: Readonly<Record<string, boolean>> = {
  on: true,
  true: true,
  yes: true,
  "1": true,
  off: false,
  false: false,
  no: false,
  "0": false,
};

const factors: Readonly<Record<string, number>> = { "": 1, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 };

/** An empty text is no value. */
const optional = <T>({ expected, secret = false, parse }: Parser<T>): Parser<T | undefined> => ({
  expected,
  secret,
  parse: (found) => (found === "" ? { value: undefined } : parse(found)),
});

/** The parts of a text, separated by commas; empty ones are left out. */
const partsOf = (found: string): readonly string[] =>
  found
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

export const text = (expected: string): Parser<string> => ({
  expected,
  parse: (found) => (/[\p{Cc}]/u.test(found) ? undefined : { value: found }),
});

export const optionalText = (expected: string): Parser<string | undefined> => optional(text(expected));

export const folders: Parser<readonly string[]> = {
  expected: "folders separated by commas",
  parse: (found) => (/[\p{Cc}]/u.test(found) ? undefined : { value: partsOf(found) }),
};

export const foldersOrOff: Parser<readonly string[] | "off"> = {
  expected: "folders separated by commas, or off",
  parse: (found) => (found === "off" ? { value: found } : folders.parse(found)),
};

export const names = (what: string): Parser<readonly string[]> => ({
  expected: `${what} separated by commas`,
  parse: (found) => (/^[a-z0-9_., -]*$/.test(found) ? { value: partsOf(found) } : undefined),
});

export const integer = (min: number, max: number): Parser<number> => ({
  expected: `a whole number from ${min} to ${max}`,
  parse: (found) => {
    const value = /^\d{1,15}$/.test(found) ? Number(found) : Number.NaN;
    return value >= min && value <= max ? { value } : undefined;
  },
});

/** As a share. */
export const percent = (min: number, max: number): Parser<number> => {
  const { expected, parse } = integer(min, max);
  return {
    expected,
    parse(found) {
      const parsed = parse(found);
      return parsed && { value: parsed.value / 100 };
    },
  };
};

export const optionalInteger = (min: number, max: number): Parser<number | undefined> => optional(integer(min, max));

export const bytes = (min: number, max: number): Parser<number> => ({
  expected: `a number of bytes from ${min} to ${max}, or with a unit such as 512 KiB, 1 MiB, 2 GiB`,
  parse: (found) => {
    const parts = /^(\d{1,15}) ?(|[kmg]ib)$/i.exec(found);
    const value = Number(parts?.[1]) * (factors[parts?.[2]?.toLowerCase() ?? ""] ?? Number.NaN);
    return value >= min && value <= max ? { value } : undefined;
  },
});

export const flag: Parser<boolean> = {
  expected: "on or off",
  parse: (found) => {
    const value = flags[found.toLowerCase()];
    return value === undefined ? undefined : { value };
  },
};

/** A flag, or one word between the two. */
export const flagOr = <const Word extends string>(word: Word): Parser<"on" | Word | "off"> => ({
  expected: `on, ${word} or off`,
  parse: (found) => {
    if (found.toLowerCase() === word) return { value: word };
    const is = flags[found.toLowerCase()];
    return is === undefined ? undefined : { value: is ? "on" : "off" };
  },
});

export const oneOf = <const T extends string>(...allowed: readonly T[]): Parser<T> => ({
  expected: `one of ${allowed.join(", ")}`,
  parse: (found) => {
    const value = allowed.find((name) => name === found);
    return value === undefined ? undefined : { value };
  },
});

const absoluteUrl: Parser<string> = {
  expected: "an absolute http or https URL without user, query and fragment",
  parse: (found) => {
    const url = URL.parse(found);
    if (!url || !/^https?:$/.test(url.protocol)) return undefined;
    if (url.username || url.password || url.search || url.hash) return undefined;
    return { value: url.href.replace(/(?<!\/)\/+$/, "") };
  },
};

export const httpUrl = optional(absoluteUrl);

/** Its path stands in headers and cookies. */
export const publicUrl = optional<string>({
  expected: `${absoluteUrl.expected}; its path, if any, of letters, digits and . _ ~ -`,
  parse: (found) =>
    /^(?:\/[\w.~-]+)*\/*$/.test(URL.parse(found)?.pathname ?? "") ? absoluteUrl.parse(found) : undefined,
});

export const folderOrUrl = optional<string>({
  expected: `a folder, or ${absoluteUrl.expected}`,
  parse: (found) => (/^https?:/i.test(found) ? absoluteUrl : text("a folder")).parse(found),
});

export const apiKey = optional<string>({
  expected: "printable characters without spaces",
  secret: true,
  parse: (found) => (/^[\x21-\x7e]{1,4096}$/.test(found) ? { value: found } : undefined),
});

/** Of a million tokens in, and of a million out. */
export const tokenPrice = optional<{ readonly input: number; readonly output: number }>({
  expected: "two numbers with a slash between them, such as 0.15/0.60",
  parse(found) {
    const [, input, output] = /^(\d{1,6}(?:\.\d{1,6})?) ?\/ ?(\d{1,6}(?:\.\d{1,6})?)$/.exec(found) ?? [];
    return input === undefined ? undefined : { value: { input: Number(input), output: Number(output) } };
  },
});

export const redisUrl = optional<string>({
  expected: "a redis or rediss URL",
  // It may hold a password.
  secret: true,
  parse: (found) => (/^rediss?:$/.test(URL.parse(found)?.protocol ?? "") ? { value: found } : undefined),
});

export const secretText = optional<string>({
  expected: "at least 16 printable characters without spaces",
  secret: true,
  parse: (found) => (/^[\x21-\x7e]{16,512}$/.test(found) ? { value: found } : undefined),
});

export const adminToken: Parser<string | undefined> = {
  expected: `${secretText.expected}, or off`,
  secret: true,
  parse: (found) => (found.toLowerCase() === "off" ? { value: "off" } : secretText.parse(found)),
};

export const hostNames: Parser<readonly string[]> = {
  expected: "host names separated by commas, without ports",
  parse(found) {
    const value = found
      .toLowerCase()
      .split(",")
      .flatMap((part) => part.trim() || []);
    return value.every((name) => /^[a-z0-9._-]{1,253}$/.test(name)) ? { value } : undefined;
  },
};

/** An origin as browsers send it: no path, no default port. */
function originOf(found: string): string | undefined {
  const url = URL.parse(found);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.password) return undefined;
  return url.pathname === "/" && !url.search && !url.hash ? url.origin : undefined;
}

export const origins: Parser<"*" | readonly string[]> = {
  expected: "* for any, off for none, or origins separated by commas, such as https://yasgui.example",
  parse: (found) => {
    if (found === "*") return { value: "*" };
    if (found.toLowerCase() === "off") return { value: [] };
    const value = found.split(",").map((part) => originOf(part.trim()));
    return value.every((origin) => origin !== undefined) ? { value } : undefined;
  },
};

const isWebhookUrl = (url: URL | null): url is URL =>
  url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.hash;

export const webhookUrls: Parser<readonly string[]> = {
  expected: "absolute http or https URLs without user and fragment, separated by commas",
  // Such URLs often hold the key that lets their bearer post.
  secret: true,
  parse: (found) => {
    const parsed = partsOf(found).map((url) => URL.parse(url));
    return parsed.every(isWebhookUrl) ? { value: parsed.map(({ href }) => href) } : undefined;
  },
};

/** An address range in CIDR notation; a single address becomes the range that holds only it. */
function cidr(found: string): string | undefined {
  const [address = "", length, ...rest] = found.split("/");
  const bits = { 4: 32, 6: 128 }[isIP(address)];
  if (bits === undefined || rest.length > 0) return undefined;
  if (length === undefined) return `${address}/${bits}`;
  return /^\d{1,3}$/.test(length) && Number(length) <= bits ? `${address}/${length}` : undefined;
}

function cidrList(found: string): readonly string[] | undefined {
  const ranges = partsOf(found).map(cidr);
  return ranges.every((range) => range !== undefined) ? ranges : undefined;
}

export const cidrs: Parser<readonly string[]> = {
  expected: "addresses or address ranges separated by commas, such as 10.0.0.0/8,fd00::/8",
  parse: (found) => {
    const value = cidrList(found);
    return value && { value };
  },
};

export const trustProxy: Parser<boolean | number | readonly string[]> = {
  expected: "off, the number of proxies in front (1 to 10), or their address ranges separated by commas",
  parse: (found) => {
    if (/^([1-9]|10)$/.test(found)) return { value: Number(found) };
    const asFlag = flags[found.toLowerCase()];
    if (asFlag !== undefined) return { value: asFlag };
    const value = cidrList(found);
    return value && value.length > 0 ? { value } : undefined;
  },
};
