/** API keys in any text, to refuse or mask them. */
export const keyInText = /\bfw_([a-z0-9-]{1,40})_[\w-]{43}(?![\w-])/g;

/** Name of the client that owns something, for logs, metrics and records; undefined for addresses and the admin. */
export const clientOf = (owner: string | undefined): string | undefined =>
  /^(?:key|user):(.*)$/s.exec(owner ?? "")?.[1];

/** Name of the client with a key; only these have quotas and a bounded number. */
export const keyNameOf = (owner: string): string | undefined =>
  owner.startsWith("key:") ? owner.slice("key:".length) : undefined;
