import { basename } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** Each takes minutes, the longest first. */
const longest = [
  'fuzz-service.e2e-spec.ts',
  'console-browser.e2e-spec.ts',
  'docs-commands.e2e-spec.ts',
  'rolling-restart.e2e-spec.ts',
  'failover.e2e-spec.ts',
  'image.e2e-spec.ts',
  'fuzz-bank.e2e-spec.ts',
  'bench.e2e-spec.ts',
  'clocks.e2e-spec.ts',
  'declared-orders.spec.ts',
  'client-package.e2e-spec.ts',
  'second-scheduler.e2e-spec.ts',
  'chaos.e2e-spec.ts',
  'year.spec.ts',
];

/**
 * Without times of an earlier run, Jest begins with the largest files: the longest tests are small
 * files, and the last of them ran for minutes beside an idle worker.
 */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const named = longest
      .map((name) => sorted.filter(({ path }) => basename(path) === name))
      .flat();
    return [...new Set([...named, ...sorted])];
  }
}
