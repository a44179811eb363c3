import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import * as journal from '../support/journal.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

describe('an operation of which a part was seen', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let bank: journal.AnsweringBank;
  let told: string[];
  let absent: (readonly string[])[];
  let kind: journal.Kind;
  let at: ReturnType<typeof journal.journalOn>;

  beforeAll(async () => {
    service = await serviceDatabase();
    accountId = service.accountId;
  });
  afterAll(() => service.drop());
  beforeEach(() => {
    accountId += 1;
    told = [];
    absent = [];
    bank = new journal.AnsweringBank();
    bank.profile.isRepeatSafe = false;
    bank.profile.visibilityBoundMs = 10_000;
    kind = {
      ...journal.chargeKind,
      name: 'send_money',
      repeat: 'another',
      onRejected: () => Promise.resolve(void told.push('rejected')),
      onSucceeded: (_, __, acceptance) => {
        told.push(acceptance.answer === null ? 'seen' : 'answered');
        absent.push(acceptance.absent ?? []);
        return Promise.resolve();
      },
      onReopened: () => Promise.resolve(void told.push('reopened')),
    };
    at = journal.journalOn(service.database, bank, [kind]);
  });

  const perform = (over: object = {}) =>
    at.operations.perform(kind, {
      ...journal.outgoingOperation({ accountId, key: 'key-1', ...over }),
      ...over,
    } as never);
  /** Sent an hour ago, and no answer came. */
  const lose = async (over: object = {}) => {
    bank.script.unshift(journal.unknown());
    await perform(over);
    await journal.letPass(service.database, accountId, '1 hour');
  };
  const only = () => journal.onlyOperation(service.database, accountId);
  const advance = () => journal.advanceAll(service.database, accountId, at.recovery);
  const close = (before?: string) => journal.closeStatement(service.database, accountId, before);
  const stateOf = async () => (await only()).state;
  const withdrawn = async () =>
    (await service.database.prisma.expectedPayment.findMany({ where: { accountId } })).filter(
      ({ withdrawnAt }) => withdrawnAt !== null,
    );
  const ids = () => journal.expectedIds(service.database, accountId);
  const pay = (nsu: number, paying = '') =>
    journal.storeLine(service.database, accountId, { nsu, paying });
  /** The bank's clock is an hour on, and all of it closed. */
  const closeLater = () => close('-1 hour');

  it('was done in part when the closed statement shows only some: the others are absent', async () => {
    await lose({ movements: 3 });
    const [one = '', two = '', three = ''] = await ids();
    await pay(1, two);
    await close();
    await advance();
    // The others have as long to show as that one had.
    expect(await stateOf()).toBe('unknown');
    await closeLater();
    await advance();
    expect(await only()).toMatchObject({ state: 'succeeded', reason: 'seen_in_part' });
    expect(told).toEqual(['seen']);
    expect(absent).toEqual([[one, three]]);
    expect((await withdrawn()).map(({ id }) => id).sort()).toEqual([one, three]);
  });

  it('is not held to be done in part while an unexplained debit could be one of the others', async () => {
    await lose({ movements: 2 });
    await pay(1, (await ids())[0]);
    await journal.storeLine(service.database, accountId, { nsu: 2 });
    await closeLater();
    await advance();
    expect(await stateOf()).toBe('unknown');
    expect(told).toEqual([]);
  });

  it('is unknown again when one of them comes late, and then ends by what is there', async () => {
    await lose({ movements: 2 });
    await close();
    await advance();
    expect(await stateOf()).toBe('not_executed');
    const [one = '', two = ''] = await ids();
    await pay(1, one);
    at.woken.length = 0;
    await at.recovery.enqueueDue();
    expect(at.woken).toContain('advanceOperation');
    await at.recovery.advance({ accountId, operationId: (await only()).id });
    expect(await only()).toMatchObject({ state: 'unknown', reason: 'seen_in_part' });
    expect(told).toEqual(['rejected', 'reopened']);
    expect(await withdrawn()).toEqual([]);
    // However old it is, the rest has its time.
    await journal.letPass(service.database, accountId, '30 hours');
    await advance();
    expect(await stateOf()).toBe('unknown');
    await closeLater();
    await advance();
    expect(await stateOf()).toBe('succeeded');
    expect(absent).toEqual([[two]]);
    expect(await journal.eventsOf(service.database, accountId)).toEqual([
      'operation.unknown',
      'operation.not_executed',
      'operation.unknown',
      'operation.succeeded',
    ]);
  });

  it('is not seen by a part of its amount, and not absent either', async () => {
    await lose();
    await close();
    const paying = (await ids())[0] ?? '';
    await journal.storeLine(service.database, accountId, { nsu: 1, cents: 400, paying });
    await advance();
    expect(await stateOf()).toBe('unknown');
    await journal.storeLine(service.database, accountId, { nsu: 2, cents: 600, paying });
    await advance();
    expect(await stateOf()).toBe('succeeded');
  });

  it('is seen when all of them are, and not absent when one is there', async () => {
    await lose({ movements: 2 });
    await close();
    const [one, two] = await journal.expectedIds(service.database, accountId);
    await journal.storeLine(service.database, accountId, { nsu: 1, paying: one ?? '' });
    await advance();
    expect(await stateOf()).toBe('unknown');
    await journal.storeLine(service.database, accountId, { nsu: 2, paying: two ?? '' });
    await advance();
    expect(await stateOf()).toBe('succeeded');
    expect(told).toEqual(['seen']);
  });
});
