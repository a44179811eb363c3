// Owes notifications: a delivery is written in the transaction of what it tells, so that neither is without the other.
import { Injectable } from '@nestjs/common';
import { stringifyJson } from '../../platform/exact-json.js';
import type { BankAccount } from '../accounts/bank-account.js';
import type { Tx } from '../sandbox-database.service.js';
import { insertDelivery } from './deliveries.queries.js';
import type { EventType } from './event-types.js';
import { WebhookSender } from './webhook-sender.service.js';

@Injectable()
export class Webhooks {
  constructor(private readonly sender: WebhookSender) {}

  /** Tells the account's registration of that event type, if it has one, as soon as `tx` is final. */
  async notify(
    tx: Tx,
    account: BankAccount,
    eventType: EventType,
    { body, at }: { body: object; at: Date },
  ): Promise<void> {
    const isOwed = await insertDelivery(tx, {
      accountId: account.id,
      eventType,
      body: stringifyJson(body),
      at,
    });
    if (isOwed) tx.afterCommit(() => this.sender.wake());
  }
}
