// Writes a ZIP file whose last entry is compressed while it is written, as PKWARE's APPNOTE 6.3
// defines it. The sizes of that entry follow its data.
import { Buffer } from 'node:buffer';
import { crc32, deflateRawSync } from 'node:zlib';
import type { FileContainer } from './exported-line.js';

interface Entry {
  name: string;
  crc: number;
  compressed: number;
  size: number;
  /** Where its header begins in the file. */
  offset: number;
}

/** Sizes and offsets have 32 bits, without the extension ZIP64. */
const maxSize = 0xffff_ffff;
const deflated = 8;
/** Sizes and CRC follow the data; names are UTF-8. */
const streamedFlags = 0x0808;
const plainFlags = 0x0800;
/** 1980-01-01, so that the same rows make the same bytes. */
const date = 0x0021;
const syncFlush = 2;
/** A final block without data. */
const endOfDeflate = Buffer.from([0x03, 0x00]);

export function zipContainer(
  parts: readonly { name: string; text: string }[],
  streamedName: string,
): FileContainer {
  const entries: Entry[] = [];
  const streamed: Entry = { name: streamedName, crc: 0, compressed: 0, size: 0, offset: 0 };
  return {
    begin: () => {
      const buffers = parts.flatMap(({ name, text }) => {
        const data = Buffer.from(text);
        const compressed = deflateRawSync(data);
        const entry = {
          ...{ name, crc: crc32(data), compressed: compressed.length, size: data.length },
          offset: endOf(entries),
        };
        entries.push(entry);
        return [localHeader(entry, plainFlags), compressed];
      });
      streamed.offset = endOf(entries);
      return Buffer.concat([...buffers, localHeader(streamed, streamedFlags)]);
    },
    // Each piece ends at a byte, so that the pieces follow each other in one deflate stream.
    add: (data) => {
      const compressed = deflateRawSync(data, { level: 3, finishFlush: syncFlush });
      streamed.crc = crc32(data, streamed.crc);
      grow(streamed, data.length, compressed.length);
      return compressed;
    },
    end: () => {
      grow(streamed, 0, endOfDeflate.length);
      const descriptor = sizesOf(streamed, [0x0807_4b50]);
      const start = endOf([...entries, streamed]) + descriptor.length;
      const all = [...entries, streamed];
      const directory = Buffer.concat(all.map(directoryEntry));
      const end = Buffer.alloc(22);
      end.writeUInt32LE(0x0605_4b50, 0);
      end.writeUInt16LE(all.length, 8);
      end.writeUInt16LE(all.length, 10);
      end.writeUInt32LE(directory.length, 12);
      end.writeUInt32LE(start, 16);
      return Buffer.concat([endOfDeflate, descriptor, directory, end]);
    },
  };
}

function grow(entry: Entry, size: number, compressed: number): void {
  entry.size += size;
  entry.compressed += compressed;
  if (Math.max(entry.size, entry.offset + entry.compressed) > maxSize)
    throw new RangeError('a ZIP entry must have less than 4 GiB');
}

const localHeaderSize = 30;

/** Where the next entry begins: after the last one of the entries. */
function endOf(entries: readonly Entry[]): number {
  const last = entries.at(-1);
  return last ? last.offset + localHeaderSize + last.name.length + last.compressed : 0;
}

function localHeader({ name, crc, compressed, size }: Entry, flags: number): Buffer {
  const header = Buffer.alloc(localHeaderSize);
  header.writeUInt32LE(0x0403_4b50, 0);
  writeCommon(header, 4, flags);
  header.writeUInt32LE(crc, 14);
  header.writeUInt32LE(compressed, 18);
  header.writeUInt32LE(size, 22);
  header.writeUInt16LE(name.length, 26);
  return Buffer.concat([header, Buffer.from(name)]);
}

function directoryEntry(
  { name, crc, compressed, size, offset }: Entry,
  index: number,
  all: Entry[],
) {
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x0201_4b50, 0);
  entry.writeUInt16LE(20, 4);
  writeCommon(entry, 6, index === all.length - 1 ? streamedFlags : plainFlags);
  entry.writeUInt32LE(crc, 16);
  entry.writeUInt32LE(compressed, 20);
  entry.writeUInt32LE(size, 24);
  entry.writeUInt16LE(name.length, 28);
  entry.writeUInt32LE(offset, 42);
  return Buffer.concat([entry, Buffer.from(name)]);
}

/** Version 2.0, flags, method, time and date. */
function writeCommon(header: Buffer, at: number, flags: number): void {
  header.writeUInt16LE(20, at);
  header.writeUInt16LE(flags, at + 2);
  header.writeUInt16LE(deflated, at + 4);
  header.writeUInt16LE(date, at + 8);
}

function sizesOf({ crc, compressed, size }: Entry, before: number[]): Buffer {
  const values = [...before, crc, compressed, size];
  const buffer = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) buffer.writeUInt32LE(value, 4 * index);
  return buffer;
}
