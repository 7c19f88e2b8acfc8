import { crc32, gunzipSync, inflateRawSync } from "node:zlib";

/** Files by their paths; each is read when it is called for. */
export type Files = ReadonlyMap<string, () => Buffer>;

/**
 * Files of an archive: zip, which .jar and .whl are too, or tar compressed with gzip, as packages of npm are. Nothing is
 * written, so that a path may be any text. `maxBytes` bounds each file of a zip, and all of a tar together.
 * @throws Error when it is neither, damaged or too large; for a file of a zip when that is read
 */
export function readArchive(archive: Buffer, maxBytes: number): Files {
  if (archive.readUInt16BE(0) === 0x1f8b) return tarFiles(gunzipSync(archive, { maxOutputLength: maxBytes }));
  const end = archive.lastIndexOf("PK\x05\x06", undefined, "latin1");
  if (end < 0) throw new Error("it is neither zip nor tar.gz");
  return zipFiles(archive, { count: archive.readUInt16LE(end + 10), at: archive.readUInt32LE(end + 16) }, maxBytes);
}

/** By the central directory (APPNOTE 6.3.10, section 4.3.12). */
function zipFiles(zip: Buffer, { count, at }: { readonly count: number; at: number }, maxBytes: number): Files {
  const files = new Map<string, () => Buffer>();
  for (let place = 0; place < count; place += 1) {
    const head = zip.subarray(at, at + 46);
    const [nameEnd, method] = [at + 46 + head.readUInt16LE(28), head.readUInt16LE(10)];
    const [checksum, size, local] = [head.readUInt32LE(16), head.readUInt32LE(20), head.readUInt32LE(42)];
    const path = zip.toString("utf8", at + 46, nameEnd);
    files.set(path, () => {
      const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const stored = zip.subarray(from, from + size);
      const content = method === 0 ? stored : inflateRawSync(stored, { maxOutputLength: maxBytes });
      if (crc32(content) !== checksum) throw new Error(`${path} in it is damaged`);
      return content;
    });
    at = nameEnd + head.readUInt16LE(30) + head.readUInt16LE(32);
  }
  return files;
}

const block = 512;

/** Regular files of a tar (POSIX ustar); a longer name stands in a header before that of its file, of POSIX (x) or GNU (L). */
function tarFiles(tar: Buffer): Files {
  const files = new Map<string, () => Buffer>();
  const text = (from: number, length: number): string =>
    tar
      .toString("utf8", from, from + length)
      .split("\0", 1)
      .join();
  let longName: string | undefined;
  for (let at = 0; at + block <= tar.length && tar[at] !== 0; ) {
    const size = Number.parseInt(text(at + 124, 12), 8);
    if (!(size >= 0)) throw new Error("its tar is damaged");
    const [type, from] = [text(at + 156, 1), at + block];
    if (type === "x") longName = text(from, size).split(" path=", 2)[1]?.split("\n", 1)[0];
    else if (type === "L") longName = text(from, size);
    else {
      const prefix = text(at + 345, 155);
      const path = longName ?? [...(prefix === "" ? [] : [prefix]), text(at, 100)].join("/");
      if (type === "0" || type === "") files.set(path, () => tar.subarray(from, from + size));
      longName = undefined;
    }
    at = from + Math.ceil(size / block) * block;
  }
  return files;
}
