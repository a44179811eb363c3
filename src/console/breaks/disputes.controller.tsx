// The disputes of received Pix: until when the bank must have an answer, what it has blocked, and
// the line that shows the outcome.
import { Controller } from '@nestjs/common';
import { isUuid, readPage, toList } from '../../platform/http/listing.js';
import { Database } from '../../platform/postgres/database.service.js';
import { DisputeEvidence } from '../../reporting/dispute-evidence/dispute-evidence.service.js';
import { DisputesService } from '../../statement/disputes/disputes.service.js';
import { Amount, Card, Cards, Code, FactList, Pager } from '../kit/elements.js';
import { TableCard } from '../kit/table.js';
import { Shown, type PageAnswer } from '../page.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { callerOf, pathId, type Visit } from '../visit.js';

@Controller()
export class DisputePages {
  constructor(
    private readonly database: Database,
    private readonly disputes: DisputesService,
    private readonly evidence: DisputeEvidence,
  ) {}

  @ConsolePage('disputes', 'view', { title: 'disputes.title', section: 'breaks', place: 29 })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t, to, query, accountId } = visit;
    const page = readPage({ cursor: query.get('cursor') ?? undefined }, isUuid);
    const found = await this.disputes.list(accountId, page);
    const { data: rows, next } = toList(found, page, ({ id }) => id);
    const state = await this.database.prisma.statementState.findUnique({ where: { accountId } });
    const blocked = state?.liveBlockedCents ?? null;
    const body = (
      <>
        <Cards is="facts">
          <FactList
            title="disputes.balance"
            facts={[
              [
                'disputes.blocked',
                blocked === null ? t('disputes.blockedUnknown') : <Amount cents={blocked} />,
              ],
            ]}
          />
        </Cards>
        <TableCard
          {...{ rows, title: 'disputes.title', empty: 'disputes.none' }}
          columns={{
            'evidence.deadlineAt': { at: ({ deadlineAt }) => deadlineAt },
            'word.kind': {
              cell: ({ kind }) => t(`disputes.kind.${kind}`),
              href: ({ id }) => to(`disputes/${id}`),
            },
            'word.amount': { cents: ({ amountCents }) => amountCents },
            'word.status': ({ status }) => t(`disputes.status.${status}`),
            'disputes.returned': {
              cell: ({ returnedNsu }) => returnedNsu?.toString() ?? '',
              href: ({ returnedNsu }) => to(`statement/${returnedNsu}`),
            },
          }}
        >
          <Pager next={next} />
        </TableCard>
      </>
    );
    return new Shown(t('disputes.title'), body);
  }

  @ConsolePage('disputes/:id', 'view')
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t, to, time } = visit;
    const found = await this.evidence.get(callerOf(visit), pathId(visit));
    const { dispute, transaction, charges, returned } = found;
    const lineOf = (line: typeof transaction) =>
      line ? <a href={to(`statement/${line.nsu}`)}>{line.nsu.toString()}</a> : t('app.none');
    const body = (
      <>
        <Cards>
          <FactList
            title={`disputes.kind.${dispute.kind}`}
            facts={[
              ['evidence.deadlineAt', time(dispute.deadlineAt)],
              ['word.status', t(`disputes.status.${dispute.status}`)],
              ['word.amount', dispute.amount !== null && <Amount cents={dispute.amount} />],
              ['disputes.pix', lineOf(transaction)],
              ['disputes.returned', lineOf(returned)],
            ]}
          />
        </Cards>
        {charges.map(({ correlationId, metadata }) => (
          <Card title={t('disputes.charge')}>
            <p>
              <a href={to(`charges/${encodeURIComponent(correlationId)}`)}>{correlationId}</a>
            </p>
            {metadata && (
              <Code text={JSON.stringify(metadata, null, 2)} label={t('disputes.charge')} wraps />
            )}
          </Card>
        ))}
      </>
    );
    return new Shown(t(`disputes.kind.${dispute.kind}`), body);
  }
}
