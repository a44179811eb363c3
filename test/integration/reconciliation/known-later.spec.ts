import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Tx } from '../../../src/platform/postgres/database.service.js';
import { addReferences } from '../../../src/statement/expected-payments/recording.queries.js';
import { insertStatementLines } from '../../../src/statement/lines/statement.queries.js';
import type { StatementLine } from '../../../src/statement/lines/statement-line.js';
import { SentMoneyFixture } from '../../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

/** A transaction that a test continues and commits when it wants to. */
interface OpenTransaction {
  write(): Promise<void>;
  commit(): Promise<void>;
}

describe('a line and an id that come to be known in overlapping transactions', () => {
  let service: ServiceDatabase;
  let nsu = 0;
  const money = new SentMoneyFixture(() => service);

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());
  beforeEach(async () => {
    const { id } = await service.database.prisma.bankAccount.create({
      data: { slug: `a${randomUUID()}`, goLiveAt: new Date(0) },
    });
    service.accountId = id;
    await service.database.prisma.statementState.create({ data: { accountId: id } });
  });

  const begin = async (work: (tx: Tx) => Promise<void>): Promise<OpenTransaction> => {
    const gates = [gate(), gate(), gate(), gate()] as const;
    const [begun, mayWrite, written, mayCommit] = gates;
    const ended = service.database.transaction(async (tx) => {
      // The start of the transaction is the time of its first statement.
      await tx.$queryRaw`SELECT now() AS "startedAt" FROM bank_account LIMIT 0`;
      begun.open();
      await mayWrite.opened;
      await work(tx);
      written.open();
      await mayCommit.opened;
    });
    await begun.opened;
    return {
      write: async () => {
        mayWrite.open();
        await Promise.race([written.opened, ended]);
      },
      commit: async () => {
        mayWrite.open();
        mayCommit.open();
        await ended;
      },
    };
  };

  const recordLine = (endToEndId: string) => {
    nsu += 1;
    const line = {
      ...{ nsu: BigInt(nsu), bankId: `${nsu}`, isCredit: false, amountCents: 1_000n },
      ...{ typeName: 'DEBIT_PIX', endToEndId, occurredAt: new Date(), content: '{}' },
      ...{ balancePreviousCents: 0n, currentBalanceCents: 0n, contentHash: `${nsu}` },
      hasOneHolder: false,
    } as StatementLine;
    return async (tx: Tx) => {
      // As the sync does: `arrival` ascends in the order of the commits.
      await tx.$queryRaw`
        SELECT account_id FROM statement_state WHERE account_id = ${service.accountId}
        FOR NO KEY UPDATE`;
      await insertStatementLines(tx, service.accountId, [line]);
    };
  };
  const recordId = (expectedPaymentId: string, value: string) => (tx: Tx) =>
    addReferences(tx, service.accountId, [
      { expectedPaymentId, references: [{ kind: 'end_to_end_id', value }] },
    ]);

  const orders: [string, (first: OpenTransaction, last: OpenTransaction) => Promise<void>][] = [
    [
      'the one that began first writes and commits last',
      async (first, last) => {
        await last.commit();
        await money.reconcile();
        await first.commit();
      },
    ],
    [
      'the one that wrote first commits last',
      async (first, last) => {
        await first.write();
        await last.write();
        await last.commit();
        await money.reconcile();
        await first.commit();
      },
    ],
    [
      'the one that began first commits first',
      async (first, last) => {
        await last.write();
        await first.commit();
        await money.reconcile();
        await last.commit();
      },
    ],
    [
      'reconciliation has run between begin and write',
      async (first, last) => {
        await money.reconcile();
        await first.write();
        await money.reconcile();
        await last.commit();
        await first.commit();
      },
    ],
  ];

  describe.each(orders)('%s', (_, inOrder) => {
    it.each(['line', 'id'])('are matched when that of the %s began first', async (first) => {
      const { expectedPaymentId } = await money.addOperation({ state: 'succeeded' });
      await money.reconcile();
      const value = randomUUID();
      const works = [recordLine(value), recordId(expectedPaymentId, value)];
      if (first === 'id') works.reverse();
      const transactions: OpenTransaction[] = [];
      for (const work of works) transactions.push(await begin(work));
      await inOrder(...(transactions as [OpenTransaction, OpenTransaction]));
      await money.reconcile();
      expect(await money.outcomes()).toEqual([
        { nsu, outcome: 'payment by reference', expectedPaymentId },
      ]);
    });
  });
});

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}
