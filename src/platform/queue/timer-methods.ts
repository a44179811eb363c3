// `@Every` marks the method that a periodic task of the scheduler role runs. At boot, each timer
// must have exactly one method.
import { SetMetadata } from '@nestjs/common';
import type { Settings } from '../settings/config.js';
import { findDecoratedMethods, type DecoratorOf } from '../decorated-methods.js';
import { invariant } from '../errors.js';

const timerKey = 'every';

type TimerMethod = () => Promise<void>;
type Interval = number | ((settings: Settings) => number);

interface TimerMark {
  name: string;
  interval: Interval;
}

/** A periodic task, as a process with the scheduler role runs it. */
export interface TimerTask {
  name: string;
  everyMs: number;
  work: TimerMethod;
}

/**
 * Marks a method that runs periodically. The interval is in milliseconds and begins when the
 * previous run has ended; a function computes it from the settings. The method's class must be a
 * provider.
 */
export function Every(name: string, interval: Interval): DecoratorOf<TimerMethod> {
  return SetMetadata(timerKey, { name, interval } satisfies TimerMark);
}

/** The task of each timer, bound to its provider. Throws when a timer has more than one method. */
export function findTimerTasks(providers: readonly unknown[], settings: Settings): TimerTask[] {
  const found = findDecoratedMethods<TimerMark, TimerMethod>(timerKey, providers);
  return found.map(({ mark: { name, interval }, run }) => {
    const methods = found.filter(({ mark }) => mark.name === name);
    const methodNames = methods.map(({ methodName }) => methodName).join(', ');
    invariant(
      methods.length === 1,
      `timer ${name} must have exactly one method with @Every('${name}'), found ${methodNames}`,
    );
    return {
      name,
      everyMs: typeof interval === 'number' ? interval : interval(settings),
      work: run,
    };
  });
}
