// The identity of an account at its bank, which OFX and CNAB 240 files state. A field is never made
// up.
import { Injectable } from '@nestjs/common';
import { AccountsService, type BankAccount } from '../../access/accounts/accounts.service.js';
import type { BankDetails } from '../../access/accounts/bank-details.schema.js';
import { BankService } from '../../bank/bank.service.js';
import { readSandboxAccount } from '../../bank-contract/statement.js';
import { conflict } from '../../platform/errors.js';

@Injectable()
export class AccountDetails {
  constructor(
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
  ) {}

  /**
   * What an operator set, or else what the sandbox bank answers. Throws `bank_details_missing` for
   * another bank, and the fault of a call that the sandbox bank did not answer.
   */
  async get(account: BankAccount): Promise<BankDetails> {
    const details = await this.accounts.findBankDetails(account.id);
    if (details) return details;
    if (this.bank.profile.name === 'sandbox') return this.readFromSandbox(account);
    throw conflict(
      'bank_details_missing',
      'The file states the account at the bank, which is not set. ' +
        `An operator sets bankDetails with PATCH /v1/accounts/${account.slug}.`,
    );
  }

  private async readFromSandbox(account: BankAccount): Promise<BankDetails> {
    const noInput = { params: {}, query: {}, body: undefined, idempotencyKey: null };
    const { value } = await this.bank.callOrThrow(readSandboxAccount, account, noInput);
    const { bank, branch, number, holder } = value;
    return {
      bankCode: bank.code,
      ispb: bank.ispb,
      bankName: bank.name,
      branch,
      branchDigit: null,
      accountNumber: number,
      accountDigit: null,
      holderName: holder.name,
      holderTaxId: holder.document,
      agreement: null,
    };
  }
}
