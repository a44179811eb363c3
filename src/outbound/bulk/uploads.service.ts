// Reads uploads and their rows as they are shown: the progress of a file, and what became of each
// row.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { RouteInput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { BulkRow, BulkUpload, Operation } from '../../generated/service/client.js';
import { AppError } from '../../platform/errors.js';
import {
  isUuid,
  mostCounted,
  readPage,
  readUuid,
  toList,
  toTotal,
  type ListTotal,
} from '../../platform/http/listing.js';
import * as queries from './bulk.queries.js';
import type { listBulkRows, listBulkUploads, uploadView } from './bulk.schema.js';
import { readRowErrors } from './row-request.js';

export type Upload = z.output<typeof uploadView>;

@Injectable()
export class BulkUploads {
  constructor(private readonly database: Database) {}

  async total(accountId: number, kind: BulkUpload['kind'] | undefined): Promise<ListTotal> {
    const counted = { where: { accountId, kind }, take: mostCounted + 1 };
    return toTotal({ count: await this.database.prisma.bulkUpload.count(counted) });
  }

  /** One page. */
  async list(accountId: number, query: RouteInput<typeof listBulkUploads>['query']) {
    const page = readPage(query, isUuid);
    const rows = await queries.listUploads(this.database.prisma, accountId, {
      kind: query.kind,
      ...page,
      limit: page.limit + 1,
    });
    return toList(rows, page, ({ id }) => id, toUploadView);
  }

  /** Throws `not_found`, also for an upload of another account. */
  async get(accountId: number, id: string): Promise<Upload> {
    const filter = { id: readUuid(id), after: null, limit: 1 };
    const [upload] = await queries.listUploads(this.database.prisma, accountId, filter);
    if (!upload) throw new AppError('not_found');
    return toUploadView(upload);
  }

  /** How many rows await approval. */
  async countWaiting(accountId: number, uploadId: string): Promise<number> {
    return queries.countRowsAwaitingApproval(this.database.prisma, accountId, uploadId);
  }

  /** In file order. Throws like `get`. */
  async listRows(
    accountId: number,
    uploadId: string,
    query: RouteInput<typeof listBulkRows>['query'],
  ) {
    const { id } = await this.get(accountId, uploadId);
    const page = readPage(query, (text) => /^\d{1,9}$/.test(text));
    const rows = await this.database.prisma.bulkRow.findMany({
      where: { accountId, uploadId: id, state: query.state, line: { gt: Number(page.after ?? 0) } },
      orderBy: { line: 'asc' },
      take: page.limit + 1,
      omit: { request: true },
      include: { operation: { select: { state: true } } },
    });
    return toList(rows, page, ({ line }) => String(line), toRowView);
  }
}

function toUploadView(upload: queries.StoredUpload): Upload {
  return {
    ...upload,
    state: upload.finishedAt === null ? 'running' : 'finished',
    counts: upload,
  };
}

function toRowView({
  errors: storedErrors,
  operation,
  ...row
}: Omit<BulkRow, 'request'> & { operation: Pick<Operation, 'state'> | null }) {
  const { code, title, errors } = readRowErrors(storedErrors);
  return {
    ...{ ...row, code, operationState: operation?.state ?? null },
    errors: errors ?? (title === null ? null : { $: [title] }),
  };
}
