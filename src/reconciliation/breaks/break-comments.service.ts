// What people write about a break to each other. A comment decides nothing, but no refund policy
// acts on a break that somebody has commented on. Texts are stored encrypted, because people write
// names into them.
import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { seesPersonalData } from '../../access/counterparties/counterparty.schema.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { BreakComment } from '../../generated/service/client.js';
import { AppError } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { isUuid, readPage, readUuid, toList } from '../../platform/http/listing.js';
import { SecretBox } from '../../platform/secret-box.js';
import { lockReconciliation } from '../apply/decision-writer.queries.js';
import { lockBreak } from './break-actions.queries.js';
import * as queries from './break-comments.queries.js';
import type { commentView } from './break-comments.schema.js';
import type { BreakReader } from './break-reading.service.js';

type CommentView = z.output<typeof commentView>;

@Injectable()
export class BreakComments {
  constructor(
    private readonly database: Database,
    private readonly secretBox: SecretBox,
  ) {}

  /** Throws `not_found`, also for a break of another account. */
  async add({ accountId, actor: author }: Caller, breakId: string, text: string) {
    const id = newId();
    const encrypted = this.secretBox.encrypt(text, queries.ownerOfComment({ accountId, id }));
    return this.database.transaction(async (tx) => {
      // As for each action on a break: a policy that checks the break sees every earlier comment.
      await lockReconciliation(tx, accountId);
      const found = await lockBreak(tx, accountId, readUuid(breakId));
      if (!found) throw new AppError('not_found');
      const data = { accountId, id, breakId: found.id, author, text: encrypted };
      return this.describe(await tx.breakComment.create({ data }), true);
    });
  }

  /** Newest first. Throws `not_found`, also for a break of another account. */
  async list(
    { accountId, scopes }: BreakReader,
    breakId: string,
    query: { limit?: number | undefined; cursor?: string | undefined },
  ) {
    const { prisma } = this.database;
    const page = readPage(query, isUuid);
    const id = readUuid(breakId);
    const where = { accountId_id: { accountId, id } };
    const [found, rows] = await Promise.all([
      prisma.break.findUnique({ where, select: { id: true } }),
      prisma.breakComment.findMany({
        where: { accountId, breakId: id, ...(page.after !== null && { id: { lt: page.after } }) },
        orderBy: { id: 'desc' },
        take: page.limit + 1,
      }),
    ]);
    if (!found) throw new AppError('not_found');
    const isVisible = seesPersonalData(scopes);
    return toList(
      rows,
      page,
      ({ id }) => id,
      (row) => this.describe(row, isVisible),
    );
  }

  private describe(row: BreakComment, isVisible: boolean): CommentView {
    const { id, author, text, createdAt: at } = row;
    const shown = isVisible && text !== null;
    return {
      ...{ id, author, at },
      text: shown ? this.secretBox.decrypt(text, queries.ownerOfComment(row)) : null,
    };
  }
}
