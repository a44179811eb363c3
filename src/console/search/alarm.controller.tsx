// What to do about a debit that nobody requested here: whom to call, what to send, what to replace.
import { Controller } from '@nestjs/common';
import { printReais } from '../../brazil/printed-text.js';
import { ControlChanges } from '../../outbound/payment-controls/control-changes.service.js';
import { AppError } from '../../platform/errors.js';
import { isNsu } from '../../platform/http/listing.js';
import { DebitNotices } from '../../reporting/alerts/debit-notices.service.js';
import { debitText } from '../../reporting/alerts/alert-subject.js';
import type { NotedNotice } from '../../reporting/alerts/debit-notices.js';
import { Amount, Card, Cards, Code, FactList, Message, Movement, Row } from '../kit/elements.js';
import { Shown, type PageAnswer } from '../page.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { accountOf, callerOf, type Visit } from '../visit.js';
import { LineReading, type LineDetail } from './line-reading.service.js';

@Controller()
export class AlarmPage {
  constructor(
    private readonly details: LineReading,
    private readonly controls: ControlChanges,
    private readonly debits: DebitNotices,
  ) {}

  @ConsolePage('alarms/:id', 'view')
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const nsu = visit.params.id ?? '';
    if (!isNsu(nsu)) throw new AppError('not_found');
    const { t, to, time } = visit;
    const detail = await this.details.get(callerOf(visit), BigInt(nsu));
    const [notices, { bankContact }] = await Promise.all([
      this.debits.listAll(visit.accountId),
      this.controls.readGuard(visit.accountId),
    ]);
    const alarms = notices.filter(({ notice }) => notice === 'alarm');
    const own = notices.find((one) => one.nsu === detail.line.nsu);
    const [first] = alarms;
    const sum = alarms.reduce((total, { amountCents }) => total + amountCents, 0n);
    const { slug } = accountOf(visit);
    const body = (
      <>
        {own?.notice === 'alarm' && <Message kind="bad">{t('alarm.now')}</Message>}
        <Row>
          <a href={to(`statement/${nsu}`)}>{t('alarm.line')}</a>
          <a href={to('alerts?state=firing')}>{t('alarm.acknowledge')}</a>
        </Row>
        <Cards>
          <FactList
            title="word.line"
            facts={[
              ['word.amount', <Movement of={detail.line} />],
              ['alarm.why', own ? debitText(own.row, visit.language) : t('alarm.over')],
              ['word.when', time(detail.line.occurredAt)],
              ['alarm.payee', <bdi>{payeeOf(visit, detail)}</bdi>],
              ['alarm.sum', <Amount cents={sum} />],
              ['alarm.first', first && <FirstLine {...{ first, visit }} />],
            ]}
          />
          <FactList
            title="alarm.do"
            facts={[
              ['controls.bankContact', bankContact ?? t('alarm.noContact')],
              ['alarm.key', t('alarm.keyOf', { slug })],
              ['alarm.stop', t('alarm.stopLimits')],
              ['account.changeMode', <a href={to('account')}>{t('word.account')}</a>],
            ]}
          />
        </Cards>
        <Card title={t('alarm.dossier')}>
          <Code text={dossierOf(visit, detail)} label={t('alarm.dossier')} wraps />
        </Card>
      </>
    );
    return new Shown(t('alarm.titleOf', { nsu }), body);
  }
}

function FirstLine({ first: { nsu }, visit }: { first: NotedNotice; visit: Visit }) {
  return <a href={visit.to(`statement/${nsu}`)}>{nsu.toString()}</a>;
}

function payeeOf({ t }: Visit, { line }: LineDetail): string {
  const { name, taxId, ispb, branch, account } = line.counterparty;
  const parts = [name, taxId, ispb, branch, account].filter((part) => part !== null);
  return parts.join(' / ') || t('app.none');
}

/** What a bank asks for, to contest a debit. */
function dossierOf(visit: Visit, detail: LineDetail): string {
  const { t, time } = visit;
  const { line, ids, bankId } = detail;
  return [
    t('alarm.contest', { slug: accountOf(visit).slug }),
    `NSU: ${line.nsu}`,
    `${t('line.bankId')}: ${bankId}`,
    ...ids.map(({ field, value }) => `${field}: ${value}`),
    `${t('word.amount')}: ${printReais(line.amountCents)}`,
    `${t('word.when')}: ${time(line.occurredAt)}`,
    `${t('alarm.payee')}: ${payeeOf(visit, detail)}`,
  ].join('\n');
}
