// The short form of payments under faults. `npm run chaos` runs the requested rounds.
import { expect, it } from '@jest/globals';
import { planRounds, profileSettings, type Round, type RoundOptions } from '../chaos/round.js';
import { runRound } from '../chaos/run.js';

const requested = process.env.CHAOS;
const short: RoundOptions = { requests: 36, fault: 'all', kill: true, wipe: true, two: true };
const rounds = planRounds(requested ? (JSON.parse(requested) as RoundOptions) : short);
const settings = profileSettings(process.env);

function nameOf({ seed, fault, kill, outage, wipe, two }: Round): string {
  const disturbances = [
    kill && 'kills',
    outage && 'outages',
    wipe && 'wiped queues',
    two && 'two processes',
  ];
  return [`faults ${fault}`, ...disturbances.filter(Boolean), `seed ${seed}`].join(', ');
}

it.each(rounds.map((round) => [nameOf(round), round] as const))(
  'moves requested money once and explains each of its lines: %s',
  async (_, round) => {
    const progress = (message: string) => {
      if (requested) process.stdout.write(`• ${message}\n`);
    };
    const { report, findings } = await runRound(round, settings, progress);
    if (requested || findings.length > 0) process.stdout.write(`${report}\n\n`);
    expect(findings).toEqual([]);
  },
  600_000,
);
