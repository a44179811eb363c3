// Holds the files that people choose, until they are sent: a person chooses a file once, and no
// browser sends it again with the next page. What was not sent is deleted after an hour.
import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { AppError } from '../../platform/errors.js';
import { withReceivedFile, type ReceivedFile } from '../../platform/files/received-file.js';
import { readUuid } from '../../platform/http/listing.js';
import { newId } from '../../platform/ids.js';
import { openLimits } from '../../platform/limits/limits.js';
import { OpenCounts } from '../../platform/limits/memory-limits.js';
import { waitOutsideSlot } from '../../platform/limits/request-slots.service.js';
import { Database } from '../../platform/postgres/database.service.js';
import { Every } from '../../platform/queue/timers.js';
import * as queries from './chosen-files.queries.js';
import { maxFileBytes } from './bulk.schema.js';

const partBytes = 1_048_576;
/** Of one person: those before them are forgotten. */
const filesOfPerson = 3;
const maxHours = 1;

/** A file that is read from its beginning, as often as it is needed. */
export interface ChosenFile {
  id: string;
  /** The day in São Paulo on which it was chosen. */
  day: string;
  chunks(): AsyncGenerator<Uint8Array>;
}

@Injectable()
export class ChosenFiles {
  private readonly receiving = new OpenCounts<number>(openLimits.uploads);

  constructor(private readonly database: Database) {}

  /** Throws `body_too_large`, and `rate_limited` while the account sends too many files. */
  async hold(
    { accountId, actor }: Pick<Caller, 'accountId' | 'actor'>,
    body: Readable,
  ): Promise<ChosenFile> {
    const end = this.receiving.begin(accountId);
    const file = { accountId, actor, fileId: newId() };
    try {
      await waitOutsideSlot(() =>
        withReceivedFile(body, maxFileBytes, async (received) => {
          await this.database.transaction(
            async (tx) => {
              let part = 0;
              for await (const bytes of partsOf(received)) {
                await tx.bulkFilePart.create({ data: { ...file, part, bytes } });
                part += 1;
              }
              await queries.deleteOlderFiles(tx, file, filesOfPerson);
            },
            { timeoutMs: 120_000 },
          );
        }),
      );
    } finally {
      end();
    }
    return this.find(accountId, file.fileId);
  }

  /** Throws `not_found`, also for a file of another account. */
  async find(accountId: number, id: string): Promise<ChosenFile> {
    const fileId = readUuid(id);
    const db = this.database.prisma;
    const where = { accountId_fileId_part: { accountId, fileId, part: 0 } };
    const first = await db.bulkFilePart.findUnique({ where, omit: { bytes: true } });
    if (!first) throw new AppError('not_found');
    return {
      id: fileId,
      day: saoPauloDay(first.createdAt),
      async *chunks() {
        for (let part = 0; ; part += 1) {
          const stored = await db.bulkFilePart.findUnique({
            where: { accountId_fileId_part: { accountId, fileId, part } },
          });
          if (!stored) return;
          yield stored.bytes;
        }
      },
    };
  }

  async forget(accountId: number, { id: fileId }: ChosenFile): Promise<void> {
    await this.database.prisma.bulkFilePart.deleteMany({ where: { accountId, fileId } });
  }

  @Every('chosen-files', 60)
  async deleteOld(): Promise<void> {
    await queries.deleteOldFiles(this.database.prisma, maxHours);
  }
}

/** An empty file has one part, too. */
async function* partsOf({ chunks }: ReceivedFile): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let [pieces, length, parts] = [[] as Uint8Array[], 0, 0];
  for await (const piece of chunks()) {
    pieces.push(piece);
    length += piece.length;
    if (length < partBytes) continue;
    yield Buffer.concat(pieces);
    [pieces, length, parts] = [[], 0, parts + 1];
  }
  if (length > 0 || parts === 0) yield Buffer.concat(pieces);
}
