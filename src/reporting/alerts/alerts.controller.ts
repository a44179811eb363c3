// The API of alerts and of the messages about them.
import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { IdempotencyService } from '../../access/idempotency/idempotency.service.js';
import { Handles } from '../../platform/http/contract-route.js';
import { isUuid, readPage, readUuid, toList } from '../../platform/http/listing.js';
import {
  acknowledgeAlert,
  acknowledgeAlerts,
  getAlert,
  listAlerts,
  listNotifications,
  replayNotification,
} from './alerts.schema.js';
import { Alerts, describeAlert } from './alerts.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class AlertsController {
  constructor(
    private readonly alerts: Alerts,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Handles(listAlerts)
  async list(@FromCaller() { accountId, query }: CallerInput<typeof listAlerts>) {
    const page = readPage(query, isUuid);
    const found = await this.alerts.listPage(accountId, query, page);
    return toList(found, page, ({ id }) => id, describeAlert);
  }

  @Handles(getAlert)
  get(@FromCaller() { accountId, params }: CallerInput<typeof getAlert>) {
    return this.alerts.get(accountId, readUuid(params.id));
  }

  @RequiresScope('alerts')
  @Handles(acknowledgeAlert)
  acknowledge(@FromCaller() request: CallerInput<typeof acknowledgeAlert>) {
    const { accountId, actor, params, body } = request;
    return this.idempotency.runOnce({ accountId, route: acknowledgeAlert, request }, () =>
      this.alerts.acknowledge(accountId, readUuid(params.id), { actor, reason: body.reason }),
    );
  }

  @RequiresScope('alerts')
  @Handles(acknowledgeAlerts)
  acknowledgeAll(@FromCaller() request: CallerInput<typeof acknowledgeAlerts>) {
    const { accountId, actor, body } = request;
    const { ruleId, reason } = body;
    return this.idempotency.runOnce({ accountId, route: acknowledgeAlerts, request }, async () => ({
      acknowledged: await this.alerts.acknowledgeAll(accountId, ruleId, { actor, reason }),
    }));
  }

  @Handles(listNotifications)
  async notifications(@FromCaller() { accountId, query }: CallerInput<typeof listNotifications>) {
    const page = readPage(query, isUuid);
    const rows = await this.alerts.listNotifications(accountId, query, page);
    return toList(rows, page, ({ id }) => id, describeNotification);
  }

  @RequiresScope('alerts')
  @Handles(replayNotification)
  replay(@FromCaller() request: CallerInput<typeof replayNotification>) {
    const { accountId, params } = request;
    return this.idempotency.runOnce({ accountId, route: replayNotification, request }, async () =>
      describeNotification(await this.alerts.replay(accountId, readUuid(params.id))),
    );
  }
}

type NotificationRow = Awaited<ReturnType<Alerts['listNotifications']>>[number];

function describeNotification({ message, ...notification }: NotificationRow) {
  const { ruleId, kind, alertCount: alerts } = message;
  return { ...notification, ruleId, kind, alerts };
}
