// Records what the bank's webhooks report about customers. The contract has no look-up of a
// customer, so a webhook is the only source. It is shown as a report of the bank: it ends no
// operation, opens no account and moves no money.
import { Injectable } from '@nestjs/common';
import type { Tx } from '../../platform/postgres/database.service.js';
import { EventsService } from '../../events/events.service.js';
import { SecretBox } from '../../platform/secret-box.js';
import { customerEventTypes, customerIdsOf, type CustomerEventType } from './customer-report.js';
import { recordReport } from './customers.queries.js';

export interface CustomerNotice {
  eventType: CustomerEventType;
  fields: Readonly<Record<string, unknown>>;
  /** In the bank's time. */
  receivedAt: Date;
}

@Injectable()
export class CustomerReports {
  constructor(
    private readonly events: EventsService,
    private readonly secretBox: SecretBox,
  ) {}

  /**
   * Records a webhook, in the transaction that marks it as processed. False when it is about no
   * onboarding of this account: the bank's response to the onboarding may not be stored yet.
   */
  async record(tx: Tx, accountId: number, notice: CustomerNotice): Promise<boolean> {
    const { eventType, fields, receivedAt: reportedAt } = notice;
    const status = customerEventTypes[eventType];
    const { bankIds, document } = customerIdsOf(fields);
    const documentHash = document && this.secretBox.hash('customer-document', document);
    const report = { bankIds, documentHash, status, reportedAt };
    const found = await recordReport(tx, accountId, report);
    if (!found) return false;
    const { id, bankId, isNew } = found;
    if (isNew)
      this.events.record(tx, accountId, [
        {
          type: `customer.${status}`,
          resource: { kind: 'customer', id },
          data: { customerId: id, bankCustomerId: bankId, reportedBy: 'webhook' },
        },
      ]);
    return true;
  }
}
