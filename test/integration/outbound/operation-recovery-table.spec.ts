import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { recoveryMethodsFor } from '../../../src/outbound/operations/recovery.js';
import * as journal from '../../support/journal.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { addAccounts } from '../../support/parent-rows.js';

const text = readFileSync(new URL('../../../docs/reference/recovery.md', import.meta.url), 'utf8');

/** A kind and a bank that the table has a row for. */
interface Combination {
  repeat: 'keyed' | 'unkeyed' | 'never';
  isRepeatSafe: boolean;
  hasStatusById: boolean;
  hasBound: boolean;
}

interface Row {
  repeat: string;
  safe: string;
  status: string;
  bound: string;
  steps: string[];
  end: string;
}

const rows: Row[] = text
  .split('\n')
  .filter((line) => /^\| (keyed|unkeyed|never) /.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, repeat = '', safe = '', status = '', bound = '', steps = '', end = '']) => ({
    ...{ repeat, safe, status, bound, end },
    steps: steps.split(', '),
  }));

const matchesCell = (cell: string, fact: boolean) =>
  cell === 'any' || cell === (fact ? 'yes' : 'no');
const rowsOf = ({ repeat, isRepeatSafe, hasStatusById, hasBound }: Combination) =>
  rows.filter(
    (row) =>
      row.repeat === repeat &&
      matchesCell(row.safe, isRepeatSafe) &&
      matchesCell(row.status, hasStatusById) &&
      matchesCell(row.bound, hasBound),
  );

const booleans = [true, false];
const combinations: Combination[] = (['keyed', 'unkeyed', 'never'] as const).flatMap((repeat) =>
  booleans.flatMap((isRepeatSafe) =>
    booleans.flatMap((hasStatusById) =>
      booleans.map((hasBound) => ({ repeat, isRepeatSafe, hasStatusById, hasBound })),
    ),
  ),
);

