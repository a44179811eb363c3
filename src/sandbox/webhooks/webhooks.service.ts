// Owes notifications: a delivery is written in the transaction of what it tells, so that neither is without the other.
import { Injectable } from '@nestjs/common';
import { unreachable } from '../../platform/errors.js';
import { stringifyJson } from '../../platform/exact-json.js';
import type { BankAccount } from '../accounts/party.js';
import { webhookKinds } from '../faults/fault.js';
import { Faults } from '../faults/faults.service.js';
import type { Tx } from '../sandbox-database.service.js';
import {
  insertDelivery,
  markFailed,
  postponeDelivery,
  repeatDelivery,
} from './deliveries.queries.js';
import type { WebhookEventType } from './event-types.js';
import { forge } from './forgery.js';
import { faultEndpointsOf } from './webhook-fault-endpoints.js';
import { WebhookSender } from './webhook-sender.service.js';

@Injectable()
export class Webhooks {
  constructor(
    private readonly sender: WebhookSender,
    private readonly faults: Faults,
  ) {}

  /** Tells the account's registration of that event type, if it has one, as soon as `tx` is final. */
  async notify(
    tx: Tx,
    account: BankAccount,
    eventType: WebhookEventType,
    { body, at }: { body: object; at: Date },
  ): Promise<void> {
    const text = stringifyJson(body);
    const id = await insertDelivery(tx, { accountId: account.id, eventType, body: text, at });
    if (id === null) return;
    await this.playFault(tx, id, eventType, { body, at });
    tx.afterCommit(() => this.sender.trigger());
  }

  private async playFault(
    tx: Tx,
    id: bigint,
    eventType: WebhookEventType,
    { body, at }: { body: object; at: Date },
  ): Promise<void> {
    const fault = this.faults.take(faultEndpointsOf(eventType), ...webhookKinds);
    switch (fault?.kind) {
      case undefined:
        return;
      case 'webhook-lost':
        return markFailed(tx, { id, outcome: 'lost by a fault', nextAttemptAt: null });
      case 'webhook-late':
      // The account's next one, told at once, goes first.
      case 'webhook-reordered':
        return postponeDelivery(tx, id, new Date(at.getTime() + fault.delayMs));
      case 'webhook-twice':
        return repeatDelivery(tx, id, null);
      case 'webhook-forged':
        return repeatDelivery(tx, id, stringifyJson(forge(body)));
      default:
        return unreachable(fault as never);
    }
  }
}
