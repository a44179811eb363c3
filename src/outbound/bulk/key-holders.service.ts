// Who holds the Pix keys of a file, asked of the bank while the file is checked, one key after the
// other. What the bank does not let us ask any more is said with its reason.
import { Injectable } from '@nestjs/common';
import { AppError } from '../../platform/errors.js';
import type { LookedUpPayee } from '../transfers/looked-up-payee.js';
import { PixLookupsService } from '../transfers/pix-lookups.service.js';

/** `reason`: why the key was not looked up. */
export type KeyHolder = { payee: LookedUpPayee } | { reason: string };

/** A person waits for the page. */
const maxMs = 15_000;

@Injectable()
export class KeyHolders {
  constructor(private readonly lookups: PixLookupsService) {}

  async find(accountId: number, keys: readonly string[]): Promise<Map<string, KeyHolder>> {
    const found = new Map<string, KeyHolder>();
    const until = performance.now() + maxMs;
    let ended: string | null = null;
    for (const key of new Set(keys)) {
      if (performance.now() > until) ended ??= 'bank_timeout';
      const holder: KeyHolder = ended === null ? await this.ask(accountId, key) : { reason: ended };
      found.set(key, holder);
      if ('reason' in holder && endingReasons.has(holder.reason)) ended = holder.reason;
    }
    return found;
  }

  private async ask(accountId: number, key: string): Promise<KeyHolder> {
    const input = { params: {}, query: {}, idempotencyKey: null, body: { key } };
    try {
      return { payee: (await this.lookups.lookUp(accountId, input)).payee };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { reason: error.details.reason ?? error.code };
    }
  }
}

/** After these, the bank is asked for no other key. */
const endingReasons = new Set<string>([
  ...['rate_limited', 'bank_timeout', 'bank_unreachable', 'unauthorized', 'forbidden'],
  ...['account_stopped', 'account_is_reconcile_only'],
]);
