import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readCertificate } from '../../../src/reporting/day-closes/certificate.js';
import type { DayCertifier } from '../../../src/reporting/day-closes/day-certifier.service.js';
import { DayTree } from '../../../src/reporting/day-closes/day-tree.queries.js';
import { leafHashOf, MerkleTree } from '../../../src/platform/merkle-tree.js';
import { newId } from '../../../src/platform/ids.js';
import { ClosedDays, type TestLine } from '../../support/closed-days.js';
import { addPayments } from '../../support/parent-rows.js';
import { reconciliationOn } from '../../support/reconciliation.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { recordedQueues } from '../../support/recorded-queues.js';

const person = { actor: 'a key', reason: 'confirmed' };
const statementLines: TestLine[] = [
  { nsu: 1, at: '2026-03-02T10:00:00Z', cents: 1_000 },
  { nsu: 2, at: '2026-03-02T11:00:00Z', cents: 1_000 },
  { nsu: 3, at: '2026-03-03T10:00:00Z', cents: 500 },
  { nsu: 4, at: '2026-03-04T10:00:00Z', cents: 500 },
];
const late: TestLine = { nsu: 5, at: '2026-03-02T12:00:00Z', cents: 7, booked: 2.5 };

describe('the outcomes in certificates', () => {
  let service: ServiceDatabase;
  const closedDays = new ClosedDays(() => service);
  const queueOf = recordedQueues();

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());

  /** An account whose lines 1 and 2 are linked to two payments of the same amount. */
  const matchedAccount = async (slug: string, lines = statementLines, without?: number) => {
    const { database } = service;
    const account = await closedDays.account(slug);
    const { id, goLiveAt } = account;
    await closedDays.arrive(id, lines, ({ nsu }) => nsu !== without);
    const payments = [newId(), newId(), newId()] as const;
    await addPayments(database.pool, id, [...payments]);
    const { reconciliation, manualMatches } = reconciliationOn(database, queueOf, { goLiveAt });
    const reconcile = () => reconciliation.reconcile({ accountId: id });
    const link = (nsu: bigint, expectedPaymentId: string) =>
      database.transaction(async (tx) => {
        const allocations = [{ expectedPaymentId, amountCents: null }];
        await manualMatches.link(tx, id, { nsu, allocations }, person);
      });
    const unlink = async (nsu: bigint) => {
      const where = { accountId: id, nsu, unlinkedAt: null };
      const match = await database.prisma.match.findFirstOrThrow({ where });
      await database.transaction((tx) =>
        manualMatches.unlink(tx, id, { nsu, matchId: match.id }, person),
      );
    };
    await reconcile();
    await link(1n, payments[0]);
    await link(2n, payments[1]);
    const closeUntil = async (day: string, change?: (certifier: DayCertifier) => void) => {
      await closedDays.closedUntil(id, day);
      const certifier = closedDays.newCertifier();
      change?.(certifier);
      await closedDays.close(account, undefined, certifier);
      return certificates(id);
    };
    return { id, payments, reconcile, link, unlink, closeUntil };
  };
  const certificates = async (accountId: number) =>
    (await closedDays.chain(accountId)).map(({ certificate }) => readCertificate(certificate));

  /** Runs `step` once, after the certifier has read a day and before it stores the certificate. */
  const afterReading = (step: () => Promise<void>) => (certifier: DayCertifier) => {
    const prepare = certifier.prepare.bind(certifier);
    let isDone = false;
    certifier.prepare = async (...args) => {
      const prepared = await prepare(...args);
      if (!isDone) await step();
      isDone = true;
      return prepared;
    };
  };

  it('are covered by the root: matches that were swapped are found', async () => {
    const { id, closeUntil } = await matchedAccount('swapped');
    const [first] = await closeUntil('2026-03-03');
    expect(first?.matched).toEqual({ count: 2, credits: '20.00', debits: '0.00' });
    expect((await closedDays.verify('swapped'))?.difference).toBeNull();
    await closedDays.tamper(
      `UPDATE match m SET expected_payment_id = other.expected_payment_id
       FROM match other
       WHERE m.account_id = $1 AND other.account_id = $1 AND other.nsu = 3 - m.nsu`,
      id,
    );
    expect((await closedDays.verify('swapped'))?.difference).toMatchObject({
      ...{ date: '2026-03-02', nsu: 1n, field: 'leaf of line and outcome' },
    });
  });

  it('amend nothing when they change later: the next certificate lists the change', async () => {
    const account = await matchedAccount('changed');
    await account.closeUntil('2026-03-03');
    const leafOf = async (nsu: bigint) => {
      const where = { accountId: account.id, nsu };
      const { leafHash } = await service.database.prisma.lineOutcome.findFirstOrThrow({ where });
      return Buffer.from(leafHash).toString('hex');
    };
    const formerLeaf = await leafOf(1n);
    await account.unlink(1n);
    await account.link(1n, account.payments[2]);
    expect(await account.closeUntil('2026-03-03')).toHaveLength(1);
    expect((await closedDays.verify('changed'))?.difference).toBeNull();
    const [, second, third] = await account.closeUntil('2026-03-05');
    const listed = { nsu: '1', formerLeaf, leaf: await leafOf(1n) };
    expect(second?.outcomeChanges).toMatchObject({ count: 1, first: [listed] });
    expect(third?.outcomeChanges.count).toBe(0);
    expect((await closedDays.verify('changed'))?.difference).toBeNull();
    const { prisma } = service.database;
    const former = await prisma.formerOutcome.findMany({ where: { accountId: account.id } });
    expect(former.map(({ nsu }) => nsu)).toEqual([1n, 2n, 1n, 1n]);
    await closedDays.tamper(
      'DELETE FROM former_outcome WHERE account_id = $1 AND nsu = 1 AND version = 2',
      account.id,
    );
    expect((await closedDays.verify('changed'))?.difference).toMatchObject({
      ...{ date: '2026-03-03', field: 'outcome changes' },
    });
  });

  it('are listed by the next certificate when a person unlinks a refund of a certified day', async () => {
    const { database } = service;
    const account = await closedDays.account('unlinked');
    const { id, goLiveAt } = account;
    await closedDays.arrive(id, [
      { nsu: 1, at: '2026-03-02T10:00:00Z', cents: 1_000 },
      { nsu: 2, at: '2026-03-02T11:00:00Z', cents: -1_000 },
      { nsu: 3, at: '2026-03-03T10:00:00Z', cents: 500 },
      { nsu: 4, at: '2026-03-04T10:00:00Z', cents: 500 },
    ]);
    const { reconciliation, manualMatches } = reconciliationOn(database, queueOf, { goLiveAt });
    await reconciliation.reconcile({ accountId: id });
    const refundOf = [{ originalNsu: 1n, amountCents: 1_000n, expectedPaymentId: null }];
    await database.transaction((tx) =>
      manualMatches.link(tx, id, { nsu: 2n, allocations: [], refundOf }, person),
    );
    const close = async (day: string) => {
      await closedDays.closedUntil(id, day);
      await closedDays.close(account);
      return certificates(id);
    };
    const [first] = await close('2026-03-03');
    expect(first?.classified).toMatchObject({ refunded: { count: 2 } });
    await database.transaction((tx) =>
      manualMatches.unlink(tx, id, { nsu: 2n, matchId: null }, person),
    );
    const [, second] = await close('2026-03-04');
    expect(second?.outcomeChanges).toMatchObject({ count: 2, first: [{ nsu: '1' }, { nsu: '2' }] });
    expect((await closedDays.verify('unlinked'))?.difference).toBeNull();
  });

  it('are current when the day is certified, also if they change while it is read', async () => {
    const account = await matchedAccount('meanwhile');
    const step = async () => {
      await account.unlink(2n);
      await account.link(2n, account.payments[2]);
    };
    const [first] = await account.closeUntil('2026-03-03', afterReading(step));
    const outcome = await service.database.prisma.lineOutcome.findFirstOrThrow({
      where: { accountId: account.id, nsu: 2n },
    });
    expect(first?.outcomeSequence).toBe(outcome.sequence.toString());
    expect((await closedDays.verify('meanwhile'))?.difference).toBeNull();
    const [, second] = await account.closeUntil('2026-03-04');
    expect(second?.outcomeChanges.count).toBe(0);
  });

  it('delay a certificate while a line waits again', async () => {
    const account = await matchedAccount('waits');
    const wait = () => closedDays.writeOutcomes(account.id, { nsu: 1n, state: 'pending' });
    const classify = () =>
      closedDays.run(
        `INSERT INTO classification (account_id, nsu, rule, category) VALUES ($1, 1, 'x', 'fee')`,
        account.id,
      );
    await classify();
    expect(await account.closeUntil('2026-03-03', afterReading(wait))).toEqual([]);
    expect(await account.closeUntil('2026-03-03')).toEqual([]);
    await closedDays.writeOutcomes(account.id);
    expect(await account.closeUntil('2026-03-03')).toHaveLength(1);
  });

  it('include a line that arrives while the day is read', async () => {
    const lines = [...statementLines, late];
    const account = await matchedAccount('arrives', lines, late.nsu);
    const step = async () => {
      await closedDays.arrive(account.id, lines, ({ nsu }) => nsu === late.nsu);
      await account.reconcile();
    };
    const [first] = await account.closeUntil('2026-03-03', afterReading(step));
    expect(first).toMatchObject({ revision: 1, lines: 3, lastNsu: '5' });
  });

  it('are certified while a sync stores lines: neither waits for the other', async () => {
    const account = await matchedAccount('beside');
    const { database } = service;
    const isStored = { certificate: false, line: false };
    const change = (certifier: DayCertifier) => {
      const store = certifier.store.bind(certifier);
      certifier.store = async (tx, prepared, when) => {
        const outcome = await store(tx, prepared, when);
        isStored.certificate = true;
        // The transaction of the certificate is open, with all that it wrote.
        await database.transaction(async (sync) => {
          await sync.$executeRaw`
            UPDATE statement_state SET line_count = line_count + 1
            WHERE account_id = ${account.id}`;
          await sync.$executeRaw`
            INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents,
              type_name, balance_previous_cents, current_balance_cents, occurred_at,
              content_hash, content)
            VALUES (${account.id}, 9, 'x', true, 1, 'CREDIT_PIX', 13000, 13001,
              '2026-03-09T10:00:00Z', 'h', '{}')`;
        });
        isStored.line = true;
        return outcome;
      };
    };
    expect(await account.closeUntil('2026-03-03', change)).toHaveLength(1);
    expect(isStored).toEqual({ certificate: true, line: true });
  });
});

