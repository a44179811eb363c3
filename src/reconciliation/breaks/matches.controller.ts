import { Controller, UseGuards } from '@nestjs/common';
import type { z } from 'zod';
import { fieldError } from '../../bank-contract/field-errors.js';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { shownResponse } from '../../access/counterparties/counterparty.schema.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { Match } from '../../generated/service/client.js';
import { IdempotencyService } from '../../access/idempotency/idempotency.service.js';
import { Handles } from '../../platform/http/contract-route.js';
import { AppError, invalidField } from '../../platform/errors.js';
import { isNsu, isUuid, readPage, readUuid, toList } from '../../platform/http/listing.js';
import { feeCentsOf } from '../decide/net-settlement.js';
import { ReconciliationService } from '../apply/reconciliation.service.js';
import { listMatchRows } from './manual-matches.queries.js';
import { ManualMatches, toParts } from './manual-matches.service.js';
import { linkManually, listMatches, unlinkManually, type matchView } from './matches.schema.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class MatchesController {
  constructor(
    private readonly database: Database,
    private readonly manualMatches: ManualMatches,
    private readonly reconciliation: ReconciliationService,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Handles(listMatches)
  async list(@FromCaller() { accountId, query, scopes }: CallerInput<typeof listMatches>) {
    const page = readPage(query, isUuid);
    const rows = await listMatchRows(this.database.prisma, accountId, query, page);
    return toList(
      rows,
      page,
      ({ id }) => id,
      (match) => describeMatch(match, scopes),
    );
  }

  @RequiresScope('reconcile')
  @Handles(linkManually)
  link(@FromCaller() request: CallerInput<typeof linkManually>) {
    const { accountId, actor, body } = request;
    const { nsu, reason } = body;
    const link = { nsu, ...toParts(body) };
    return this.idempotency.runOnce({ accountId, route: linkManually, request }, async () => {
      const linked = await this.database.transaction((tx) =>
        this.manualMatches.link(tx, accountId, link, { actor, reason }),
      );
      await this.reconciliation.enqueueAfterAction(accountId, linked.operationIds);
      return this.shown(request, linked.matchIds);
    });
  }

  @RequiresScope('reconcile')
  @Handles(unlinkManually)
  unlink(@FromCaller() request: CallerInput<typeof unlinkManually>) {
    const { accountId, actor, params, query, body } = request;
    const reason = body?.reason ?? query.reason;
    if (reason === undefined) throw invalidField('$.reason', fieldError('required'));
    return this.idempotency.runOnce({ accountId, route: unlinkManually, request }, async () => {
      const of = await this.find(accountId, params.id);
      const unlinked = await this.database.transaction((tx) =>
        this.manualMatches.unlink(tx, accountId, of, { actor, reason }),
      );
      await this.reconciliation.enqueueAfterAction(accountId, unlinked.operationIds);
      return this.shown(request, unlinked.matchIds);
    });
  }

  /** The line of a match, or the line with this nsu. */
  private async find(accountId: number, id: string) {
    const { match, statementLine } = this.database.prisma;
    if (isNsu(id)) {
      const where = { accountId_nsu: { accountId, nsu: BigInt(id) } };
      const line = await statementLine.findUnique({ where, select: { nsu: true } });
      if (!line) throw new AppError('not_found');
      return { nsu: line.nsu, matchId: null };
    }
    const where = { accountId_id: { accountId, id: readUuid(id) } };
    const found = await match.findUnique({ where, select: { nsu: true } });
    if (!found) throw new AppError('not_found');
    return { nsu: found.nsu, matchId: id.toLowerCase() };
  }

  private async shown({ accountId, scopes }: Reader, ids: string[]) {
    const rows = await this.database.prisma.match.findMany({
      where: { accountId, id: { in: ids } },
      orderBy: { id: 'asc' },
    });
    return { data: rows.map((match) => describeMatch(match, scopes)) };
  }
}

type Reader = Pick<Caller, 'accountId' | 'scopes'>;

function describeMatch(match: Match, scopes: readonly string[]): z.output<typeof matchView> {
  const fee = feeCentsOf(match.evidence as object);
  const evidence = shownResponse(match.evidence, scopes);
  return { ...match, evidence, amount: match.amountCents, fee };
}
