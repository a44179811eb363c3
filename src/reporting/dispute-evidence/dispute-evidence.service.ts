// Gathers what a company answers a dispute with: the Pix, the charge that it paid with metadata,
// and the line that shows the outcome.
import { Injectable } from '@nestjs/common';
import { shownResponse } from '../../access/counterparties/counterparty.schema.js';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { ChargesService } from '../../outbound/charges/charges.service.js';
import { Database } from '../../platform/postgres/database.service.js';
import { TransactionViews } from '../../reconciliation/api/transaction-views.service.js';
import { DisputesService } from '../../statement/disputes/disputes.service.js';
import { findDisputedLine } from './dispute-evidence.queries.js';

@Injectable()
export class DisputeEvidence {
  constructor(
    private readonly database: Database,
    private readonly disputes: DisputesService,
    private readonly lines: TransactionViews,
    private readonly charges: ChargesService,
  ) {}

  /** Throws `not_found` for a dispute of another account. */
  async get(caller: Pick<Caller, 'accountId' | 'scopes'>, id: string) {
    const { accountId, scopes } = caller;
    const dispute = await this.disputes.get(accountId, id);
    const { endToEndId, returnedNsu } = dispute;
    const { prisma } = this.database;
    const pix = endToEndId === null ? null : await findDisputedLine(prisma, accountId, endToEndId);
    const charges = (pix?.correlationIds ?? []).map((one) => this.charges.get(accountId, one));
    const transaction = async (nsu: bigint | null | undefined) =>
      nsu == null ? null : ((await this.lines.list(caller, { nsu, limit: 1 })).data[0] ?? null);
    return {
      dispute,
      transaction: await transaction(pix?.nsu),
      charges: (await Promise.all(charges)).map((charge) => shownResponse(charge, scopes)),
      returned: await transaction(returnedNsu),
    };
  }
}
