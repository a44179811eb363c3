import { Controller } from '@nestjs/common';
import { parseBillCode } from '../../brazil/bill-code.js';
import { getBill, payBill } from '../../bank-contract/bill-payments.js';
import type { RouteInput } from '../../bank-contract/route.js';
import { Handles, Input } from '../../platform/http/contract-route.js';
import { AppError, invariant } from '../../platform/errors.js';
import { AccountInput, type AccountRequest } from '../accounts/api-key.guard.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { billResponse } from './bill-response.js';
import { BillPayments } from './bill-payments.service.js';
import { findBill } from './bills.queries.js';

@Controller()
export class BillsController {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly payments: BillPayments,
    private readonly clock: BankClock,
  ) {}

  @Handles(getBill)
  async get(@Input() { params }: RouteInput<typeof getBill>) {
    const parsed = parseBillCode(params.identifier);
    invariant(parsed.ok, 'the route accepts only valid codes');
    const bill = await findBill(this.database, parsed.code.barCode);
    if (!bill) throw new AppError('not_found');
    return billResponse(bill, this.clock.today());
  }

  @Handles(payBill)
  pay(@AccountInput() request: AccountRequest<typeof payBill>) {
    return this.payments.pay(request);
  }
}
