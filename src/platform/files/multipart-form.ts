// Reads a form with a file (`multipart/form-data`, RFC 7578) while it arrives. The fields before
// the file are read first, so that a form is checked before its file is received. What follows the
// file is ignored.
import { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
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
  discard(): void;
}

/** All fields before the file. */
const maxFieldBytes = 65_536;
const maxParts = 100;

export function isMultipartForm(contentType: string): boolean {
  return /^multipart\/form-data\s*(;|$)/i.test(contentType);
}

/** Throws `malformed_body` and `body_too_large`; nothing of a file is read then. */
export function readMultipartForm(contentType: string, body: Readable): Promise<MultipartForm> {
  const bytes = Readable.from(chunksOf(body), { objectMode: false, highWaterMark: 1 });
  const discard = () => void bytes.destroy();
  const fields = new URLSearchParams();
  let fieldBytes = 0;
  let file: BusboyFileStream | null = null;
  return new Promise((resolve, reject) => {
    const parser = parserOf(contentType);
    const fail = (error: unknown) => {
      discard();
      reject(malformed('the form is damaged', error));
      file?.destroy(error as Error);
    };
    // The types of the parser do not say that a name may be missing.
    parser.on('field', (name: string | undefined, value) => {
      if (name === undefined) return fail(malformed('a part without a name'));
      fieldBytes += Buffer.byteLength(name) + Buffer.byteLength(value);
      if (fieldBytes > maxFieldBytes) return fail(fieldsTooLarge());
      return fields.append(name, value);
    });
    parser.once('partsLimit', () => fail(malformed('too many fields')));
    parser.on('file', (field: string | undefined, part, name) => {
      // A file that nobody reads any more may fail.
      part.on('error', () => undefined);
      if (field === undefined) fail(malformed('a part without a name'));
      if (file || field === undefined) return part.resume();
      file = part;
      const content = Readable.from(contentOf(part), { objectMode: false, highWaterMark: 1 });
      return resolve({
        fields: new URLSearchParams(fields),
        file: { name, body: content },
        discard,
      });
    });
    parser.on('error', fail).once('finish', () => resolve({ fields, file: null, discard }));
    bytes.on('error', fail).pipe(parser);
  });
}

async function* contentOf(part: BusboyFileStream): AsyncGenerator<Uint8Array> {
  try {
    yield* part as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw malformed('the file is damaged', cause);
  }
}

function parserOf(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { parts: maxParts, fieldSize: maxFieldBytes + 1 },
      isPartAFile: (_field, _type, fileName) => fileName !== undefined,
    });
  } catch (cause) {
    throw malformed('no boundary', cause);
  }
}

function fieldsTooLarge(): AppError {
  return new AppError('body_too_large', {
    public: `The fields of the form must have at most ${maxFieldBytes} bytes.`,
  });
}

function malformed(internal: string, cause?: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError('malformed_body', { internal: `multipart form: ${internal}`, cause });
}
