// Due tasks of the bank: each runs once, at its time by the bank's clock, across failures and
// restarts.
import { BankClock } from '../../../src/sandbox/clock/bank-clock.service.js';
import { DueWork, type DueHandler } from '../../../src/sandbox/due-work/due-work.service.js';
import { SandboxDatabase } from '../../../src/sandbox/sandbox-database.service.js';
import { sandboxUnderTest, type SandboxUnderTest } from '../../contract/bank-under-test.js';
import { until } from '../../support/until.js';

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
/** Schedules a task per subject, due in `inMs` milliseconds of the bank's clock. */
const schedule = (application: Bank, subjects: string[], inMs: number) =>
  application.get(SandboxDatabase).transaction(async (tx) => {
    const dueAt = new Date(application.get(BankClock).now().getTime() + inMs);
    for (const subject of subjects)
      await application.get(DueWork).schedule(tx, { kind: 'test', subject, dueAt });
  });
const listPending = async () => {
  const { rows } = await bank.pool.query('SELECT subject FROM due_task ORDER BY id');
  return rows.map(({ subject }: { subject: string }) => subject);
};
const subjects = (count: number) => Array.from({ length: count }, (_, index) => String(index));
const hour = 3_600_000;

it('runs a task at its virtual time and not before', async () => {
  const done: string[] = [];
  handle(bank.application, async (_, subject) => void done.push(subject));
  await schedule(bank.application, ['in an hour'], hour);
  await schedule(bank.application, ['in two hours'], 2 * hour);
  await advance('PT59M');
  expect(done).toEqual([]);
  // The clock responds after all due tasks have run.
  await advance('PT1M');
  expect(done).toEqual(['in an hour']);
  await advance('PT2H');
  expect(done).toEqual(['in an hour', 'in two hours']);
  expect(await listPending()).toEqual([]);
});

it('runs tasks that become due while the clock runs, without a trigger', async () => {
  const done: string[] = [];
  handle(bank.application, async (_, subject) => void done.push(subject));
  await schedule(bank.application, ['at once'], 0);
  await schedule(bank.application, ['soon'], 200);
  await until('both are done', () => done.length === 2);
  expect(done).toEqual(['at once', 'soon']);
});

it('runs no future task while the clock is frozen', async () => {
  await bank.call('POST', '/sandbox/clock', { body: { frozen: true } });
  let count = 0;
  handle(bank.application, async () => void (count += 1));
  await schedule(bank.application, ['later'], 1);
  await bank.application.get(DueWork).runDue();
  expect(count).toBe(0);
  await advance('PT0.001S');
  expect(count).toBe(1);
});

it('runs a chain of tasks before the clock responds', async () => {
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

it('runs each of many tasks once with two processes of one bank', async () => {
  const secondProcess = await bank.start();
  try {
    const done: string[] = [];
    const workers = new Set<Bank>();
    for (const application of [bank.application, secondProcess])
      handle(application, async (tx, subject) => {
        workers.add(application);
        // Both processes must have a task before either continues: otherwise one might run them
        // all.
        await until('both processes have a task', () => workers.size === 2);
        done.push(subject);
        await tx.query('SELECT pg_sleep(0.005)');
      });
    await schedule(bank.application, subjects(200), 0);
    await until('all tasks have run', async () => (await listPending()).length === 0);
    await Promise.all(
      [bank.application, secondProcess].map((application) => application.get(DueWork).runDue()),
    );
    expect(done.sort()).toEqual(subjects(200).sort());
  } finally {
    await secondProcess.close();
  }
});

it('retries a failed task without delaying other tasks', async () => {
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
  // The failed task left no effect and is still pending.
  expect(done.sort()).toEqual(subjects(20).slice(1).sort());
  expect(await listPending()).toEqual(['0']);
  const { rows } = await bank.pool.query(`SELECT 1 FROM account WHERE email = 'half done'`);
  expect(rows).toEqual([]);
  isBroken = false;
  await until('the failed task is done', () => done.includes('0'));
  expect(done).toHaveLength(20);
});

it('responds at once when the only task fails', async () => {
  handle(bank.application, async () => {
    throw new Error('never');
  });
  await schedule(bank.application, ['hopeless'], hour);
  expect((await advance('PT1H')).status).toBe(200);
  expect(await listPending()).toEqual(['hopeless']);
});

it('still has pending tasks after a restart', async () => {
  const done: string[] = [];
  await schedule(bank.application, ['pending'], hour);
  const secondProcess = await bank.start();
  try {
    handle(secondProcess, async (_, subject) => void done.push(subject));
    await bank.application.close();
    await secondProcess.get(BankClock).change({ to: (now) => new Date(now.getTime() + 2 * hour) });
    await secondProcess.get(DueWork).runDue();
    expect(done).toEqual(['pending']);
  } finally {
    await secondProcess.close();
  }
});

it('schedules no task of a rolled-back transaction', async () => {
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
  expect(await listPending()).toEqual([]);
});

it('finishes running tasks before it closes, and starts no other', async () => {
  const secondProcess = await bank.start();
  let started = 0;
  let finished = 0;
  handle(secondProcess, async (tx) => {
    started += 1;
    await tx.query('SELECT pg_sleep(0.2)');
    finished += 1;
  });
  // The first process has no handler for this kind: its attempts fail and change nothing.
  await schedule(secondProcess, subjects(100), 0);
  await until('a task has started', () => started > 0);
  await secondProcess.close();
  expect(finished).toBe(started);
  expect(started).toBeLessThan(100);
  expect(await listPending()).toHaveLength(100 - started);
});