describe('the tree of a long day', () => {
  const lines = 10_000;
  const changedNsus = [1n, 4_097n, 4_098n, 5_120n, 10_000n];
  let service: ServiceDatabase;
  beforeAll(async () => {
    service = await serviceDatabase();
    await service.database.pool.query(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
       SELECT $1, n, 'x', n % 3 > 0, n, 'X', 0, 0, '2026-03-02T10:00:00Z', 'h', '{}'
       FROM generate_series(1, $2::int) n`,
      [service.accountId, lines],
    );
    await service.database.pool.query(
      `INSERT INTO line_outcome (account_id, nsu, state, version, leaf_hash, sequence)
       SELECT $1, n, 'matched', 1, sha256(decode('00', 'hex') || n::text::bytea), 1
       FROM generate_series(1, $2::int) n`,
      [service.accountId, lines],
    );
  });
  afterAll(() => service.drop());

  const spanAt = async (outcomeSequence: bigint) => {
    const { database, accountId } = service;
    const { _max } = await database.prisma.statementLine.aggregate({ _max: { arrival: true } });
    const [from, until] = [new Date('2026-03-02T03:00:00Z'), new Date('2026-03-03T03:00:00Z')];
    return { accountId, from, until, lastArrival: _max.arrival ?? 0n, outcomeSequence };
  };
  const bounds = { firstNsu: 1n, lastNsu: BigInt(lines) };
  /** The root over all leaves at once; changed lines have a leaf of their own. */
  const rootOfAll = (changed: readonly bigint[]) => {
    const tree = new MerkleTree();
    for (let nsu = 1n; nsu <= BigInt(lines); nsu += 1n)
      tree.add(leafHashOf(changed.includes(nsu) ? `changed ${nsu}` : `${nsu}`));
    return tree.root().toString('hex');
  };

  it('has the root over all leaves, before and after some of them change', async () => {
    const { database, accountId } = service;
    const tree = await DayTree.read(database.prisma, await spanAt(1n), bounds);
    expect([tree.root(), tree.lines]).toEqual([rootOfAll([]), lines]);
    const cents = tree.totals().reduce((sum, total) => sum + total.cents, 0n);
    expect(cents).toBe(BigInt((lines * (lines + 1)) / 2));
    await database.pool.query(
      `UPDATE line_outcome SET version = 2, sequence = 2, state = 'classified', label = 'fee',
         leaf_hash = sha256(decode('00', 'hex') || ('changed ' || nsu)::bytea)
       WHERE account_id = $1 AND nsu = ANY ($2)`,
      [accountId, changedNsus],
    );
    expect(await tree.isOutdated(database.prisma)).toBe(true);
    await tree.refresh(database.prisma, 2n);
    expect(tree.root()).toBe(rootOfAll(changedNsus));
    expect(tree.totals().find(({ state }) => state === 'classified')?.label).toBe('fee');
    expect(await tree.isOutdated(database.prisma)).toBe(false);
    const former = await DayTree.read(database.prisma, await spanAt(1n), bounds);
    expect(former.root()).toBe(rootOfAll([]));
    const current = await DayTree.read(database.prisma, await spanAt(2n), bounds);
    expect(current.root()).toBe(rootOfAll(changedNsus));
  });
});
