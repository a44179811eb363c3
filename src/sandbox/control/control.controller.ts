import { Controller } from '@nestjs/common';
import type { RouteInput } from '../../contract/route.js';
import { Handles, Input } from '../../platform/contract-route.js';
import { CurrentAccount } from '../accounts/api-key.guard.js';
import type { BankAccount } from '../accounts/party.js';
import { BookReading } from './book-reading.service.js';
import {
  postTransaction,
  readFixtures,
  readLedger,
  receivePix,
  resetBank,
} from './control.schema.js';
import { IncomingPixes } from './incoming-pix.service.js';
import { OtherLines } from './other-lines.service.js';
import { Reset } from './reset.service.js';

@Controller()
export class ControlController {
  constructor(
    private readonly incomingPixes: IncomingPixes,
    private readonly otherLines: OtherLines,
    private readonly bookReading: BookReading,
    private readonly bankReset: Reset,
  ) {}

  @Handles(receivePix)
  receivePix(
    @CurrentAccount() account: BankAccount,
    @Input() { body }: RouteInput<typeof receivePix>,
  ) {
    return this.incomingPixes.receive(account, body);
  }

  @Handles(postTransaction)
  postTransaction(
    @CurrentAccount() account: BankAccount,
    @Input() { body }: RouteInput<typeof postTransaction>,
  ) {
    return this.otherLines.post(account, body);
  }

  @Handles(readLedger)
  readLedger(@Input() { query }: RouteInput<typeof readLedger>) {
    return this.bookReading.readLedger(query);
  }

  @Handles(readFixtures)
  readFixtures() {
    return this.bookReading.readFixtures();
  }

  @Handles(resetBank)
  async reset() {
    await this.bankReset.reset();
    return this.bookReading.readFixtures();
  }
}
