// Looks up Pix keys and stores each response. Its endToEndId can begin one transfer of the account
// that made the look-up. Every look-up gets a new endToEndId, also with a repeated IdempotencyKey.
import { Injectable } from '@nestjs/common';
import { parsePixKey } from '../../brazil/pix-key.js';
import type { PixLookupRequest, PixLookupResponse } from '../../bank-contract/pix-lookup.js';
import type { DictKey } from '../../generated/sandbox/client.js';
import { AppError, invariant, ruleBroken } from '../../platform/errors.js';
import { findAccountByPixKey } from '../accounts/accounts.queries.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Modes } from '../modes/modes.service.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { countUnusedLookups } from './lookups.queries.js';
import { EndToEndIds } from './pix-credits.service.js';
import { dictLookupResponse } from './lookup-response.js';
import { bank, type SandboxAccount, type Party, partyOfAccount } from '../accounts/party.js';

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

@Injectable()
export class PixLookups {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly clock: BankClock,
    private readonly ids: EndToEndIds,
    private readonly modes: Modes,
  ) {}

  /**
   * Throws `not_found` for a key that is not registered, and `rule_broken` with the reason
   * `directory_blocked` when the account has used too few of its look-ups.
   */
  async lookUp(account: SandboxAccount, request: PixLookupRequest): Promise<PixLookupResponse> {
    const pixKey = parsePixKey(request.key);
    invariant(pixKey, 'a request has a Pix key');
    const beneficiary = await this.getHolder(pixKey.key);
    const createdAt = this.clock.now();
    await this.assertNotBlocked(account, createdAt);
    const lookup = {
      endToEndId: this.ids.next('E', bank.ispb),
      accountId: account.id,
      key: pixKey.key,
      beneficiary,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + this.modes.current.lookupMinutes * minuteMs),
    };
    await this.database.insert('dict_lookup', lookup);
    return dictLookupResponse(lookup, request.holderDocument);
  }

  private async assertNotBlocked({ id }: SandboxAccount, now: Date): Promise<void> {
    const { unusedLookups: limit } = this.modes.current;
    if (limit === null) return;
    const since = new Date(now.getTime() - dayMs);
    if ((await countUnusedLookups(this.database, id, since)) >= limit)
      throw ruleBroken('directory_blocked', 'Too few look-ups of the account became payments.');
  }

  private async getHolder(key: string): Promise<Party> {
    const account = await findAccountByPixKey(this.database, key);
    if (account) return partyOfAccount(account);
    const dictKey = await this.database.findRow<DictKey>('dict_key', { key });
    if (!dictKey) throw new AppError('not_found');
    return dictKey.party as unknown as Party;
  }
}
