import { isIPv6 } from "node:net";

const fullFormLength = 8;

/**
 * What tells clients apart, of `request.ip`: an IPv6 customer has a whole /64, so its first four groups are the client;
 * IPv4-mapped addresses are IPv4.
 */
export function clientKey(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  const [head = "", tail] = (address.split("%")[0] ?? address).split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const rest = tail === "" ? [] : tail.split(":");
    const missing = Math.max(0, fullFormLength - groups.length - rest.length);
    groups.push(...Array.from({ length: missing }, () => "0"), ...rest);
  }
  return groups.slice(0, 4).join(":");
}
