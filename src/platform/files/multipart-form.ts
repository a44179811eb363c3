// Reads a form with a file (`multipart/form-data`, RFC 7578) while it arrives. The fields before
// the file are read first, so that a form is checked before its file is received. What follows the
// file is ignored.
import { Readable } from 'node:stream';
import { AppError } from '../errors.js';
import { chunksOf } from '../http/request-body.js';

export interface FormFile {
  /** As the browser names it; empty when no file was chosen. */
  name: string;
  /** Fails with `malformed_body` when the form ends before its file does. */
  body: Readable;
}

export interface MultipartForm {
  fields: URLSearchParams;
  /** Null: the form has no file. */
  file: FormFile | null;
  /** Drops what was not read, so that the sender gets the response. */
  discard(): Promise<void>;
}

/** All fields before the file, with the headers of each part. */
const maxFieldBytes = 65_536;
const maxParts = 100;
const headerEnd = Buffer.from('\r\n\r\n');
const boundaryOf = /^multipart\/form-data\s*;\s*boundary=("?)([\w'()+,./:=?-]{1,70})\1\s*$/i;

export function isMultipartForm(contentType: string): boolean {
  return /^multipart\/form-data\s*(;|$)/i.test(contentType);
}

/** Throws `malformed_body` and `body_too_large`; nothing of a file is read then. */
export async function readMultipartForm(
  contentType: string,
  body: Readable,
): Promise<MultipartForm> {
  const boundary = boundaryOf.exec(contentType)?.[2];
  if (boundary === undefined) throw malformed('no boundary');
  const chunks = chunksOf(body);
  const discard = async () => {
    await chunks.return(undefined);
  };
  const reader = new PartReader(chunks, Buffer.from(`\r\n--${boundary}`));
  try {
    return { ...(await readFields(reader)), discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

async function readFields(reader: PartReader): Promise<Omit<MultipartForm, 'discard'>> {
  const fields = new URLSearchParams();
  for (let parts = 0; await reader.hasNextPart(); parts += 1) {
    if (parts === maxParts) throw malformed('too many fields');
    const { name, fileName } = dispositionOf(await reader.readHeaders());
    if (fileName !== null) {
      const body = Readable.from(reader.readContent(), { objectMode: false, highWaterMark: 1 });
      return { fields, file: { name: fileName, body } };
    }
    fields.append(name, await reader.readText());
  }
  return { fields, file: null };
}

/** The parts of a form, one after the other. `delimiter` begins with the line break before it. */
class PartReader {
  /** The first delimiter has no line break before it. */
  private rest = Buffer.from('\r\n');
  private fieldBytes = 0;

  constructor(
    private readonly chunks: AsyncGenerator<Uint8Array>,
    private readonly delimiter: Buffer,
  ) {}

  /** Called at a delimiter. Whether a part follows it: the last one ends with two hyphens. */
  async hasNextPart(): Promise<boolean> {
    if (this.fieldBytes === 0) await this.readField(this.delimiter);
    while (this.rest.length < 2) await this.readMore();
    const end = this.rest.subarray(0, 2).toString('latin1');
    if (end === '--') return false;
    if (end !== '\r\n') throw malformed('text after a boundary');
    return true;
  }

  /** The headers of the part, in the bytes that begin with the line break of its delimiter. */
  async readHeaders(): Promise<string> {
    return (await this.readField(headerEnd)).toString('utf8');
  }

  async readText(): Promise<string> {
    return (await this.readField(this.delimiter)).toString('utf8');
  }

  /** The bytes up to the delimiter, as they arrive. */
  async *readContent(): AsyncGenerator<Buffer> {
    for (;;) {
      const end = this.rest.indexOf(this.delimiter);
      // A delimiter may have arrived in part.
      const length = end === -1 ? this.rest.length - this.delimiter.length + 1 : end;
      if (length > 0) {
        const content = this.rest.subarray(0, length);
        this.rest = this.rest.subarray(length);
        yield content;
      }
      if (end !== -1) {
        await this.chunks.return(undefined);
        return;
      }
      await this.readMore();
    }
  }

  /** The bytes before `end`, which is taken away too. */
  private async readField(end: Buffer): Promise<Buffer> {
    let at: number;
    while ((at = this.rest.indexOf(end)) === -1) {
      this.assertShort(this.rest.length);
      await this.readMore();
    }
    this.fieldBytes += at + end.length;
    this.assertShort(0);
    const field = this.rest.subarray(0, at);
    this.rest = this.rest.subarray(at + end.length);
    return field;
  }

  private assertShort(more: number): void {
    if (this.fieldBytes + more <= maxFieldBytes) return;
    throw new AppError('body_too_large', {
      public: `The fields of the form must have at most ${maxFieldBytes} bytes.`,
    });
  }

  private async readMore(): Promise<void> {
    const next = await this.chunks.next();
    if (next.done) throw malformed('the form is cut off');
    this.rest = Buffer.concat([this.rest, next.value]);
  }
}

/** `fileName` is null for a field. Throws `malformed_body` for a part without a name. */
function dispositionOf(headers: string): { name: string; fileName: string | null } {
  const line = /^content-disposition:\s*form-data\s*;(.*)$/im.exec(headers)?.[1];
  const name = line === undefined ? undefined : parameterOf(line, 'name');
  if (line === undefined || name === undefined) throw malformed('a part without a name');
  return { name, fileName: parameterOf(line, 'filename') ?? null };
}

/** Browsers write a quotation mark in a name as `%22`, and line breaks likewise. */
function parameterOf(line: string, name: string): string | undefined {
  return new RegExp(`;\\s*${name}="([^"]*)"`, 'i').exec(`;${line}`)?.[1];
}

function malformed(internal: string): AppError {
  return new AppError('malformed_body', { internal: `multipart form: ${internal}` });
}
