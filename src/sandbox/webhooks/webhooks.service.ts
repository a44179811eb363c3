// Writes webhook deliveries. A delivery is written in the database transaction of its event, so
// that neither exists without the other.
import { Injectable } from '@nestjs/common';
import type { WebhookDelivery } from '../../generated/sandbox/client.js';
import { unreachable } from '../../platform/errors.js';
import { stringifyJson } from '../../platform/json/exact-json.js';
import type { SandboxAccount } from '../accounts/party.js';
import { webhookKinds } from '../faults/fault.js';
import { Faults } from '../faults/faults.service.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import { insertDelivery, markDeliveryFailed, insertDeliveryCopy } from './deliveries.queries.js';
import { faultEndpointsOf, type WebhookEventType } from './event-types.js';
import { forgeBody } from './forgery.js';
import { WebhookSender } from './webhook-sender.service.js';

@Injectable()
export class Webhooks {
  constructor(
    private readonly sender: WebhookSender,
    private readonly faults: Faults,
  ) {}

  /**
   * Writes a delivery to the account's registration of that event type, if there is one, before
   * `tx` commits. The delivery is sent as soon as it has.
   */
  notify(
    tx: SandboxTx,
    account: SandboxAccount,
    eventType: WebhookEventType,
    event: { body: object; at: Date },
  ): void {
    tx.doAlongside(this.write(tx, account, eventType, event));
  }

  private async write(
    tx: SandboxTx,
    account: SandboxAccount,
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
    tx: SandboxTx,
    id: bigint,
    eventType: WebhookEventType,
    { body, at }: { body: object; at: Date },
  ): Promise<void> {
    const fault = this.faults.fire(faultEndpointsOf(eventType), ...webhookKinds);
    switch (fault?.kind) {
      case undefined:
        return;
      case 'webhook-lost':
        return markDeliveryFailed(tx, { id, outcome: 'lost by a fault', nextAttemptAt: null });
      case 'webhook-late':
      // The account's next webhook is sent at once and so arrives first.
      case 'webhook-reordered':
        return tx.update<WebhookDelivery>(
          'webhook_delivery',
          { id },
          { nextAttemptAt: new Date(at.getTime() + fault.delayMs) },
        );
      case 'webhook-twice':
        return insertDeliveryCopy(tx, id, null);
      case 'webhook-forged':
        return insertDeliveryCopy(tx, id, stringifyJson(forgeBody(body)));
      default:
        return unreachable(fault as never);
    }
  }
}
