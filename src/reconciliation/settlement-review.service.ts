// Looks again at whether what was expected was paid as it was owed, after its matches have changed.
import { Injectable } from '@nestjs/common';
import type { Tx } from '../database.service.js';

@Injectable()
export class SettlementReview {
  review(_tx: Tx, _accountId: number, _expectedPaymentIds: string[]): Promise<void> {
    return Promise.resolve();
  }
}
