// What happened before with the counterparty of a break: its last lines with what became of them,
// and its payments that never came. It is information for people, and decides nothing.
import { Injectable } from '@nestjs/common';
import {
  counterpartyIn,
  findCounterparties,
  findExpectedCounterparties,
} from '../../access/counterparties/counterparties.queries.js';
import { Database } from '../../platform/postgres/database.service.js';
import * as queries from './counterparty-history.queries.js';

export interface EarlierMovements {
  lines: queries.EarlierLine[];
  missing: queries.EarlierBreak[];
}

/** A full CPF or CNPJ: one that the bank masks is that of several people. */
const fullDocument = /^[0-9A-Z]{11}([0-9A-Z]{3})?$/;

@Injectable()
export class CounterpartyHistory {
  constructor(private readonly database: Database) {}

  /**
   * Null where nothing identifies the counterparty: its full CPF or CNPJ, or the account that a
   * debit paid.
   */
  async find(
    accountId: number,
    of: { id: string; nsu: bigint | null; expectedPaymentId: string | null },
  ): Promise<EarlierMovements | null> {
    const { prisma } = this.database;
    const key = await this.keyOf(accountId, of);
    if (key === null) return null;
    const [lines, missing] = await Promise.all([
      queries.listEarlierLines(prisma, accountId, key, of.nsu),
      'document' in key ? queries.listEarlierMissing(prisma, accountId, key.document, of.id) : [],
    ]);
    return { lines, missing };
  }

  private async keyOf(
    accountId: number,
    { nsu, expectedPaymentId }: { nsu: bigint | null; expectedPaymentId: string | null },
  ): Promise<queries.PartyKey | null> {
    const { prisma } = this.database;
    const { taxId } =
      nsu !== null
        ? counterpartyIn(await findCounterparties(prisma, accountId, [nsu]), nsu)
        : expectedPaymentId !== null
          ? counterpartyIn(
              await findExpectedCounterparties(prisma, accountId, [expectedPaymentId]),
              expectedPaymentId,
            )
          : { taxId: null };
    if (taxId !== null && fullDocument.test(taxId)) return { document: taxId };
    if (nsu === null) return null;
    const line = await prisma.statementLine.findUnique({
      where: { accountId_nsu: { accountId, nsu } },
      select: { counterparty: true, isCredit: true },
    });
    return line?.isCredit === false && line.counterparty !== null
      ? { account: line.counterparty }
      : null;
  }
}
