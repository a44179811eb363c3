// Everything about one line: what the bank sent, what it was decided to be, by whom, and when.
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { seesPersonalData } from '../../access/counterparties/counterparty.schema.js';
import { Database } from '../../platform/postgres/database.service.js';
import { AppError } from '../../platform/errors.js';
import { TransactionViews } from '../../reconciliation/api/transaction-views.service.js';
import { listMatchRows } from '../../reconciliation/breaks/manual-matches.queries.js';
import { LineExplanations } from './line-explanations.service.js';
import { findNeighbours } from './explanations.queries.js';

/** The newest of each kind. */
const shownRows = 50;

@Injectable()
export class LineReading {
  constructor(
    private readonly database: Database,
    private readonly lines: TransactionViews,
    private readonly explanations: LineExplanations,
  ) {}

  /** Throws `not_found` for a line of another account. */
  async get(caller: Pick<Caller, 'accountId' | 'scopes'>, nsu: bigint) {
    const { accountId, scopes } = caller;
    const { data } = await this.lines.list(caller, { nsu, limit: 1 });
    const [line] = data;
    if (!line) throw new AppError('not_found');
    const { prisma } = this.database;
    const ofLine = { accountId, nsu };
    const newest = { where: ofLine, take: shownRows };
    const where = { accountId_nsu: ofLine };
    const [stored, matches, explained, breaks, refunds, decisions, outcome, former, neighbours] =
      await Promise.all([
        prisma.statementLine.findUniqueOrThrow({ where, include: { lineErasure: true } }),
        listMatchRows(prisma, accountId, { nsu }, { after: null, limit: shownRows }),
        this.explanations.read(accountId, [line]),
        prisma.break.findMany({ ...newest, orderBy: { id: 'desc' } }),
        prisma.refund.findMany({
          where: { accountId, originalNsu: nsu },
          take: shownRows,
          orderBy: { id: 'desc' },
        }),
        prisma.lineDecision.findMany({ ...newest, orderBy: { sequence: 'desc' } }),
        prisma.lineOutcome.findUnique({ where }),
        prisma.formerOutcome.findMany({ ...newest, orderBy: { version: 'desc' } }),
        findNeighbours(prisma, accountId, nsu),
      ]);
    return {
      ...{ line, matches, breaks, refunds, decisions, outcome, former, neighbours },
      explained: explained(line),
      erasure: stored.lineErasure,
      ids: idsOf(stored),
      bankId: stored.bankId,
      recordedAt: stored.recordedAt,
      // The bank's text names who paid.
      content: seesPersonalData(scopes) && stored.salt !== null ? stored.content : null,
    };
  }
}

export type LineDetail = Awaited<ReturnType<LineReading['get']>>;

const idFields = [
  ...(['correlationId', 'endToEndId', 'externalId', 'originalEndToEndId'] as const),
  ...(['movementId', 'idempotencyKey', 'billCode'] as const),
] as const;
type IdField = (typeof idFields)[number];

function idsOf(line: Record<IdField, string | null>) {
  return idFields.flatMap((field) => {
    const value = line[field];
    return value === null ? [] : [{ field, value }];
  });
}
