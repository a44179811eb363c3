// The parts of a month's report beside its figures and its checklist. They are stored by the
// transaction that closes the month, under the locks of the account: no line comes and no outcome
// changes beside them.
import { Injectable } from '@nestjs/common';
import type { Tx } from '../../platform/postgres/database.service.js';
import type { CanonicalValue } from '../../platform/json/canonical-json.js';
import { Journals } from '../journal/journals.service.js';
import { MonthAmendments } from './month-amendments.service.js';
import type { StandingClose } from './month-state.js';

export interface ClosingMonth {
  accountId: number;
  /** yyyy-mm. */
  month: string;
  revision: number;
  /** The closes of other months that stand. */
  standing: readonly StandingClose[];
}

@Injectable()
export class MonthParts {
  constructor(
    private readonly amendments: MonthAmendments,
    private readonly journals: Journals,
  ) {}

  /** What each part says in the report. A part may also store rows of its own. */
  async store(
    tx: Tx,
    { accountId, month, revision, standing }: ClosingMonth,
  ): Promise<Record<string, CanonicalValue>> {
    const journal = await this.journals.store(tx, { accountId, month, revision });
    return {
      amendments: await this.amendments.describe(tx, accountId, month, standing),
      journal: journal && { ...journal, cents: journal.cents.toString() },
    };
  }
}
