// What one round of the soak is, and how it is asked for: `npm run chaos` hands its options over in CHAOS.
import { faultKinds, type FaultKind } from '../../src/sandbox/faults/fault.js';

export interface Round {
  seed: number;
  intents: number;
  /** One kind at every endpoint where it can fire, all at once, or none. */
  fault: FaultKind | 'all' | 'none';
  /** kill -9 of a service every few seconds. */
  kill: boolean;
  /** kill -9 of the bank every few seconds. */
  outage: boolean;
  /** The queue's tables are emptied every second. */
  wipe: boolean;
  /** Two processes of the service on one database, which are sent the same keys. */
  two: boolean;
  /** How long after the last fault everything must have come to its end. */
  settleMs: number;
}

/** What may be asked for: a kind in each round, and rounds for each seed. */
export interface RoundOptions extends Partial<Omit<Round, 'fault' | 'seed'>> {
  seed?: number;
  seeds?: number;
  fault?: FaultKind | 'all' | 'none' | 'each';
}

const defaults = {
  intents: 100,
  kill: false,
  outage: false,
  wipe: false,
  two: false,
  settleMs: 120_000,
};

export function planRounds({ seed = 1, seeds = 1, fault = 'all', ...preferences }: RoundOptions): Round[] {
  const kinds = fault === 'each' ? faultKinds : [fault];
  return Array.from({ length: seeds }, (_, place) => seed + place).flatMap((ofSeed) =>
    kinds.map((kind) => ({ ...defaults, ...preferences, seed: ofSeed, fault: kind })),
  );
}

/** The settings of the service that a round may be run under: what the bank is known to do. */
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
    `--intents ${round.intents}`,
    `--fault ${round.fault}`,
    ...(['kill', 'outage', 'wipe', 'two'] as const)
      .filter((flag) => round[flag])
      .map((flag) => `--${flag}`),
  ];
  const environment = Object.entries(settings).map(([name, value]) => `${name}=${value} `);
  return `${environment.join('')}npm run chaos -- ${flags.join(' ')}`;
}
