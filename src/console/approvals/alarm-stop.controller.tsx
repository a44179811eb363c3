// Whether an alarm stops the account: first the debits on which it would have, and what a stop does
// not stop; then the form.
import { Controller } from '@nestjs/common';
import { AlarmStops } from '../../reporting/alerts/alarm-stops.service.js';
import { debitText } from '../../reporting/alerts/alert-subject.js';
import {
  ConsoleAction,
  ConsolePage,
  ShownAgainBy,
  Visiting,
} from '../serving/console-page.decorator.js';
import { Message, Muted } from '../kit/elements.js';
import { FormCard } from '../kit/form.js';
import { TableCard } from '../kit/table.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { accountOf, callerOf, requireReason, typed, type Visit } from '../visit.js';

const needs = 'manage payment rules';
const page = 'payment-controls/alarm-stop';

@Controller()
export class AlarmStopPages {
  constructor(private readonly stops: AlarmStops) {}

  @ConsolePage(page, 'view')
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t, to } = visit;
    const { stopsOnAlarm, lines, preview, data: rows } = await this.stops.get(slugOf(visit));
    const body = (
      <>
        {stopsOnAlarm && <Message kind="good">{t('alarmStop.on')}</Message>}
        <Message kind="warn">{t('alarm.stopLimits')}</Message>
        <TableCard
          {...{ rows, title: 'alarmStop.lines', empty: 'alarmStop.none' }}
          columns={{
            'word.when': { at: ({ occurredAt }) => occurredAt },
            'word.line': {
              cell: ({ nsu }) => nsu.toString(),
              href: ({ nsu }) => to(`alarms/${nsu}`),
            },
            'word.amount': { cents: ({ amount }) => amount },
            'alarm.why': { wide: ({ debit }) => debitText(debit, visit.language) },
          }}
        />
        {visit.may(needs) ? (
          <FormCard
            {...{ action: to(page), fields: {}, shown: preview, area: 'alarmStop' }}
            hidden={{ preview, stops: stopsOnAlarm ? 'no' : 'yes' }}
            title="controls.stopsOnAlarm"
            intro={stopsOnAlarm ? 'alarmStop.release' : 'alarmStop.why'}
            button={stopsOnAlarm ? 'alarmStop.turnOff' : 'alarmStop.turnOn'}
            asksReason
          />
        ) : (
          <Muted>{t('policy.needsRole')}</Muted>
        )}
      </>
    );
    return new Shown(t('alarmStop.title', { lines: String(lines) }), body);
  }

  @ConsoleAction(page, needs, 'change payment controls', (visit) => `account ${visit.accountId}`)
  @ShownAgainBy('show')
  async change(@Visiting() visit: Visit): Promise<PageAnswer> {
    const stopsOnAlarm = typed(visit, 'stops') === 'yes';
    const { actor } = callerOf(visit);
    const by = { preview: typed(visit, 'preview'), actor, reason: requireReason(visit) };
    await this.stops.change({ params: { slug: slugOf(visit) }, body: { stopsOnAlarm, ...by } });
    return new Redirect(visit.to(page));
  }
}

const slugOf = (visit: Visit) => accountOf(visit).slug;
