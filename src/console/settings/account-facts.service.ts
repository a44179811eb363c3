// Reads what the page of an account shows. No credential leaves this service: only the names of
// those that are set.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import type { BankDetails } from '../../access/accounts/bank-details.schema.js';
import { Database } from '../../platform/postgres/database.service.js';
import { CreditDaysSettings } from '../../statement/expected-payments/credit-days.service.js';
import { AccountModes } from '../../outbound/operations/account-modes.service.js';
import { Addresses } from '../../platform/http/http.js';
import { Schedules } from '../../reconciliation/runs/schedules.service.js';
import { findStatementReading } from '../../statement/lines/statement-view.queries.js';

export type AccountFacts = Awaited<ReturnType<AccountReading['read']>>;

@Injectable()
export class AccountReading {
  constructor(
    private readonly accounts: AccountsService,
    private readonly modes: AccountModes,
    private readonly schedules: Schedules,
    private readonly database: Database,
    private readonly addresses: Addresses,
    private readonly creditDays: CreditDaysSettings,
  ) {}

  async read(slug: string) {
    const account = await this.accounts.getBySlug(slug);
    const { id, name, origin, weight, goLiveAt, createdAt } = account;
    const { rateLimitPerSecond } = await this.accounts.getCredentials(account);
    const { bankBaseUrl } = this.addresses;
    const modes = await this.modes.get(slug);
    return {
      ...{ slug, name, weight, goLiveAt, createdAt, rateLimitPerSecond },
      origin: origin as 'settings' | 'api',
      bankHost: URL.canParse(bankBaseUrl) ? new URL(bankBaseUrl).host : null,
      bankDetails: account.bankDetails as BankDetails | null,
      credentialsSet: this.accounts.listSetCredentials(account),
      mode: { ...modes, changes: [...modes.changes].slice(0, maxChanges) },
      creditDays: (await this.creditDays.get(id)).ways,
      schedule: await this.schedules.get(id),
      reading: await findStatementReading(this.database.sql, id),
    };
  }
}

/** The page shows the newest changes of the mode. */
const maxChanges = 20;
