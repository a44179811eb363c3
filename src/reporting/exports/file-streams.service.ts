// Streams export files while their rows are read, so that memory stays flat for any number of rows.
// A file that fails half-way ends its stream with an error, and never looks complete.
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { Log } from '../../platform/log.js';
import type { ExportFile } from './exported-line.js';
import { ReadingLimits } from './reading-limits.service.js';

/** A client that reads nothing for this long is cut off, because it occupies one of few files. */
const idleTimeoutMs = 5 * 60_000;

/** Whose file it is; the scopes say whether it shows names. */
export type FileCaller = Pick<Caller, 'accountId'> & { scopes: readonly string[] };

export interface OpenedFile {
  name: string;
  contentType: string;
  body: Readable;
}

@Injectable()
export class FileStreams {
  constructor(
    private readonly limits: ReadingLimits,
    private readonly log: Log,
  ) {}

  /**
   * Counts the file until its body is closed. Throws `rate_limited` if the account has too many.
   */
  async open(accountId: number, prepare: () => Promise<OpenedFile>): Promise<OpenedFile> {
    const endFile = this.limits.beginFile(accountId);
    try {
      const file = await prepare();
      // `close` is emitted also if nobody ever reads the body.
      file.body.once('close', endFile);
      return file;
    } catch (error) {
      endFile();
      throw error;
    }
  }

  /** Runs a read of the database as soon as a slot is free. */
  async read<Result>(read: () => Promise<Result>): Promise<Result> {
    return this.limits.withReadSlot(read);
  }

  /**
   * The file with the rows of the chunks. A chunk is written when the client has read the last one.
   */
  stream<Row>(name: string, file: ExportFile<Row>, chunks: AsyncIterable<Row[]>): OpenedFile {
    return this.opened(`${name}.${file.extension}`, file.contentType, this.bytes(file, chunks));
  }

  /** The bytes of the file, of which more are made when the last ones were read. */
  bytes<Row>(file: ExportFile<Row>, chunks: AsyncIterable<Row[]>): AsyncIterable<Buffer> {
    const rows = this.write(file, chunks);
    return file.container?.(Readable.from(rows, { highWaterMark: 1 })) ?? rows;
  }

  /**
   * A file that is cut off when its client reads nothing. An error destroys it, so that an
   * incomplete file never looks complete.
   */
  opened(name: string, contentType: string, bytes: AsyncIterable<Buffer>): OpenedFile {
    return { name, contentType, body: withIdleTimeout(this.logged(bytes)) };
  }

  private async *write<Row>(
    file: ExportFile<Row>,
    chunks: AsyncIterable<Row[]>,
  ): AsyncGenerator<Buffer> {
    const bytes = (text: string) => Buffer.from(text, file.encoding);
    yield bytes(file.head());
    for await (const rows of chunks) yield bytes(rows.map((row) => file.row(row)).join(''));
    const end = bytes(file.foot());
    if (end.length > 0) yield end;
  }

  private async *logged(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    try {
      yield* bytes;
    } catch (error) {
      this.log.error({ err: error }, 'export file failed');
      throw error;
    }
  }
}

/** The chunks as a stream, which is destroyed when the client stops reading. */
function withIdleTimeout(chunks: AsyncIterable<Buffer>): Readable {
  const body = Readable.from(timed(), { objectMode: false, highWaterMark: 1 });
  const timer = setTimeout(() => {
    body.destroy(new Error('the client stopped reading the export file'));
  }, idleTimeoutMs).unref();
  body.once('close', () => {
    clearTimeout(timer);
  });
  async function* timed() {
    for await (const chunk of chunks) {
      timer.refresh();
      yield chunk;
    }
  }
  return body;
}
