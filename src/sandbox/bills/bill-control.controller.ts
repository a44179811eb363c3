import { Controller } from '@nestjs/common';
import type { RouteInput } from '../../bank-contract/route.js';
import { Handles, Input } from '../../platform/http/contract-route.js';
import { chargeBackBillPayment, createBill, listBillPayments } from './bill-control.schema.js';
import { BillControl } from './bill-control.service.js';

@Controller()
export class BillControlController {
  constructor(private readonly control: BillControl) {}

  @Handles(createBill)
  create(@Input() { body }: RouteInput<typeof createBill>) {
    return this.control.create(body);
  }

  @Handles(listBillPayments)
  list(@Input() { query }: RouteInput<typeof listBillPayments>) {
    return this.control.list(query.account ?? null);
  }

  @Handles(chargeBackBillPayment)
  chargeBack(@Input() { params }: RouteInput<typeof chargeBackBillPayment>) {
    return this.control.chargeBack(params.id);
  }
}
