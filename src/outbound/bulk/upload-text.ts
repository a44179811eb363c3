// Decodes the text of an uploaded file while it arrives: UTF-8, UTF-16 with a byte order mark, and
// Windows-1252 where it is certain. A file of which a name could be another name is refused.
import { isUtf8 } from 'node:buffer';
import { fieldError, type FieldError } from '../../bank-contract/field-errors.js';
import { invalidField, type AppError } from '../../platform/errors.js';

/** Letters of Portuguese whose bytes are none in code page 850 of DOS, nor in that of old Macs. */
const certain = new Set('ÁÀÂÃÉÊÓÔÕÚÜÑáãíóôõúüñªº°');
/** Others that occur. Their bytes are other letters there: `Ç` is `Ã` in code page 850. */
const doubtful = new Set('ÇÍÖàâäçéêö§·–—‘’“”…•€\u00a0');
/** Small ones whose bytes are capitals there, which follow no small letter. */
const certainInWords = /[a-z][àâçéê]/;

export function unreadableFile(problem: FieldError): AppError {
  return invalidField('$', problem);
}

/** The file as text, in the same pieces. Throws `validation_failed` with the line. */
export async function* textOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoding = new Decoding();
  for await (const piece of bytes) yield decoding.decode(piece, false);
  yield decoding.decode(new Uint8Array(), true);
}

class Decoding {
  private held: Uint8Array = new Uint8Array();
  private isStarted = false;
  private hasUtf8 = false;
  private other: TextDecoder | null = null;
  private isCertain = false;
  private last = '';
  private line = 1;
  private doubtfulLine: number | null = null;

  decode(piece: Uint8Array, isEnd: boolean): string {
    const bytes = this.started(Buffer.concat([this.held, piece]), isEnd);
    const whole = isEnd ? bytes.length : wholeCharacters(bytes);
    this.held = new Uint8Array();
    if (!this.other && isUtf8(bytes.subarray(0, whole))) {
      this.held = bytes.subarray(whole);
      const text = bytes.toString('utf8', 0, whole);
      this.hasUtf8 ||= text.length < whole;
      return this.count(text);
    }
    if (!this.other) {
      // So far the file is ASCII, or it is UTF-8 with bytes that are not.
      if (this.hasUtf8) throw this.unreadable(lineOfError(bytes, this.line));
      this.other = new TextDecoder('windows-1252');
    }
    const text = this.decodeOther(this.other, bytes, isEnd);
    if (isEnd && this.doubtfulLine !== null && !this.isCertain)
      throw this.unreadable(this.doubtfulLine);
    return this.count(text);
  }

  /** Finds the encoding by the first bytes, which it holds back until there are enough. */
  private started(bytes: Buffer, isEnd: boolean): Buffer {
    if (this.isStarted) return bytes;
    if (bytes.length < 3 && !isEnd) {
      this.held = bytes;
      return Buffer.alloc(0);
    }
    this.isStarted = true;
    const mark = bytes.toString('hex', 0, 3);
    if (mark.startsWith('fffe')) this.other = new TextDecoder('utf-16le', { fatal: true });
    if (mark.startsWith('feff')) this.other = new TextDecoder('utf-16be', { fatal: true });
    this.hasUtf8 = mark === 'efbbbf';
    return this.hasUtf8 ? bytes.subarray(3) : bytes;
  }

  private decodeOther(decoder: TextDecoder, bytes: Buffer, isEnd: boolean): string {
    let text: string;
    try {
      text = decoder.decode(bytes, { stream: !isEnd });
    } catch {
      throw this.unreadable(this.line);
    }
    if (decoder.encoding === 'windows-1252') this.examine(text);
    return text;
  }

  private examine(text: string): void {
    let line = this.line;
    for (const character of text) {
      if (character === '\n') line += 1;
      if (character > '\x7f') {
        if (certain.has(character)) this.isCertain = true;
        else if (!doubtful.has(character)) throw this.unreadable(line);
        this.doubtfulLine ??= line;
        if (certainInWords.test(this.last + character)) this.isCertain = true;
      }
      this.last = character;
    }
  }

  private count(text: string): string {
    this.line += text.split('\n').length - 1;
    return text;
  }

  private unreadable(line: number): AppError {
    return unreadableFile(fieldError('not_utf8', { line }));
  }
}

/** The length without a character that is cut off at the end. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes.length;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    if (byte >= 0xc0) return back < length ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** The line of the first byte that is not UTF-8, where the bytes begin in `line`. */
function lineOfError(bytes: Buffer, line: number): number {
  const lines = bytes.toString('latin1').split('\n');
  return line + lines.findIndex((text) => !isUtf8(Buffer.from(text, 'latin1')));
}
