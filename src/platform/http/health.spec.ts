import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Health } from './health.js';
import { createLog } from '../log.js';
import type { Role } from '../settings/config.js';

const never = () => new Promise<never>(() => undefined);
const broken = () => Promise.reject(new Error('no connection'));
const says = (text: string | null) => () => Promise.resolve(text);
const all: Role[] = ['api', 'worker', 'scheduler'];

describe('health', () => {
  let health: Health;
  const started = (roles: Role[]) => {
    health.identify({ version: '1.0.0', commit: null, schema: null }, roles);
    health.markStarted();
  };
  beforeEach(() => {
    health = new Health(createLog('silent', 'health'));
  });

  it('reports a warning that cannot be checked, and is still ready', async () => {
    health.addCheck('the clock', { find: broken });
    health.addCheck('account modes', { find: never });
    health.addCheck('nothing', { find: says(null) });
    health.addCheck('disk', { find: says('The disk is nearly full.') });
    started(all);
    const { failing, facts } = await health.examine();
    expect(failing).toEqual([]);
    expect(facts.warnings).toEqual([
      'Not checked: the clock.',
      'Not checked: account modes.',
      'The disk is nearly full.',
    ]);
  });

  it('is not ready while a check fails or does not end, at its start and its end', async () => {
    health.addCheck('database', { find: broken, needs: all });
    health.addCheck('queue', { find: never, needs: ['worker'] });
    health.addCheck('roles', { find: says(null), needs: all });
    const failing = async () => (await health.examine()).failing;
    expect(await failing()).toEqual(['start', 'database', 'queue']);
    started(['worker']);
    expect(await failing()).toEqual(['database', 'queue']);
    health.markStopping();
    expect(await failing()).toEqual(['stop', 'database', 'queue']);
  });

  it('says of each role what it lacks: requests are served while jobs cannot run', async () => {
    health.addCheck('queue', { find: says('No queue.'), needs: ['worker'], advice: 'Start it.' });
    started(['api', 'worker']);
    const { failing, facts } = await health.examine();
    expect(failing).toEqual([]);
    expect(facts).toMatchObject({
      ...{ version: '1.0.0', warnings: ['No queue.'], roles: { api: [], worker: ['queue'] } },
      checks: [{ check: 'queue', isPassed: false, finding: 'No queue.', advice: 'Start it.' }],
    });
  });

  it('says since when a check has its result', async () => {
    jest.useFakeTimers({ now: new Date('2026-03-02T10:00:00Z') });
    let finding: string | null = null;
    health.addCheck('database', { find: () => Promise.resolve(finding), needs: all });
    const since = async () => (await health.examine()).facts.checks[0]?.since;
    expect(await since()).toBe('2026-03-02T10:00:00.000Z');
    jest.setSystemTime(new Date('2026-03-02T10:01:00Z'));
    expect(await since()).toBe('2026-03-02T10:00:00.000Z');
    finding = 'PostgreSQL does not answer.';
    expect(await since()).toBe('2026-03-02T10:01:00.000Z');
    jest.useRealTimers();
  });
});
