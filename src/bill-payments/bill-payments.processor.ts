import { JobProcessor, Processes } from '../platform/job-processor.js';
import type { JobPayload } from '../queues.js';
import { BillPaymentLife } from './bill-payment-life.service.js';

@Processes('followBillPayments')
export class BillPaymentsProcessor extends JobProcessor<'followBillPayments'> {
  constructor(private readonly life: BillPaymentLife) {
    super();
  }

  protected async run({ accountId }: JobPayload<'followBillPayments'>): Promise<void> {
    await this.life.follow(accountId);
  }
}
