// What the bank does by itself: each task once, at its time by the bank's clock, whatever fails or is started again.
import { BankClock } from '../../src/sandbox/clock/bank-clock.service.js';
import { DueWork, type DueHandler } from '../../src/sandbox/due-work/due-work.service.js';
import { SandboxDatabase } from '../../src/sandbox/sandbox-database.service.js';
import { sandboxUnderTest, type SandboxUnderTest } from '../contract/bank-under-test.js';
import { until } from '../support/until.js';

type Bank = SandboxUnderTest['application'];

let bank: SandboxUnderTest;
beforeEach(async () => {
  bank = await sandboxUnderTest();
});
afterEach(() => bank.stop());

const advance = (duration: string) =>
  bank.call('POST', '/sandbox/clock', { body: { advance: duration } });
const handle = (application: Bank, handler: DueHandler) =>
  application.get(DueWork).handle('test', handler);
/** Owes a task for each subject, due in so many milliseconds of the bank's clock. */
const schedule = (application: Bank, subjects: string[], inMs: number) =>
  application.get(SandboxDatabase).transaction(async (tx) => {
    const dueAt = new Date(application.get(BankClock).now().getTime() + inMs);
    for (const subject of subjects)
      await application.get(DueWork).schedule(tx, { kind: 'test', subject, dueAt });
  });
const left = async () => {
  const { rows } = await bank.pool.query('SELECT subject FROM due_task ORDER BY id');
  return rows.map(({ subject }: { subject: string }) => subject);
};
const subjects = (count: number) => Array.from({ length: count }, (_, index) => String(index));
const hour = 3_600_000;

it('does a task at its virtual time and not before', async () => {
  const done: string[] = [];
  handle(bank.application, async (_, subject) => void done.push(subject));
  await schedule(bank.application, ['in an hour'], hour);
  await schedule(bank.application, ['in two hours'], 2 * hour);
  await advance('PT59M');
  expect(done).toEqual([]);
  // The clock's answer comes when what is then due is done.
  await advance('PT1M');
  expect(done).toEqual(['in an hour']);
  await advance('PT2H');
  expect(done).toEqual(['in an hour', 'in two hours']);
  expect(await left()).toEqual([]);
});

it('does what becomes due while the clock runs, without being told', async () => {
  const done: string[] = [];
  handle(bank.application, async (_, subject) => void done.push(subject));
  await schedule(bank.application, ['at once'], 0);
  await schedule(bank.application, ['soon'], 200);
  await until('both are done', () => done.length === 2);
  expect(done).toEqual(['at once', 'soon']);
});

it('does nothing by itself while the clock is frozen', async () => {
  await bank.call('POST', '/sandbox/clock', { body: { frozen: true } });
  let count = 0;
  handle(bank.application, async () => void (count += 1));
  await schedule(bank.application, ['later'], 1);
  await bank.application.get(DueWork).runDue();
  expect(count).toBe(0);
  await advance('PT0.001S');
  expect(count).toBe(1);
});

it('does a chain of tasks before the clock answers', async () => {
  const done: string[] = [];
  handle(bank.application, async (tx, subject) => {
    done.push(subject);
    const dueAt = bank.application.get(BankClock).now();
    if (subject.length < 5)
      await bank.application
        .get(DueWork)
        .schedule(tx, { kind: 'test', subject: `${subject}x`, dueAt });
  });
  await schedule(bank.application, ['x'], hour);
  await advance('PT1H');
  expect(done).toEqual(['x', 'xx', 'xxx', 'xxxx', 'xxxxx']);
});

it('does each of many tasks once, by two processes of one bank', async () => {
  const other = await bank.start();
  try {
    const done: string[] = [];
    const byWhom = new Set<Bank>();
    for (const application of [bank.application, other])
      handle(application, async (tx, subject) => {
        byWhom.add(application);
        // Nobody goes on until both have a task: otherwise one of them might do all.
        await until('both are at work', () => byWhom.size === 2);
        done.push(subject);
        await tx.query('SELECT pg_sleep(0.005)');
      });
    await schedule(bank.application, subjects(200), 0);
    await until('all are gone', async () => (await left()).length === 0);
    await Promise.all([bank.application, other].map((one) => one.get(DueWork).runDue()));
    expect(done.sort()).toEqual(subjects(200).sort());
  } finally {
    await other.close();
  }
});

it('tries a task that failed again, and holds nobody else up', async () => {
  const done: string[] = [];
  let isBroken = true;
  handle(bank.application, async (tx, subject) => {
    if (subject === '0' && isBroken) {
      await tx.query(`UPDATE account SET email = 'half done'`);
      throw new Error('not yet');
    }
    done.push(subject);
  });
  await schedule(bank.application, subjects(20), hour);
  await advance('PT1H');
  // What failed left no trace, and is owed.
  expect(done.sort()).toEqual(subjects(20).slice(1).sort());
  expect(await left()).toEqual(['0']);
  const { rows } = await bank.pool.query(`SELECT 1 FROM account WHERE email = 'half done'`);
  expect(rows).toEqual([]);
  isBroken = false;
  await until('it is done after all', () => done.includes('0'));
  expect(done).toHaveLength(20);
});

it('ends at once when the only task fails', async () => {
  handle(bank.application, async () => {
    throw new Error('never');
  });
  await schedule(bank.application, ['hopeless'], hour);
  expect((await advance('PT1H')).status).toBe(200);
  expect(await left()).toEqual(['hopeless']);
});

it('keeps what is owed over a restart', async () => {
  const done: string[] = [];
  await schedule(bank.application, ['kept'], hour);
  const other = await bank.start();
  try {
    handle(other, async (_, subject) => void done.push(subject));
    await bank.application.close();
    await other.get(BankClock).change({ to: (now) => new Date(now.getTime() + 2 * hour) });
    await other.get(DueWork).runDue();
    expect(done).toEqual(['kept']);
  } finally {
    await other.close();
  }
});

it('owes nothing of a transaction that was rolled back', async () => {
  let count = 0;
  handle(bank.application, async () => void (count += 1));
  const { application } = bank;
  await expect(
    application.get(SandboxDatabase).transaction(async (tx) => {
      const task = { kind: 'test', subject: 'x', dueAt: new Date(0) };
      await application.get(DueWork).schedule(tx, task);
      throw new Error('rolled back');
    }),
  ).rejects.toThrow('rolled back');
  await application.get(DueWork).runDue();
  expect(count).toBe(0);
  expect(await left()).toEqual([]);
});

it('finishes the task in hand before it closes, and begins no other', async () => {
  const other = await bank.start();
  let begun = 0;
  let finished = 0;
  handle(other, async (tx) => {
    begun += 1;
    await tx.query('SELECT pg_sleep(0.2)');
    finished += 1;
  });
  // The first process has no hands for this kind: its attempts fail and change nothing.
  await schedule(other, subjects(100), 0);
  await until('one has begun', () => begun > 0);
  await other.close();
  expect(finished).toBe(begun);
  expect(begun).toBeLessThan(100);
  expect(await left()).toHaveLength(100 - begun);
});
