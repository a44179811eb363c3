// Stops an account when an alarm about one of its debits is raised, where people chose so. It stops
// what this service sends, and not somebody who has the bank's credentials.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import type { RouteInput, RouteOutput } from '../../bank-contract/route.js';
import { AccountModes } from '../../outbound/operations/account-modes.service.js';
import { ControlChanges } from '../../outbound/payment-controls/control-changes.service.js';
import { conflict } from '../../platform/errors.js';
import { sha256 } from '../../platform/json/exact-json.js';
import type { changeAlarmStop, getAlarmStop } from './alarm-stops.schema.js';
import type { NotedNotice } from './debit-notices.js';
import { DebitNotices } from './debit-notices.service.js';

const maxLinesShown = 1_000;

@Injectable()
export class AlarmStops {
  constructor(
    private readonly accounts: AccountsService,
    private readonly controls: ControlChanges,
    private readonly debits: DebitNotices,
    private readonly modes: AccountModes,
  ) {}

  async get(slug: string): Promise<RouteOutput<typeof getAlarmStop>> {
    const { id } = await this.accounts.getBySlug(slug);
    const { stopsOnAlarm } = await this.controls.readGuard(id);
    const alarms = await this.debits.listAlarmsOfDays(id);
    return {
      ...{ stopsOnAlarm, lines: alarms.length },
      preview: sha256(alarms.map(({ nsu, row }) => `${nsu} ${row}`).join('\n')),
      data: alarms
        .slice(0, maxLinesShown)
        .map(({ nsu, amountCents: amount, occurredAt, row: debit }) => {
          return { nsu, amount, occurredAt, debit };
        }),
    };
  }

  /** Throws `changed_meanwhile` when the person has not seen what it would have stopped. */
  async change({
    params,
    body: { stopsOnAlarm, preview, ...by },
  }: Pick<RouteInput<typeof changeAlarmStop>, 'params' | 'body'>): Promise<void> {
    if (stopsOnAlarm && (await this.get(params.slug)).preview !== preview)
      throw conflict('changed_meanwhile', 'The preview shows other debits by now.');
    await this.controls.change({ params, body: by }, { stopsOnAlarm });
  }

  /** Of alarms that are not raised yet. An account that is stopped stays so. */
  async actOn(accountId: number, alarms: readonly NotedNotice[]): Promise<void> {
    if (alarms.length === 0) return;
    if (!(await this.controls.readGuard(accountId)).stopsOnAlarm) return;
    await this.modes.stopForAlarm(
      accountId,
      alarms.map(({ nsu }) => nsu),
    );
  }
}