describe('the recovery table of docs/reference/recovery.md', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let bank: journal.ScriptedBankClient;
  let lookUps: number;
  let isKnownToBank: boolean;
  let hasLookUpId: boolean;
  let instance: ReturnType<typeof journal.createJournal>;
  let kind: journal.ChargeKind;

  beforeAll(async () => {
    service = await serviceDatabase();
    accountId = service.accountId;
    await addAccounts(service.database.pool, 200);
  });
  afterAll(() => service.drop());
  beforeEach(async () => {
    accountId += 1;
    await journal.measureClock(service.database, accountId);
    [lookUps, isKnownToBank, hasLookUpId] = [0, false, true];
    bank = new journal.ScriptedBankClient();
  });

  /** Sends an operation of that kind to that bank and loses the response. */
  const loseResponse = async ({ repeat, isRepeatSafe, hasStatusById, hasBound }: Combination) => {
    bank.profile.isRepeatSafe = isRepeatSafe;
    bank.profile.hasStatusById = hasStatusById;
    bank.profile.visibilityBoundMs = hasBound ? 10_000 : null;
    kind = {
      ...journal.chargeKind,
      name: 'send_money',
      repeat,
      lookUp: () => {
        if (!hasLookUpId) return Promise.resolve({ outcome: 'not_offered' });
        lookUps += 1;
        return Promise.resolve(
          isKnownToBank
            ? {
                outcome: 'accepted',
                // The status of the look-up; a repeat gets the status of its own route.
                status: 203,
                text: '{"id":"1"}',
                response: {} as never,
                bankReference: '1',
              }
            : { outcome: 'absent' },
        );
      },
    };
    instance = journal.createJournal(service.database, bank, [kind]);
    bank.script = [journal.unknownResponse()];
    await instance.operations.perform(kind, journal.outgoingOperation({ accountId, key: 'key-1' }));
  };
  const makeOlder = (interval: string) => journal.makeOlder(service.database, accountId, interval);
  const closeStatement = () => journal.closeStatement(service.database, accountId);
  const advance = () =>
    journal.advanceAllOperations(service.database, accountId, instance.recovery);
  const onlyOperation = () => journal.onlyOperation(service.database, accountId);

  it('has exactly one row for each combination of kind and bank', () => {
    for (const combination of combinations)
      expect([combination, rowsOf(combination).length]).toEqual([combination, 1]);
    const usedRows = new Set(combinations.flatMap(rowsOf));
    expect(rows.filter((row) => !usedRows.has(row))).toEqual([]);
  });

  it.each(combinations)(
    'names the methods of $repeat, safe $isRepeatSafe, status $hasStatusById, bound $hasBound',
    (combination) => {
      const methods = recoveryMethodsFor(
        {
          repeat: combination.repeat,
          hasLookUp: true,
          isOutgoing: true,
          isKnownToBank: false,
          hasRequest: true,
          hasRefusedRepeat: false,
          isRestored: false,
        },
        { ...combination, visibilityBoundMs: combination.hasBound ? 10_000 : null },
      );
      const steps = [
        ...(methods.canLookUp ? ['look up'] : []),
        ...(methods.canResend ? ['resend'] : []),
        // Absence is proven only where resending is not possible, or was refused.
        ...(methods.canProveAbsence && !methods.canResend ? ['prove absence'] : []),
        { 0: 'ask at once', 900_000: 'ask in 15 minutes', 86_400_000: 'ask in a day' }[
          methods.askOperatorAfterMs
        ],
      ];
      expect(rowsOf(combination)[0]?.steps).toEqual(steps);
    },
  );

  it.each(combinations)(
    'without effect: $repeat, safe $isRepeatSafe, status $hasStatusById, bound $hasBound',
    async (combination) => {
      const [row] = rowsOf(combination);
      if (!row) throw new Error('the table has no row for this combination');
      await loseResponse(combination);
      await makeOlder('10 minutes');
      await closeStatement();
      await advance();
      const isResent = row.steps.includes('resend');
      if (row.end === 'needs_operator' && combination.repeat !== 'never') {
        expect((await onlyOperation()).state).toBe('unknown');
        await makeOlder(row.steps.includes('ask in a day') ? '23 hours' : '4 minutes');
        await advance();
        expect((await onlyOperation()).state).toBe('unknown');
        await makeOlder('2 hours');
        await advance();
      }
      expect((await onlyOperation()).state).toBe(row.end);
      expect(bank.sent).toHaveLength(isResent ? 2 : 1);
      expect(new Set(bank.sent.map(({ key, body }) => `${key} ${body}`)).size).toBe(1);
      expect(lookUps > 0).toBe(row.steps.includes('look up'));
    },
  );

  it.each(combinations)(
    'with effect: $repeat, safe $isRepeatSafe, status $hasStatusById, bound $hasBound',
    async (combination) => {
      const [row] = rowsOf(combination);
      await loseResponse(combination);
      isKnownToBank = true;
      await advance();
      if (!row?.steps.includes('look up') && !row?.steps.includes('resend')) {
        expect((await onlyOperation()).state).not.toBe('succeeded');
        const [id = ''] = await journal.expectedPaymentIds(service.database, accountId);
        const line = { nsu: 1, expectedPaymentId: id };
        await journal.storeLine(service.database, accountId, line);
        await advance();
      }
      const reason = row?.steps.includes('look up')
        ? 'looked_up'
        : row?.steps.includes('resend')
          ? null
          : 'seen_on_statement';
      const responseStatus = reason === 'seen_on_statement' ? null : 200;
      expect(await onlyOperation()).toMatchObject({ state: 'succeeded', reason, responseStatus });
      expect(bank.sent).toHaveLength(reason === null ? 2 : 1);
    },
  );

  it.each(combinations.filter(({ hasStatusById }) => hasStatusById))(
    'treats an operation without a look-up id as without status: $repeat, safe $isRepeatSafe, bound $hasBound',
    async (combination) => {
      hasLookUpId = false;
      const [row] = rowsOf({ ...combination, hasStatusById: false });
      if (!row) throw new Error('the table has no row for this combination');
      await loseResponse(combination);
      await makeOlder('10 minutes');
      await closeStatement();
      await advance();
      if (row.steps.includes('ask in 15 minutes')) {
        expect((await onlyOperation()).state).toBe('unknown');
        await makeOlder('6 minutes');
        await advance();
      }
      expect((await onlyOperation()).state).toBe(row.end);
      expect(lookUps).toBe(0);
    },
  );

  it('proves absence after the bank refused the repeat', async () => {
    await loseResponse({
      repeat: 'keyed',
      isRepeatSafe: true,
      hasStatusById: false,
      hasBound: true,
    });
    bank.script = [journal.unknownResponse('refused_for_now', { status: 409 })];
    await advance();
    expect(await onlyOperation()).toMatchObject({ state: 'unknown', reason: 'refused_a_repeat' });
    await makeOlder('10 minutes');
    await closeStatement();
    await advance();
    expect((await onlyOperation()).state).toBe('not_executed');
    expect(bank.sent).toHaveLength(2);
  });

  it('proves nothing while the look-up at the bank gets no result', async () => {
    await loseResponse({
      repeat: 'unkeyed',
      isRepeatSafe: false,
      hasStatusById: true,
      hasBound: true,
    });
    kind.lookUp = () => Promise.resolve({ outcome: 'unknown' });
    await makeOlder('10 minutes');
    await closeStatement();
    await advance();
    expect((await onlyOperation()).state).toBe('unknown');
  });

  it('waits as long as the Retry-After of the bank', async () => {
    await loseResponse({
      repeat: 'keyed',
      isRepeatSafe: true,
      hasStatusById: false,
      hasBound: false,
    });
    bank.script = [
      journal.unknownResponse('refused_for_now', { status: 429, retryAfterMs: 120_000 }),
    ];
    await advance();
    const operation = await service.database.prisma.operation.findFirstOrThrow({
      where: { accountId },
    });
    expect(operation.nextActionAt?.getTime()).toBeGreaterThan(Date.now() + 100_000);
  });
});
