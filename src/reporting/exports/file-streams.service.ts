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
    const rows = this.write(file, chunks);
    const pieces = file.container?.(Readable.from(rows, { highWaterMark: 1 })) ?? rows;
    return {
      name: `${name}.${file.extension}`,
      contentType: file.contentType,
      body: withIdleTimeout(pieces),
    };
  }

  /** An error destroys the stream, so that an incomplete file never looks complete. */
  private async *write<Row>(
    file: ExportFile<Row>,
    chunks: AsyncIterable<Row[]>,
  ): AsyncGenerator<Buffer> {
    const bytes = (text: string) => Buffer.from(text, file.encoding);
    try {
      yield bytes(file.head());
      for await (const rows of chunks) yield bytes(rows.map((row) => file.row(row)).join(''));
      const end = bytes(file.foot());
      if (end.length > 0) yield end;
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
