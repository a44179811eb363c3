// What one round does, and the options of `npm run chaos`, which passes them in the variable CHAOS.
import { faultKinds, type FaultKind } from '../../src/sandbox/faults/fault.js';

export interface Round {
  seed: number;
  requests: number;
  /** One kind at every endpoint where it can occur, all kinds at once, or none. */
  fault: FaultKind | 'all' | 'none';
  /** kill -9 of a service every few seconds. */
  kill: boolean;
  /** kill -9 of the bank every few seconds. */
  outage: boolean;
  /** The queue's tables are emptied every second. */
  wipe: boolean;
  /** Two service processes on one database get the same keys. */
  two: boolean;
  /** How long after the last fault every operation must have finished. */
  settleMs: number;
}

/** One round for each seed, or with `each` one for each seed and each kind of fault. */
export interface RoundOptions extends Partial<Omit<Round, 'fault' | 'seed'>> {
  seed?: number;
  seeds?: number;
  fault?: FaultKind | 'all' | 'none' | 'each';
}

const defaults = {
  requests: 100,
  kill: false,
  outage: false,
  wipe: false,
  two: false,
  settleMs: 120_000,
};

export function planRounds({
  seed: firstSeed = 1,
  seeds = 1,
  fault = 'all',
  ...options
}: RoundOptions): Round[] {
  const kinds = fault === 'each' ? faultKinds : [fault];
  return Array.from({ length: seeds }, (_, index) => firstSeed + index).flatMap((seed) =>
    kinds.map((kind) => ({ ...defaults, ...options, seed, fault: kind })),
  );
}

/** The settings that describe the bank's behaviour, taken from the environment. */
export function profileSettings(environment: NodeJS.ProcessEnv): Record<string, string> {
  const names = ['BANK_REPEAT_SAFE', 'BANK_STATUS_BY_ID', 'BANK_VISIBILITY_BOUND_MS'];
  return Object.fromEntries(
    names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])),
  );
}

/** The command that runs this round again. */
export function commandOf(round: Round, settings: Record<string, string>): string {
  const flags = [
    `--seed ${round.seed}`,
    `--requests ${round.requests}`,
    `--fault ${round.fault}`,
    ...(['kill', 'outage', 'wipe', 'two'] as const)
      .filter((flag) => round[flag])
      .map((flag) => `--${flag}`),
  ];
  const environment = Object.entries(settings).map(([name, value]) => `${name}=${value} `);
  return `${environment.join('')}npm run chaos -- ${flags.join(' ')}`;
}
