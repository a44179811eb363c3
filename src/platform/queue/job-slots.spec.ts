import { describe, expect, it } from '@jest/globals';
import { JobRuns, waitOutsideSlot } from './job-slots.js';

/** Work that ends when the test says so. */
function openEnded() {
  let end = () => undefined as void;
  let fail: (error: Error) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  return { work: () => ended, end, fail };
}

/** The runs of a job with four slots, so an account has two at most. */
function fourSlots() {
  const enqueued: string[] = [];
  const runs = new JobRuns<string>(4, (payload) => void enqueued.push(payload));
  const run = (accountId: number, id: string, work: () => Promise<void>) =>
    runs.run({ accountId, id, payload: id }, work);
  /** Whether the slot of a run is free by now. */
  const isFree = async (slot: Promise<void>) => {
    const later = new Promise<'held'>((resolve) => setImmediate(resolve, 'held'));
    return (await Promise.race([slot.then(() => 'free' as const), later])) === 'free';
  };
  return { runs, run, enqueued, isFree };
}

describe('a slot', () => {
  it('is held while the job works', async () => {
    const { run, isFree } = fourSlots();
    const job = openEnded();
    const slot = run(1, 'a', job.work);
    expect(await isFree(slot)).toBe(false);
    job.end();
    await slot;
  });

  it('is free while the job waits, and the job ends later', async () => {
    const { runs, run } = fourSlots();
    const [answer, done] = [openEnded(), [] as string[]];
    await run(1, 'a', async () => {
      await waitOutsideSlot(0, answer.work);
      done.push('a');
    });
    expect(done).toEqual([]);
    const idle = runs.idle();
    answer.end();
    await idle;
    expect(done).toEqual(['a']);
  });

  it('is held when the answer comes in time', async () => {
    const { run, isFree } = fourSlots();
    const job = openEnded();
    const slot = run(1, 'a', async () => {
      expect(await waitOutsideSlot(60_000, () => Promise.resolve('answer'))).toBe('answer');
      await job.work();
    });
    expect(await isFree(slot)).toBe(false);
    job.end();
    await slot;
  });

  it('is free after an error, which is thrown while the job holds it', async () => {
    const { runs, run, enqueued } = fourSlots();
    const failed = run(1, 'a', () => Promise.reject(new Error('refused')));
    await expect(failed).rejects.toThrow('refused');
    const answer = openEnded();
    await run(1, 'b', () => waitOutsideSlot(0, answer.work));
    answer.fail(new Error('too late'));
    await runs.idle();
    await run(1, 'a', () => Promise.resolve());
    expect(enqueued).toEqual([]);
  });
});

describe('runs that have waited outside their slots', () => {
  it('work again as many at once as there are slots, and leave again while they wait', async () => {
    const { runs, run } = fourSlots();
    const answer = openEnded();
    const second = openEnded();
    const works = Array.from({ length: 6 }, openEnded);
    const back: number[] = [];
    for (const [index, { work }] of works.entries())
      await run(index, 'a', async () => {
        await waitOutsideSlot(0, answer.work);
        back.push(index);
        if (index === 0) await waitOutsideSlot(0, second.work);
        await work();
      });
    answer.end();
    const until = async (count: number) => {
      while (back.length < count) await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setTimeout(resolve, 20));
      return back.length;
    };
    // Four places, and that of the run which waits again.
    expect(await until(5)).toBe(5);
    works[1]?.end();
    expect(await until(6)).toBe(6);
    second.end();
    for (const { end } of works) end();
    await runs.idle();
  });
});

describe('a run with two waits at once', () => {
  it.each([
    ['ends after the run has its place', true],
    ['ends before the run has its place', false],
  ])('takes one place if its second wait %s', async (_, isAfter) => {
    const { runs, run } = fourSlots();
    const answer = openEnded();
    const other = openEnded();
    const works = Array.from({ length: 4 }, openEnded);
    for (const [index, { work }] of works.entries())
      await run(index, 'a', async () => {
        await waitOutsideSlot(0, answer.work);
        await work();
      });
    const [firstWait, secondWait] = [openEnded(), openEnded()];
    await run(9, 'a', async () => {
      const waits = [waitOutsideSlot(0, firstWait.work)];
      await other.work();
      waits.push(waitOutsideSlot(0, secondWait.work));
      await Promise.all(waits);
    });
    const settle = () => new Promise((resolve) => setTimeout(resolve, 20));
    const freePlace = () => works[0]?.end();
    answer.end();
    await settle();
    for (const step of [
      firstWait.end,
      other.end,
      ...(isAfter ? [freePlace, secondWait.end] : [secondWait.end, freePlace]),
    ]) {
      step();
      await settle();
    }
    for (const { end } of works) end();
    await runs.idle();
    // All four places are free again, and no fifth.
    const later = Array.from({ length: 5 }, openEnded);
    let back = 0;
    for (const [index, { work }] of later.entries())
      await run(index, 'b', async () => {
        await waitOutsideSlot(0, settle);
        back += 1;
        await work();
      });
    await settle();
    await settle();
    expect(back).toBe(4);
    for (const { end } of later) end();
    await runs.idle();
  });
});

describe('a run that ends while something of it still waits', () => {
  it.each([
    ['outside', 0],
    ['and leaves later', 30],
  ])('keeps no place: it waits %s', async (_, afterMs) => {
    const { runs, run } = fourSlots();
    const left = Array.from({ length: 4 }, openEnded);
    const fail = () => Promise.reject(new Error('refused'));
    const settle = () => new Promise((resolve) => setTimeout(resolve, 20));
    for (const [index, { work }] of left.entries())
      await run(index, 'a', async () => {
        await waitOutsideSlot(0, settle);
        await Promise.all([waitOutsideSlot(afterMs, work), fail()]);
      });
    await settle();
    await settle();
    for (const { end } of left) end();
    await settle();
    await runs.idle();
    let back = 0;
    for (const index of left.keys())
      await run(index, 'b', async () => {
        await waitOutsideSlot(0, settle);
        back += 1;
      });
    await settle();
    await settle();
    expect(back).toBe(4);
  });
});

