// Matches and breaks, read.
import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, CalledBy } from '../accounts/api-key.guard.js';
import type { Caller } from '../accounts/api-keys.service.js';
import type { RouteInput } from '../contract/route.js';
import { Database } from '../database.service.js';
import { Handles, Input } from '../platform/contract-route.js';
import { AppError } from '../platform/errors.js';
import { isUuid, readPage, toList } from '../platform/listing.js';
import { describeBreak, describeMatch } from './book-views.js';
import { getBreak, listBreaks, listMatches } from './book.schema.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class VerdictsController {
  constructor(private readonly database: Database) {}

  @Handles(listMatches)
  async matches(
    @CalledBy() { accountId }: Caller,
    @Input() { query }: RouteInput<typeof listMatches>,
  ) {
    const page = readPage(query, isUuid);
    const { nsu, expectedPaymentId } = query;
    const rows = await this.database.prisma.match.findMany({
      where: {
        accountId,
        ...(nsu === undefined ? {} : { nsu }),
        ...(expectedPaymentId ? { expectedPaymentId } : {}),
        ...(page.after ? { id: { lt: page.after } } : {}),
      },
      orderBy: { id: 'desc' },
      take: page.limit + 1,
    });
    return toList(rows, page, ({ id }) => id, describeMatch);
  }

  @Handles(listBreaks)
  async breaks(
    @CalledBy() { accountId }: Caller,
    @Input() { query }: RouteInput<typeof listBreaks>,
  ) {
    const page = readPage(query, isUuid);
    const { state, kind, nsu } = query;
    const rows = await this.database.prisma.break.findMany({
      where: {
        accountId,
        ...(state ? { state } : {}),
        ...(kind ? { kind } : {}),
        ...(nsu === undefined ? {} : { nsu }),
        ...(page.after ? { id: { lt: page.after } } : {}),
      },
      orderBy: { id: 'desc' },
      take: page.limit + 1,
    });
    return toList(rows, page, ({ id }) => id, describeBreak);
  }

  @Handles(getBreak)
  async break(
    @CalledBy() { accountId }: Caller,
    @Input() { params: { id } }: RouteInput<typeof getBreak>,
  ) {
    const found = isUuid(id)
      ? await this.database.prisma.break.findUnique({ where: { accountId_id: { accountId, id } } })
      : null;
    if (!found) throw new AppError('not_found');
    return describeBreak(found);
  }
}
