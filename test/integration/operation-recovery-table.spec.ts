import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { waysOf } from '../../src/operations/recovery.js';
import * as journal from '../support/journal.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

const text = readFileSync(new URL('../../docs/recovery.md', import.meta.url), 'utf8');

interface Combination {
  repeat: 'keyed' | 'another' | 'never';
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
  .filter((line) => /^\| (keyed|another|never) /.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, repeat = '', safe = '', status = '', bound = '', steps = '', end = '']) => ({
    ...{ repeat, safe, status, bound, end },
    steps: steps.split(', '),
  }));

const fits = (cell: string, fact: boolean) => cell === 'any' || cell === (fact ? 'yes' : 'no');
const rowsOf = ({ repeat, isRepeatSafe, hasStatusById, hasBound }: Combination) =>
  rows.filter(
    (row) =>
      row.repeat === repeat &&
      fits(row.safe, isRepeatSafe) &&
      fits(row.status, hasStatusById) &&
      fits(row.bound, hasBound),
  );

const both = [true, false];
const combinations: Combination[] = (['keyed', 'another', 'never'] as const).flatMap((repeat) =>
  both.flatMap((isRepeatSafe) =>
    both.flatMap((hasStatusById) =>
      both.map((hasBound) => ({ repeat, isRepeatSafe, hasStatusById, hasBound })),
    ),
  ),
);

