// Reads the parts of an XLSX file, which is a ZIP archive, within limits. What the archive declares
// about sizes may be false, so the bytes that a part unpacks to are counted while they arrive.
import { crc32 } from 'node:zlib';
import { fieldError, type FieldError } from '../../bank-contract/field-errors.js';
import { AppError } from '../errors.js';
import { fromBufferPromise, type Entry, type ZipFile } from 'yauzl';

/** The archive cannot be read, or a part is larger than its limit. */
export class XlsxError extends AppError {
  constructor(problem: FieldError, cause?: unknown) {
    super('validation_failed', { errors: { $: [problem] }, cause });
  }
}

const maxEntries = 1_000;
/** Of all parts that are read, together. */
const maxUnpackedBytes = 512 * 1_048_576;
/** Sheets of one row many times over unpack to 50 times their size; only bombs exceed this. */
const maxExpansion = 100;
const alwaysUnpackedBytes = 1_048_576;

export class XlsxArchive {
  private unpackedBytes = 0;

  private constructor(
    private readonly zip: ZipFile,
    private readonly entries: ReadonlyMap<string, Entry>,
  ) {}

  /** Throws XlsxError. */
  static async open(file: Buffer): Promise<XlsxArchive> {
    const zip = await fromBufferPromise(file).catch((cause: unknown) => {
      throw new XlsxError(fieldError('not_xlsx'), cause);
    });
    if (zip.entryCount > maxEntries) throw new XlsxError(fieldError('too_many_parts'));
    const entries = new Map<string, Entry>();
    try {
      for await (const entry of zip.eachEntry()) {
        const name = equivalentName(entry.fileName);
        // Another program could read the other one.
        if (entries.has(name)) throw damaged();
        entries.set(name, entry);
      }
    } catch (cause) {
      throw damaged(cause);
    }
    return new XlsxArchive(zip, entries);
  }

  has(name: string): boolean {
    return this.entries.has(equivalentName(name));
  }

  /** The bytes of a part, in pieces. Throws XlsxError above `maxBytes`, and if it is damaged. */
  async *read(name: string, maxBytes: number): AsyncGenerator<Buffer> {
    const entry = this.entries.get(equivalentName(name));
    if (!entry) throw damaged();
    if (!entry.canDecodeFileData()) throw new XlsxError(fieldError('encrypted'));
    const expanded = Math.max(alwaysUnpackedBytes, entry.compressedSize * maxExpansion);
    let [bytes, checksum] = [0, 0];
    try {
      for await (const data of await this.zip.openReadStreamPromise(entry)) {
        const piece = data as Buffer;
        bytes += piece.length;
        this.unpackedBytes += piece.length;
        if (bytes > Math.min(maxBytes, expanded) || this.unpackedBytes > maxUnpackedBytes)
          throw new XlsxError(fieldError('sheet_too_large'));
        checksum = crc32(piece, checksum);
        yield piece;
      }
    } catch (cause) {
      throw damaged(cause);
    }
    if (checksum !== entry.crc32) throw damaged();
  }
}

/** Names of parts are compared without letter case (ECMA-376, part 2). */
function equivalentName(name: string): string {
  return name.toLowerCase();
}

export function damaged(cause?: unknown): XlsxError {
  return cause instanceof XlsxError ? cause : new XlsxError(fieldError('damaged'), cause);
}

/** The name of a column by its place from 0: A to Z, AA, AB … */
export function columnName(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : `${columnName(Math.floor(index / 26) - 1)}${letter}`;
}
