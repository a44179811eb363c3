import { Controller } from '@nestjs/common';
import type { RouteInput } from '../../bank-contract/route.js';
import { Handles, Input } from '../../platform/http/contract-route.js';
import { AccountInput, type AccountRequest } from '../accounts/api-key.guard.js';
import { BankInspection } from './bank-inspection.service.js';
import {
  postTransaction,
  readFixtures,
  readSandboxLedger,
  receivePix,
  resetBank,
} from './control.schema.js';
import { IncomingPixes } from './incoming-pixes.service.js';
import { ArbitraryLines } from './arbitrary-lines.service.js';
import { BankReset } from './bank-reset.service.js';

@Controller()
export class ControlController {
  constructor(
    private readonly incomingPixes: IncomingPixes,
    private readonly otherLines: ArbitraryLines,
    private readonly inspection: BankInspection,
    private readonly bankReset: BankReset,
  ) {}

  @Handles(receivePix)
  receivePix(@AccountInput() { account, body }: AccountRequest<typeof receivePix>) {
    return this.incomingPixes.receive(account, body);
  }

  @Handles(postTransaction)
  postTransaction(@AccountInput() { account, body }: AccountRequest<typeof postTransaction>) {
    return this.otherLines.post(account, body);
  }

  @Handles(readSandboxLedger)
  readSandboxLedger(@Input() { query }: RouteInput<typeof readSandboxLedger>) {
    return this.inspection.readSandboxLedger(query);
  }

  @Handles(readFixtures)
  readFixtures() {
    return this.inspection.readFixtures();
  }

  @Handles(resetBank)
  async reset() {
    await this.bankReset.reset();
    return this.inspection.readFixtures();
  }
}
