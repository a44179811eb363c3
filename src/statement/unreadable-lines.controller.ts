// The API of unreadable lines: list, read and redrive.
import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../accounts/api-key.guard.js';
import { RequiresScope } from '../accounts/scope.decorator.js';
import { seesPersonalData } from '../counterparties/counterparty.schema.js';
import { Database } from '../database.service.js';
import type { UnreadableLine } from '../generated/service/client.js';
import { IdempotencyService } from '../idempotency/idempotency.service.js';
import { Handles } from '../platform/contract-route.js';
import { readPage, toList } from '../platform/listing.js';
import {
  getUnreadableLine,
  listUnreadableLines,
  redriveUnreadableLine,
  redriveUnreadableLines,
} from './unreadable-lines.schema.js';
import { UnreadableLines } from './unreadable-lines.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class UnreadableLinesController {
  constructor(
    private readonly lines: UnreadableLines,
    private readonly database: Database,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Handles(listUnreadableLines)
  async list(@FromCaller() { accountId, query }: CallerInput<typeof listUnreadableLines>) {
    const page = readPage(query, isCursor);
    const { kind, nsu, isResolved } = query;
    const rows = await this.database.prisma.unreadableLine.findMany({
      where: {
        ...{ accountId, kind, nsu },
        ...(isResolved === undefined ? {} : { resolvedAt: isResolved ? { not: null } : null }),
        ...(page.after === null ? {} : isAfter(page.after)),
      },
      orderBy: [{ recordedAt: 'desc' }, { contentHash: 'desc' }],
      take: page.limit + 1,
    });
    return toList(rows, page, keyOf, describe);
  }

  @Handles(getUnreadableLine)
  async get(@FromCaller() { accountId, params, scopes }: CallerInput<typeof getUnreadableLine>) {
    const row = await this.lines.get(accountId, params.id);
    return { ...describe(row), content: seesPersonalData(scopes) ? row.content : null };
  }

  @RequiresScope('reconcile')
  @Handles(redriveUnreadableLines)
  redriveAll(@FromCaller() request: CallerInput<typeof redriveUnreadableLines>) {
    const { accountId } = request;
    return this.idempotency.runOnce({ accountId, route: redriveUnreadableLines, request }, () =>
      this.lines.redrive(accountId),
    );
  }

  @RequiresScope('reconcile')
  @Handles(redriveUnreadableLine)
  redrive(@FromCaller() request: CallerInput<typeof redriveUnreadableLine>) {
    const { accountId, params } = request;
    const { id } = params;
    const idempotent = { accountId, route: redriveUnreadableLine, request };
    return this.idempotency.runOnce(idempotent, async () => {
      await this.lines.get(accountId, id);
      await this.lines.redrive(accountId, id);
      return describe(await this.lines.get(accountId, id));
    });
  }
}

function keyOf({ recordedAt, contentHash }: UnreadableLine): string {
  return `${recordedAt.toISOString()} ${contentHash}`;
}

function isCursor(text: string): boolean {
  return (
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z [0-9a-f]{1,100}$/.test(text) &&
    !Number.isNaN(Date.parse(text.slice(0, 24)))
  );
}

function isAfter(cursor: string) {
  const recordedAt = new Date(cursor.slice(0, 24));
  const contentHash = { lt: cursor.slice(25) };
  return { OR: [{ recordedAt: { lt: recordedAt } }, { recordedAt, contentHash }] };
}

function describe({ content: _, ...line }: UnreadableLine) {
  return { ...line, id: line.contentHash };
}
