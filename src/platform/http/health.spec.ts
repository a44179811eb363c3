import { describe, expect, it } from '@jest/globals';
import { Health } from './health.js';
import { createLog } from '../log.js';

const never = () => new Promise<never>(() => undefined);

describe('health', () => {
  const health = new Health(createLog('silent', 'health'));
  const broken = () => Promise.reject(new Error('no connection'));

  it('reports a warning that cannot be checked, and is still ready', async () => {
    health.addWarning('the clock', broken);
    health.addWarning('account modes', never);
    health.addWarning('nothing', () => Promise.resolve(null));
    health.addWarning('disk', () => Promise.resolve('The disk is nearly full.'));
    health.markStarted();
    expect(await health.listWarnings()).toEqual([
      'Not checked: the clock.',
      'Not checked: account modes.',
      'The disk is nearly full.',
    ]);
    expect(await health.listFailing()).toEqual([]);
  });

  it('is not ready while a check fails or does not end', async () => {
    health.addCheck('database', broken);
    health.addCheck('queue', never);
    health.addCheck('roles', () => Promise.resolve(true));
    expect(await health.listFailing()).toEqual(['database', 'queue']);
  });
});
