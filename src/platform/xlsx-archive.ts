// Reads the parts of an XLSX file, which is a ZIP archive, within limits. What the archive declares
// about sizes may be false, so the bytes that a part inflates to are counted while they arrive.
import { Readable } from 'node:stream';
import { createInflateRaw } from 'node:zlib';

/** The archive cannot be read, or a part is larger than its limit. */
export class XlsxError extends Error {}

interface Entry {
  method: number;
  compressedBytes: number;
  offset: number;
}

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const localSignature = 0x04034b50;
const endBytes = 22;
const maxCommentBytes = 65_535;
const maxEntries = 1_000;
const stored = 0;
const deflated = 8;

export class XlsxArchive {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly file: Buffer) {
    const end = this.findEnd();
    const count = file.readUInt16LE(end + 10);
    let position = file.readUInt32LE(end + 16);
    if (count > maxEntries) throw new XlsxError('The file has too many parts.');
    for (let read = 0; read < count; read += 1) position = this.readEntry(position);
  }

  has(name: string): boolean {
    return this.entries.has(name);
  }

  /** The bytes of a part, in pieces. Throws XlsxError above `maxBytes`, and if it is damaged. */
  async *read(name: string, maxBytes: number): AsyncGenerator<Buffer> {
    const entry = this.entries.get(name);
    if (!entry) throw new XlsxError('The file has no sheet that can be read.');
    let bytes = 0;
    for await (const piece of this.piecesOf(entry)) {
      bytes += piece.length;
      if (bytes > maxBytes) throw new XlsxError('The sheet is too large when it is unpacked.');
      yield piece;
    }
  }

  /** A part as text. */
  async readText(name: string, maxBytes: number): Promise<string> {
    const pieces: Buffer[] = [];
    for await (const piece of this.read(name, maxBytes)) pieces.push(piece);
    return Buffer.concat(pieces).toString('utf8');
  }

  private async *piecesOf({ method, compressedBytes, offset }: Entry): AsyncGenerator<Buffer> {
    const { file } = this;
    if (offset + 30 > file.length || file.readUInt32LE(offset) !== localSignature) throw damaged();
    const start = offset + 30 + file.readUInt16LE(offset + 26) + file.readUInt16LE(offset + 28);
    const data = file.subarray(start, start + compressedBytes);
    if (method === stored) return yield data;
    if (method !== deflated) throw new XlsxError('The file is encrypted or packed in another way.');
    const inflate = createInflateRaw();
    const source = Readable.from(slicesOf(data));
    source.on('error', (error) => inflate.destroy(error));
    try {
      for await (const piece of source.pipe(inflate)) yield piece as Buffer;
    } catch (cause) {
      throw cause instanceof XlsxError ? cause : damaged(cause);
    } finally {
      source.destroy();
      inflate.destroy();
    }
  }

  private findEnd(): number {
    const { file } = this;
    const last = file.length - endBytes;
    for (let at = last; at >= 0 && at >= last - maxCommentBytes; at -= 1)
      if (file.readUInt32LE(at) === endSignature) return at;
    throw new XlsxError('The file is not XLSX.');
  }

  /** Returns the position of the next entry. */
  private readEntry(at: number): number {
    const { file } = this;
    if (at + 46 > file.length || file.readUInt32LE(at) !== entrySignature) throw damaged();
    const nameEnd = at + 46 + file.readUInt16LE(at + 28);
    this.entries.set(file.toString('utf8', at + 46, nameEnd), {
      method: file.readUInt16LE(at + 10),
      compressedBytes: file.readUInt32LE(at + 20),
      offset: file.readUInt32LE(at + 42),
    });
    return nameEnd + file.readUInt16LE(at + 30) + file.readUInt16LE(at + 32);
  }
}

function* slicesOf(data: Buffer): Generator<Buffer> {
  for (let at = 0; at < data.length; at += 4_096) yield data.subarray(at, at + 4_096);
}

function damaged(cause?: unknown): XlsxError {
  return new XlsxError('The file is damaged.', { cause });
}
