// Reads alerts and the messages about them, and acknowledges alerts.
import { Injectable } from '@nestjs/common';
import type { RouteInput, RouteOutput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import { AppError, conflict } from '../../platform/errors.js';
import type { Page } from '../../platform/http/listing.js';
import {
  recordAcknowledgement,
  listAlertIds,
  readAlerts,
  type AlertRow,
} from './alerts.queries.js';
import {
  alertDetail,
  type getAlert,
  type listAlerts,
  type listNotifications,
} from './alerts.schema.js';

const includeMessage = {
  message: { select: { ruleId: true, kind: true, alertCount: true } },
} as const;

/** More firing alerts are not counted. */
export const maxFiringCounted = 1_000;

interface Acknowledgement {
  actor: string;
  reason: string;
}

@Injectable()
export class Alerts {
  constructor(private readonly database: Database) {}

  async listPage(accountId: number, query: RouteInput<typeof listAlerts>['query'], page: Page) {
    const { prisma } = this.database;
    const { ids, lastExamined } = await listAlertIds(prisma, accountId, query, page);
    return { rows: await readAlerts(prisma, accountId, ids), lastExamined };
  }

  /** How many alerts nobody has acknowledged and whose cause lasts; no more are counted. */
  async countFiring(accountId: number): Promise<number> {
    const where = { accountId, state: 'firing' } as const;
    return this.database.prisma.alert.count({ where, take: maxFiringCounted });
  }

  /** Throws `not_found`, also for an alert of another account. */
  async get(accountId: number, id: string): Promise<RouteOutput<typeof getAlert>> {
    const { prisma } = this.database;
    const [row] = await readAlerts(prisma, accountId, [id]);
    if (!row) throw new AppError('not_found');
    const history = await prisma.alertHistoryEntry.findMany({
      where: { accountId, alertId: id },
      orderBy: { sequence: 'asc' },
    });
    const entries = history.map(({ createdAt: at, ...entry }) => ({ ...entry, at }));
    return { ...describeAlert(row), history: entries };
  }

  /** Throws `not_found`, and `conflict` for an alert that is acknowledged or cleared. */
  async acknowledge(accountId: number, id: string, by: Acknowledgement) {
    const acknowledged = await recordAcknowledgement(this.database.sql, accountId, { id }, by);
    const alert = await this.get(accountId, id);
    if (acknowledged === 0) throw conflict('alert_not_firing', `The alert is ${alert.state}.`);
    return alert;
  }

  /** Throws `not_found` for an unknown rule. Returns how many alerts were acknowledged. */
  async acknowledgeAll(accountId: number, ruleId: string, by: Acknowledgement): Promise<number> {
    const { prisma, sql } = this.database;
    if (!(await prisma.alertRule.findFirst({ where: { accountId, id: ruleId } })))
      throw new AppError('not_found');
    return recordAcknowledgement(sql, accountId, { ruleId }, by);
  }

  async listNotifications(
    accountId: number,
    { state, channelId }: RouteInput<typeof listNotifications>['query'],
    { after, limit }: Page,
  ) {
    return this.database.prisma.alertNotification.findMany({
      where: {
        ...{ accountId, id: { lt: after ?? undefined } },
        ...(state ? { state } : {}),
        ...(channelId ? { channelId } : {}),
      },
      orderBy: { id: 'desc' },
      take: limit + 1,
      include: includeMessage,
    });
  }

  /** Throws `not_found`, and `conflict` for a message of a channel that was removed. */
  async replay(accountId: number, id: string) {
    const { prisma } = this.database;
    const where = { accountId_id: { accountId, id } };
    const found = await prisma.alertNotification.findUnique({
      where,
      include: { channel: { select: { deletedAt: true } } },
    });
    if (!found) throw new AppError('not_found');
    if (found.channel.deletedAt !== null)
      throw conflict('channel_removed', 'The channel of the message was removed.');
    const nextAttemptAt = await this.database.now();
    const data = { state: 'pending', attempts: 0, nextAttemptAt, deliveredAt: null } as const;
    return prisma.alertNotification.update({ where, data, include: includeMessage });
  }
}

export function describeAlert({ amountCents: amount, detail, ...alert }: AlertRow) {
  return { ...alert, amount, detail: alertDetail.parse(detail) };
}