describe('the table of docs/recovery.md', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let bank: journal.AnsweringBank;
  let lookUps: number;
  let isKnown: boolean;
  let hasId: boolean;
  let at: ReturnType<typeof journal.journalOn>;
  let kind: journal.Kind;

  beforeAll(async () => {
    service = await serviceDatabase();
    accountId = service.accountId;
  });
  afterAll(() => service.drop());
  beforeEach(() => {
    accountId += 1;
    [lookUps, isKnown, hasId] = [0, false, true];
    bank = new journal.AnsweringBank();
  });

  /** An operation of that kind at that bank, sent an hour ago, whose answer went astray. */
  const lose = async ({ repeat, isRepeatSafe, hasStatusById, hasBound }: Combination) => {
    bank.profile.isRepeatSafe = isRepeatSafe;
    bank.profile.hasStatusById = hasStatusById;
    bank.profile.visibilityBoundMs = hasBound ? 10_000 : null;
    kind = {
      ...journal.chargeKind,
      name: 'send_money',
      repeat,
      lookUp: () => {
        if (!hasId) return Promise.resolve({ found: 'not_offered' });
        lookUps += 1;
        return Promise.resolve(
          isKnown
            ? {
                found: 'accepted',
                // As the question was answered; a repeat is answered as its request is.
                status: 203,
                text: '{"id":"1"}',
                answer: {} as never,
                bankReference: '1',
              }
            : { found: 'absent' },
        );
      },
    };
    at = journal.journalOn(service.database, bank, [kind]);
    bank.script = [journal.unknown()];
    await at.operations.perform(kind, journal.outgoingOperation({ accountId, key: 'key-1' }));
  };
  const letPass = (time: string) => journal.letPass(service.database, accountId, time);
  const advance = () => journal.advanceAll(service.database, accountId, at.recovery);
  const only = () => journal.onlyOperation(service.database, accountId);

  it('has exactly one row for each combination of kind and bank', () => {
    for (const combination of combinations)
      expect([combination, rowsOf(combination).length]).toEqual([combination, 1]);
    const used = new Set(combinations.flatMap(rowsOf));
    expect(rows.filter((row) => !used.has(row))).toEqual([]);
  });

  it.each(combinations)(
    'names the ways of $repeat, safe $isRepeatSafe, status $hasStatusById, bound $hasBound',
    (combination) => {
      const ways = waysOf(
        {
          repeat: combination.repeat,
          hasLookUp: true,
          isOutgoing: true,
          isKnownToBank: false,
          hasRefusedRepeat: false,
        },
        { ...combination, visibilityBoundMs: combination.hasBound ? 10_000 : null },
      );
      const steps = [
        ...(ways.canLookUp ? ['look up'] : []),
        ...(ways.canResend ? ['resend'] : []),
        // Who may send again needs no proof; it takes the place of the repeat once that was refused.
        ...(ways.canProveAbsence && !ways.canResend ? ['prove absence'] : []),
        { 0: 'ask at once', 900_000: 'ask in 15 minutes', 86_400_000: 'ask in a day' }[
          ways.patienceMs
        ],
      ];
      expect(rowsOf(combination)[0]?.steps).toEqual(steps);
    },
  );

  it.each(combinations)(
    'without effect: $repeat, safe $isRepeatSafe, status $hasStatusById, bound $hasBound',
    async (combination) => {
      const [row] = rowsOf(combination);
      if (!row) throw new Error('there is no row');
      await lose(combination);
      await letPass('10 minutes');
      await journal.closeStatement(service.database, accountId);
      await advance();
      const isSentAgain = row.steps.includes('resend');
      if (row.end === 'needs_operator' && combination.repeat !== 'never') {
        expect((await only()).state).toBe('unknown');
        await letPass(row.steps.includes('ask in a day') ? '23 hours' : '4 minutes');
        await advance();
        expect((await only()).state).toBe('unknown');
        await letPass('2 hours');
        await advance();
      }
      expect((await only()).state).toBe(row.end);
      expect(bank.sent).toHaveLength(isSentAgain ? 2 : 1);
      expect(new Set(bank.sent.map(({ key, body }) => `${key} ${body}`)).size).toBe(1);
      expect(lookUps > 0).toBe(row.steps.includes('look up'));
    },
  );

  it.each(combinations)(
    'with its effect: $repeat, safe $isRepeatSafe, status $hasStatusById, bound $hasBound',
    async (combination) => {
      const [row] = rowsOf(combination);
      await lose(combination);
      isKnown = true;
      await advance();
      if (!row?.steps.includes('look up') && !row?.steps.includes('resend')) {
        expect((await only()).state).not.toBe('succeeded');
        const [paying] = await journal.expectedIds(service.database, accountId);
        await journal.storeLine(service.database, accountId, { nsu: 1, paying: paying ?? '' });
        await advance();
      }
      const reason = row?.steps.includes('look up')
        ? 'looked_up'
        : row?.steps.includes('resend')
          ? null
          : 'seen_on_statement';
      const responseStatus = reason === 'seen_on_statement' ? null : 200;
      expect(await only()).toMatchObject({ state: 'succeeded', reason, responseStatus });
      expect(bank.sent).toHaveLength(reason === null ? 2 : 1);
    },
  );

  it.each(combinations.filter(({ hasStatusById }) => hasStatusById))(
    'is as without status for what has no id to be asked by: $repeat, safe $isRepeatSafe, bound $hasBound',
    async (combination) => {
      hasId = false;
      const [row] = rowsOf({ ...combination, hasStatusById: false });
      if (!row) throw new Error('there is no row');
      await lose(combination);
      await letPass('10 minutes');
      await journal.closeStatement(service.database, accountId);
      await advance();
      if (row.steps.includes('ask in 15 minutes')) {
        expect((await only()).state).toBe('unknown');
        await letPass('6 minutes');
        await advance();
      }
      expect((await only()).state).toBe(row.end);
      expect(lookUps).toBe(0);
    },
  );

  it('goes on by proof where the bank refused the repeat', async () => {
    await lose({ repeat: 'keyed', isRepeatSafe: true, hasStatusById: false, hasBound: true });
    bank.script = [journal.unknown('refused_for_now', { status: 409 })];
    await advance();
    expect(await only()).toMatchObject({ state: 'unknown', reason: 'refused_a_repeat' });
    await letPass('10 minutes');
    await journal.closeStatement(service.database, accountId);
    await advance();
    expect((await only()).state).toBe('not_executed');
    expect(bank.sent).toHaveLength(2);
  });

  it('proves nothing while the bank, asked by an id, does not say', async () => {
    await lose({ repeat: 'another', isRepeatSafe: false, hasStatusById: true, hasBound: true });
    kind.lookUp = () => Promise.resolve({ found: 'unknown' });
    await letPass('10 minutes');
    await journal.closeStatement(service.database, accountId);
    await advance();
    expect((await only()).state).toBe('unknown');
  });

  it('keeps to what the bank asked us to wait', async () => {
    await lose({ repeat: 'keyed', isRepeatSafe: true, hasStatusById: false, hasBound: false });
    bank.script = [journal.unknown('refused_for_now', { status: 429, retryAfterMs: 120_000 })];
    await advance();
    const operation = await service.database.prisma.operation.findFirstOrThrow({
      where: { accountId },
    });
    expect(operation.nextActionAt?.getTime()).toBeGreaterThan(Date.now() + 100_000);
  });
});
