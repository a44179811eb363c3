// Tries the credentials of an account that is not stored yet, by a read of today's statement.
import { Injectable } from '@nestjs/common';
import type { BankCredentials } from '../access/accounts/credentials.js';
import { KeyTrial, type TriedKey } from '../access/accounts/key-trial.js';
import { addDays } from '../brazil/calendar.js';
import { saoPauloDay } from '../brazil/statement-day.js';
import { readStatementPage } from '../bank-contract/statement.js';
import { waitOutsideSlot } from '../platform/limits/request-slots.service.js';
import { assertOutsideTransaction, Database } from '../platform/postgres/database.service.js';
import { BankConnections } from './bank-connections.service.js';
import { headersOf } from './bank.service.js';
import { encodePathAndQuery } from './request-encoding.js';

const deadlineMs = 10_000;
/** No account has it: the connections of a trial are those of no account. */
const noAccount = 0;

@Injectable()
export class BankKeyTrial extends KeyTrial {
  constructor(
    private readonly connections: BankConnections,
    private readonly database: Database,
  ) {
    super();
  }

  async try(credentials: BankCredentials): Promise<TriedKey> {
    assertOutsideTransaction('a trial of a key');
    const headers = headersOf(readStatementPage, credentials, null, false);
    if (!headers) return 'bank_key_refused';
    const today = saoPauloDay(await this.database.now());
    const query = { startDate: today, endDate: addDays(today, 1), limit: 1 };
    const result = await waitOutsideSlot(() =>
      this.connections.exchange({
        ...{ accountId: noAccount, tls: credentials.tls, isWhitelabel: false, deadlineMs },
        ...{ method: 'GET', headers, body: null, sendWithin: null },
        pathAndQuery: encodePathAndQuery(readStatementPage, { query }),
      }),
    );
    if (!result.hasResponse) return 'bank_key_untried';
    const { status } = result.response;
    if (status === 401 || status === 403) return 'bank_key_refused';
    return status >= 200 && status < 300 ? 'accepted' : 'bank_key_untried';
  }
}
