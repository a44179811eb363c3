import { Controller } from '@nestjs/common';
import type { RouteInput } from '../../contract/route.js';
import { Handles, Input } from '../../platform/contract-route.js';
import { CurrentAccount } from '../accounts/api-key.guard.js';
import type { SandboxAccount } from '../accounts/party.js';
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
  receivePix(
    @CurrentAccount() account: SandboxAccount,
    @Input() { body }: RouteInput<typeof receivePix>,
  ) {
    return this.incomingPixes.receive(account, body);
  }

  @Handles(postTransaction)
  postTransaction(
    @CurrentAccount() account: SandboxAccount,
    @Input() { body }: RouteInput<typeof postTransaction>,
  ) {
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
