// The soak of money out, in its short form; `npm run chaos` runs the rounds that it is asked for.
import { expect, it } from '@jest/globals';
import { planRounds, profileSettings, type Round, type RoundOptions } from '../chaos/round.js';
import { runRound } from '../chaos/run.js';

const asked = process.env.CHAOS;
const short: RoundOptions = { intents: 36, fault: 'all', kill: true, wipe: true, two: true };
const rounds = planRounds(asked ? (JSON.parse(asked) as RoundOptions) : short);
const settings = profileSettings(process.env);

function nameOf({ seed, fault, kill, outage, wipe, two }: Round): string {
  const trouble = [
    kill && 'kills',
    outage && 'outages',
    wipe && 'wiped queues',
    two && 'two processes',
  ];
  return [`faults ${fault}`, ...trouble.filter(Boolean), `seed ${seed}`].join(', ');
}

it.each(rounds.map((round) => [nameOf(round), round] as const))(
  'moves all money that was asked for once, and explains each line of it: %s',
  async (_, round) => {
    const progress = (message: string) => {
      if (asked) process.stdout.write(`• ${message}\n`);
    };
    const { table, findings } = await runRound(round, settings, progress);
    if (asked || findings.length > 0) process.stdout.write(`${table}\n\n`);
    expect(findings).toEqual([]);
  },
  600_000,
);
