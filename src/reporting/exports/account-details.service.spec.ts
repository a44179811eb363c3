import { describe, expect, it } from '@jest/globals';
import { accountAtItau } from '../../../test/support/exported-lines.js';
import type { AccountsService } from '../../access/accounts/accounts.service.js';
import type { BankDetails } from '../../access/accounts/bank-details.schema.js';
import type { BankService } from '../../bank/bank.service.js';
import { bankProfileOf } from '../../bank/profiles.js';
import { AccountDetails } from './account-details.service.js';

describe('the account of an export file, at a bank that is not the sandbox', () => {
  const detailsOf = (stored: BankDetails | null) => {
    const accounts = { findBankDetails: () => Promise.resolve(stored) };
    const bank = { profile: bankProfileOf({ profile: 'generic' }) };
    return new AccountDetails(
      accounts as unknown as AccountsService,
      bank as unknown as BankService,
    ).get({ id: 1, slug: 'second', goLiveAt: null });
  };

  it('is the one that an operator has set', async () =>
    expect(await detailsOf(accountAtItau)).toEqual(accountAtItau));

  it('is refused with what to set while nothing is set', async () => {
    await expect(detailsOf(null)).rejects.toMatchObject({
      status: 409,
      details: {
        reason: 'bank_details_missing',
        public: expect.stringContaining('PATCH /v1/accounts/second'),
      },
    });
  });
});
