// `npm run chaos -- --points --faults`: each fault of mutants.mjs must be found by the auditor.
import { Dice } from '../dice.js';
import { audit } from './audit.js';
import { killAtEach, type Kill, type PointsOptions } from './kills.js';
import { mutants, type Mutant } from './mutants.mjs';
import { prepareScenario, runScenario } from './scenario.js';
import { PointsWorld, type Side } from './world.js';

const repetitions = 6;

/** The findings that name the fault, and all others. */
export async function runFault(name: string, options: PointsOptions) {
  const mutant = mutants[name];
  if (!mutant) throw new Error(`there is no fault ${name}`);
  const findings = mutant.kills
    ? (await killAtEach(killsOf(mutant, mutant.kills), { ...options, mutant: name })).findings
    : await repeatScenario(name, mutant, options);
  const naming = findings.filter((finding) => mutant.finding.test(finding));
  return { naming, others: findings.filter((finding) => !naming.includes(finding)) };
}

function killsOf({ scenario }: Mutant, names: string[]): Kill[] {
  return names.map((name) => {
    const [side, point] = name.split(/ (.*)/s);
    return { scenario, point: point ?? '', side: side as Side };
  });
}

async function repeatScenario(
  name: string,
  { scenario }: Mutant,
  { seed, queue }: PointsOptions,
): Promise<string[]> {
  const world = await PointsWorld.open(seed, queue, name);
  try {
    await prepareScenario(world, scenario);
    for (let count = 0; count < repetitions; count += 1)
      await runScenario(world, scenario, new Dice(seed, count));
    await world.deployment.bank.callBank('DELETE', '/sandbox/faults');
    return await audit(world);
  } finally {
    await world.close();
  }
}
