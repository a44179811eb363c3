// Evaluates the alert rules of all accounts, and makes the messages that are due. Each rule is one
// statement over what is open; without a rule, only the one read that all sweepers share is sent.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/postgres/database.service.js';
import type { Prisma } from '../../generated/service/client.js';
import { unreachable } from '../../platform/errors.js';
import { Log } from '../../platform/log.js';
import { Settings } from '../../platform/settings/config.js';
import type { JobPayload } from '../../platform/queue/queues.js';
import { Every } from '../../platform/queue/timers.js';
import { readSeveritySteps } from '../../reconciliation/breaks/severity.queries.js';
import { severityScale } from '../../reconciliation/breaks/severity.js';
import { DebitNotices } from './debit-notices.service.js';
import { eventAmount, type NewEvent } from '../../events/event.js';
import { EventsService } from '../../events/events.service.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { WebhookHealth } from '../../webhooks/health/webhook-health.service.js';
import { MonthReader } from '../months/month-reader.service.js';
import { AlarmStops } from './alarm-stops.service.js';
import { AlertNotifications } from './alert-notifications.service.js';
import { alertDetail } from './alerts.schema.js';
import { lastDueDay } from './certificate-deadline.js';
import * as found from './conditions.queries.js';
import { isOfAlarms, readCondition } from './conditions.schema.js';
import {
  declareAlarmRules,
  declareLocalSignInRules,
  evaluateRule,
  listDueMessages,
  listDueRules,
  listFiringLines,
  listFirstAlarms,
  listRulesOfDebits,
  makeMessage,
  type EnabledRule,
  type FiredAlert,
} from './evaluation.queries.js';

@Injectable()
export class AlertEvaluator {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
    private readonly webhookHealth: WebhookHealth,
    private readonly months: MonthReader,
    private readonly debits: DebitNotices,
    private readonly stops: AlarmStops,
    private readonly events: EventsService,
    private readonly notifications: AlertNotifications,
    private readonly settings: Settings,
    private readonly log: Log,
  ) {}

  /** Throws the first error, after all rules: a rule that fails must not stop the others. */
  @Every('alerts', 10)
  async evaluate(): Promise<void> {
    const { prisma, sql } = this.database;
    if (this.settings.sso) await declareLocalSignInRules(sql);
    await declareAlarmRules(this.database);
    const rules = await listDueRules(prisma);
    if (rules.length === 0) return;
    const failures: unknown[] = [];
    for (const rule of rules) {
      try {
        await this.evaluateOne(rule);
      } catch (error) {
        this.log.error({ err: error, ruleId: rule.ruleId }, 'alert rule could not be evaluated');
        failures.push(error);
      }
    }
    for (const message of await listDueMessages(sql)) await makeMessage(sql, message);
    if (failures.length > 0) throw failures[0];
  }

  /** Evaluates the rules about debits at once, whenever they were evaluated, and their messages. */
  async raise({ accountId }: JobPayload<'raiseAlerts'>): Promise<void> {
    const { prisma, sql } = this.database;
    const rules = await listRulesOfDebits(prisma, accountId);
    // What an alarm is raised about is no alert of a lower level.
    const ordered = [...rules].sort((a, b) => Number(raisesAlarms(b)) - Number(raisesAlarms(a)));
    for (const rule of ordered) await this.evaluateOne(rule, { isAtOnce: true });
    if (rules.length === 0) return;
    for (const message of await listDueMessages(sql))
      if (message.accountId === accountId) await makeMessage(sql, message);
    await this.notifications.enqueueDue();
  }

  /** An alarm and its event are recorded together: a kill switch of the company may wait for it. */
  private async evaluateOne(rule: EnabledRule, { isAtOnce = false } = {}) {
    const options = { readAt: await this.database.now(), isAtOnce };
    const findings = await this.findingsOf(rule, isAtOnce);
    if (!raisesAlarms(rule)) return evaluateRule(this.database.sql, rule, findings, options);
    const { accountId } = rule;
    const fired = await this.database.sqlTransaction(async (tx) => {
      const alarms = await evaluateRule(tx, rule, findings, options);
      const first = await listFirstAlarms(tx, accountId, alarms);
      this.events.record(tx, accountId, first.flatMap(alarmEvent));
      return alarms;
    });
    if (fired.length > 0) await this.events.enqueueDeliveries(accountId);
    return fired;
  }

  private async findingsOf(
    { accountId, ruleId, severity, condition: text }: EnabledRule,
    isAtOnce: boolean,
  ): Promise<Prisma.Sql> {
    const condition = readCondition(text);
    switch (condition.kind) {
      case 'break_open': {
        const steps = await readSeveritySteps(this.database.prisma, accountId);
        const scale = severityScale(steps, await this.bankTime.today(accountId));
        const now = await this.bankTime.now(accountId);
        return found.openBreaksOf(accountId, condition, { scale, now });
      }
      case 'webhook_loss': {
        const loss = await this.webhookHealth.readLoss(accountId, condition.hours);
        return found.webhookLoss(condition, severity, loss);
      }
      case 'deliveries_dead':
        return found.deadDeliveries(accountId, condition, severity);
      case 'no_sync':
        return found.noSync(accountId, condition, severity);
      case 'day_not_certified':
        return found.daysWithoutCertificate(
          accountId,
          severity,
          lastDueDay(await this.bankTime.now(accountId), condition.by),
        );
      case 'approval_waiting':
        return found.waitingApprovals(accountId, condition, severity);
      case 'debit_waiting':
        return found.waitingDebits(accountId, condition, severity);
      case 'unrequested_debit': {
        const known = await this.knownDebits(accountId, ruleId);
        const { level } = condition;
        const debits = await this.debits.list(accountId, { ...known, level, isAtOnce });
        // Before the alarm is recorded: what ends in between is repeated. What the bank does not
        // show stops nothing.
        if (level === 'alarm')
          await this.stops.actOn(
            accountId,
            debits.notices.filter(({ nsu }) => !known.raised.has(nsu) && !debits.absent.has(nsu)),
          );
        return found.debitsOf(debits, severity);
      }
      case 'not_guarded':
        return found.notGuarded(accountId, severity);
      case 'local_sign_in':
        return found.localSignIns(condition, severity);
      case 'month_close_overdue':
        return found.overdueCloses(
          await this.months.listOverdue(accountId, condition.days),
          severity,
        );
      default:
        return unreachable(condition);
    }
  }

  private async knownDebits(accountId: number, ruleId: string) {
    const { prisma } = this.database;
    const rules = (await listRulesOfDebits(prisma, accountId)).filter(raisesAlarms);
    const ofAlarms = rules.map((rule) => rule.ruleId);
    return {
      raised: await listFiringLines(prisma, accountId, ofAlarms),
      own: await listFiringLines(prisma, accountId, [ruleId]),
    };
  }
}

const raisesAlarms = ({ condition }: EnabledRule) => isOfAlarms(readCondition(condition));

function alarmEvent({ id: alertId, amountCents, detail }: FiredAlert): NewEvent[] {
  const { nsu, debit } = alertDetail.parse(detail);
  if (nsu === undefined || amountCents === null) return [];
  const resource = { kind: 'transaction', id: nsu } as const;
  const data = { nsu: BigInt(nsu), amount: eventAmount(amountCents), debit, alertId };
  return [{ type: 'alarm.raised', resource, data }];
}
