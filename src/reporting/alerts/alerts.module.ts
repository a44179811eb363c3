import { BullModule } from '@nestjs/bullmq';
import { jobs } from '../../platform/queue/queues.js';
import { RaiseAlertsProcessor } from './raise-alerts.processor.js';
import { SendAlertsProcessor } from './send-alerts.processor.js';
import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module.js';
import { BankModule } from '../../bank/bank.module.js';
import { PaymentControlsModule } from '../../outbound/payment-controls/payment-controls.module.js';
import { AccountsModule } from '../../access/accounts/accounts.module.js';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { WebhooksModule } from '../../webhooks/webhooks.module.js';
import { OperationsModule } from '../../outbound/operations/operations.module.js';
import { AlarmStopsController } from './alarm-stops.controller.js';
import { AlarmStops } from './alarm-stops.service.js';
import { AlertChannelsController } from './alert-channels.controller.js';
import { AlertChannels } from './alert-channels.service.js';
import { MonthsModule } from '../months/months.module.js';
import { AlertEvaluator } from './alert-evaluator.service.js';
import { AlertMetrics } from './alert-metrics.service.js';
import { AlertNotifications } from './alert-notifications.service.js';
import { AlertRulesController } from './alert-rules.controller.js';
import { AlertRules } from './alert-rules.service.js';
import { AlertsController } from './alerts.controller.js';
import { Alerts } from './alerts.service.js';
import { ChannelSender } from './channel-sender.service.js';
import { DebitNotices } from './debit-notices.service.js';
import { MailSender } from './mail-sender.service.js';

@Module({
  imports: [
    BullModule.registerQueue({ name: jobs.sendAlerts.name }, { name: jobs.raiseAlerts.name }),
    EventsModule,
    StatementModule,
    WebhooksModule,
    MonthsModule,
    PaymentControlsModule,
    AccountsModule,
    BankModule,
    OperationsModule,
  ],
  controllers: [
    AlarmStopsController,
    AlertsController,
    AlertRulesController,
    AlertChannelsController,
  ],
  providers: [
    SendAlertsProcessor,
    RaiseAlertsProcessor,
    DebitNotices,
    AlarmStops,
    Alerts,
    AlertRules,
    AlertChannels,
    AlertEvaluator,
    AlertNotifications,
    AlertMetrics,
    ChannelSender,
    MailSender,
  ],
  exports: [AlarmStops, Alerts, AlertRules, AlertChannels, DebitNotices],
})
export class AlertsModule {}