describe('a job that was enqueued again while it runs', () => {
  it('holds no slot, and is enqueued once when the run has ended', async () => {
    const { runs, run, enqueued } = fourSlots();
    const answer = openEnded();
    await run(1, 'a', () => waitOutsideSlot(0, answer.work));
    for (let count = 0; count < 3; count += 1)
      await run(1, 'a', () => Promise.reject(new Error('must not run')));
    expect(enqueued).toEqual([]);
    answer.end();
    await runs.idle();
    expect(enqueued).toEqual(['a']);
  });
});

describe('a run that starts in its turn', () => {
  const settle = () => new Promise((resolve) => setTimeout(resolve, 20));
  /** With four slots, one of them works at once. */
  function inTurn() {
    const { runs, run } = fourSlots();
    const started: number[] = [];
    const works = Array.from({ length: 70 }, openEnded);
    const start = (accountId: number, id = `${accountId}`) =>
      runs.startInTurn({ accountId, id, payload: id }, () => {
        started.push(accountId);
        return works[accountId]?.work() ?? Promise.resolve();
      });
    return { runs, run, start, started, works };
  }

  it('waits for the one before it to end, or to leave its slot', async () => {
    const { runs, start, started, works } = inTurn();
    const answer = openEnded();
    expect([start(0), start(1), start(2)]).toEqual([true, true, true]);
    expect(started).toEqual([0]);
    works[0]?.fail(new Error('refused'));
    await settle();
    expect(started).toEqual([0, 1]);
    runs.startInTurn({ accountId: 9, id: '9', payload: '9' }, () =>
      waitOutsideSlot(0, answer.work),
    );
    start(3);
    for (const index of [1, 2]) works[index]?.end();
    await settle();
    expect(started).toEqual([0, 1, 2, 3]);
    works[3]?.end();
    answer.end();
    await runs.idle();
  });

  it('is refused while it runs already, and where too many wait', async () => {
    const { runs, run, start, started, works } = inTurn();
    const other = openEnded();
    const slot = run(100, 'same', other.work);
    expect(start(100, 'same')).toBe(false);
    const accepted = works.map((_, accountId) => start(accountId));
    // The first one works.
    expect(accepted.filter((isAccepted) => isAccepted)).toHaveLength(65);
    // One that waits already is not there twice.
    expect(start(64)).toBe(true);
    other.end();
    await slot;
    for (const { end } of works) end();
    while (started.length < 65) await settle();
    await runs.idle();
  });

  it('does not start once the turns are dropped', async () => {
    const { runs, start, started, works } = inTurn();
    start(0);
    start(1);
    runs.dropTurns();
    const idle = runs.idle();
    for (const { end } of works) end();
    await idle;
    await settle();
    expect(started).toEqual([0]);
  });
});

describe('an account', () => {
  it('has at most half of the slots; its other jobs hold none and run afterwards', async () => {
    const { runs, run, enqueued, isFree } = fourSlots();
    const jobs = ['a', 'b', 'c', 'd'].map((id) => ({ id, ...openEnded() }));
    const slots = jobs.map(({ id, work }) => run(1, id, work));
    expect(await Promise.all(slots.map(isFree))).toEqual([false, false, true, true]);
    const other = openEnded();
    const otherSlot = run(2, 'a', other.work);
    expect(await isFree(otherSlot)).toBe(false);
    jobs[1]?.end();
    await slots[1];
    jobs[0]?.end();
    other.end();
    await runs.idle();
    expect(enqueued).toEqual(['c', 'd']);
  });

  it('counts its jobs that wait outside their slots', async () => {
    const { runs, run, enqueued } = fourSlots();
    const answer = openEnded();
    for (const id of ['a', 'b']) await run(1, id, () => waitOutsideSlot(0, answer.work));
    await run(1, 'c', () => Promise.reject(new Error('must not run')));
    answer.end();
    await runs.idle();
    expect(enqueued).toEqual(['c']);
  });
});

describe('runs without a queue', () => {
  const job = (id: string) => ({ accountId: Number(id), id, payload: id });

  it('are as many as there are slots', async () => {
    const { runs } = fourSlots();
    const jobs = ['1', '2', '3', '4'].map((id) => ({ id, ...openEnded() }));
    expect(jobs.map(({ id, work }) => runs.start(job(id), work))).toEqual(Array(4).fill(true));
    expect(runs.start(job('5'), openEnded().work)).toBe(false);
    jobs[0]?.end();
    await new Promise((resolve) => setImmediate(resolve));
    expect(runs.start(job('5'), () => Promise.resolve())).toBe(true);
    for (const { end } of jobs) end();
    await runs.idle();
  });

  it('of one id never overlap: one more follows', async () => {
    const { runs, enqueued } = fourSlots();
    const first = openEnded();
    const started: string[] = [];
    expect(runs.start(job('1'), first.work)).toBe(true);
    for (let again = 0; again < 3; again += 1)
      expect(runs.start(job('1'), () => Promise.resolve(void started.push('1')))).toBe(true);
    first.end();
    await runs.idle();
    expect([started, enqueued]).toEqual([[], ['1']]);
  });

  it('may fail', async () => {
    const { runs } = fourSlots();
    expect(runs.start(job('1'), () => Promise.reject(new Error('refused')))).toBe(true);
    await runs.idle();
  });
});
