// The bank check finds out what was set: the sandbox gets drawn modes and faults, and the profile
// must say them. What it cannot observe is unknown, and never another value.
import { setTimeout as sleep } from 'node:timers/promises';
import { checkBank } from '../../src/app/bank-check/bank-check.js';
import {
  bankProfileFile,
  habitNames,
  type BankHabits,
  type HabitName,
} from '../../src/bank-contract/bank-profile.js';
import { loadBankCheckSettings } from '../../src/platform/settings/bank-check-settings.js';
import type { FaultRequest } from '../../src/sandbox/faults/fault.js';
import { Faults } from '../../src/sandbox/faults/faults.service.js';
import { SeededRandom } from '../../src/sandbox/generate/seeded-random.js';
import type { ModeChanges } from '../../src/sandbox/modes/modes.schema.js';
import { presets } from '../../src/sandbox/presets/presets.js';
import { sandboxUnderTest } from '../contract/bank-under-test.js';
import { freePort } from '../support/concilia-process.js';

const seed = Number(process.env.SEED ?? 20_261_129);
const draws = 24;
/** The checks mostly wait. */
const banks = 3;
const patienceMs = 12_000;
const historyLines = 45;

type Consent = 'all' | 'no transfers' | 'none';
/** From and to, where a time is measured. */
type Expected = { [Name in HabitName]?: BankHabits[Name] | { fromMs: number; toMs: number } };

interface Draw {
  consent: Consent;
  hasWebhooks: boolean;
  modes: ModeChanges;
  faults: FaultRequest[];
  expected: Expected;
  /** Habits that a fault may hide: they are as set, or unknown. */
  mayBeUnknown: readonly HabitName[];
}

const always = { times: null, probability: null, seed: 1, delayMs: null } as const;
const about = (ms: number) => ({ fromMs: Math.max(1_000, ms), toMs: ms + 3_000 });
const isServed = { served: true, absent: false } as const;
const repeats = { replay: 'replay', conflict: 'refused', ignore: 'executed' } as const;

function drawModes(random: SeededRandom) {
  return {
    preset: random.pick(presets),
    idempotentRepeat: random.pick(['replay', 'conflict', 'ignore'] as const),
    statementOrder: random.pick(['desc', 'asc'] as const),
    statementPageCap: random.pick([3 + random.below(38), 3 + random.below(38), 1_000]),
    nsuVisibility: random.pick(['in-order', 'in-order', 'out-of-order'] as const),
    lineExternalId: random.pick(['present', 'absent'] as const),
    lineOriginalId: random.pick(['present', 'absent'] as const),
    refundEndToEndId: random.pick(['own', 'original'] as const),
    chargeById: random.pick(['served', 'absent'] as const),
    transferById: random.pick(['served', 'absent'] as const),
    rateLimitPerSecond: random.pick([null, null, 5 + random.below(8)]),
  } as const;
}

type Modes = ReturnType<typeof drawModes>;

/** What shows however much the check may do. */
function expectedOfReading(modes: Modes): Expected {
  return {
    pageOrder: modes.statementOrder,
    pageCap: modes.statementPageCap < historyLines ? modes.statementPageCap : 'unknown',
    lineEndToEndId: 'present',
    ratePerSecond: modes.rateLimitPerSecond ?? 'unknown',
  };
}

function expectedOfCharges(modes: Modes, lineDelayMs: number): Expected {
  return {
    nsuOrder: modes.nsuVisibility,
    lineDelayMs: about(lineDelayMs),
    lineCorrelationId: 'present',
    lineOriginalId: modes.lineOriginalId,
    refundEndToEndId: modes.refundEndToEndId,
    repeatedCharge: modes.idempotentRepeat === 'replay' ? 'replay' : 'refused',
    hasChargeById: isServed[modes.chargeById],
    hasSimulation: true,
  };
}

function expectedOfTransfers(modes: Modes): Expected {
  const hasById = isServed[modes.transferById];
  return {
    lineExternalId: modes.lineExternalId,
    repeatedTransfer: repeats[modes.idempotentRepeat],
    hasTransferById: hasById,
    hasTransferByExternalId: hasById && modes.preset === 'complete',
  };
}

const webhookFaults = ['none', 'late', 'lost', 'twice'] as const;

function drawWebhooks(random: SeededRandom): { faults: FaultRequest[]; expected: Expected } {
  const kind = random.pick(webhookFaults);
  const delayMs = 1_500 + random.below(2_500);
  const expected = {
    webhookDelivery: kind === 'lost' ? 'some' : 'all',
    webhookCopies: kind === 'twice' ? 'repeated' : 'once',
    webhookDelayMs: about(kind === 'late' ? delayMs : 0),
  } as const;
  const fault = { ...always, endpoint: 'webhooks' } as const;
  const faults: Record<typeof kind, FaultRequest[]> = {
    none: [],
    late: [{ ...fault, kind: 'webhook-late', delayMs }],
    lost: [{ ...fault, kind: 'webhook-lost', times: 1 }],
    twice: [{ ...fault, kind: 'webhook-twice' }],
  };
  return { faults: faults[kind], expected };
}

/** Late lines; or a response that is lost, which hides the answer of the repeat. */
function drawFault(random: SeededRandom, modes: Modes) {
  const delayMs = 2_000 + random.below(2_000);
  const kind = random.pick(['none', 'line-withheld', 'statement-lag', 'garbage'] as const);
  const overtakingMs = modes.nsuVisibility === 'out-of-order' ? 2_000 : 0;
  if (kind === 'garbage') {
    const fault = { ...always, endpoint: 'transfers', kind, times: 1 } as const;
    return { faults: [fault], lineDelayMs: overtakingMs, hidesTransfers: true };
  }
  // Lines that are all late, or a statement of earlier, do not show who overtakes whom.
  if (kind === 'none' || overtakingMs > 0)
    return { faults: [], lineDelayMs: overtakingMs, hidesTransfers: false };
  const fault = { ...always, endpoint: 'transactions', kind, delayMs } as const;
  return { faults: [fault], lineDelayMs: delayMs, hidesTransfers: false };
}

function draw(random: SeededRandom): Draw {
  const modes = drawModes(random);
  const consent = random.pick(['all', 'all', 'all', 'no transfers', 'none'] as const);
  const { faults, lineDelayMs, hidesTransfers } = drawFault(random, modes);
  const hasWebhooks = random.pick([true, true, false]);
  const webhooks = drawWebhooks(random);
  const areWebhooksSeen = hasWebhooks && consent !== 'none' && modes.preset !== 'contract';
  return {
    ...{ consent, hasWebhooks, modes },
    faults: [...faults, ...webhooks.faults],
    expected: {
      ...expectedOfReading(modes),
      ...(consent === 'none' ? {} : expectedOfCharges(modes, lineDelayMs)),
      ...(consent === 'all' ? expectedOfTransfers(modes) : {}),
      ...(areWebhooksSeen ? webhooks.expected : {}),
    },
    mayBeUnknown: [
      // Where the bank takes few requests a second, or the machine is slow.
      ...(['nsuOrder', 'ratePerSecond', 'pageCap'] as const),
      ...(hidesTransfers
        ? (['repeatedTransfer', 'hasTransferById', 'hasTransferByExternalId'] as const)
        : []),
    ],
  };
}

/** A window of four seconds counts a request more or less. */
const isNear = (value: unknown, wanted: unknown) => Math.abs(Number(value) - Number(wanted)) <= 1;

/** The habits that the profile has otherwise than set. */
function wrongHabits(habits: BankHabits, { expected, mayBeUnknown }: Draw): string[] {
  return habitNames.flatMap((name) => {
    const [value, wanted] = [habits[name], expected[name] ?? 'unknown'];
    if (value === 'unknown' && mayBeUnknown.includes(name)) return [];
    const isAsSet =
      typeof wanted === 'object' && 'fromMs' in wanted
        ? Number(value) >= wanted.fromMs && Number(value) <= wanted.toMs
        : value === wanted || (name === 'ratePerSecond' && isNear(value, wanted));
    return isAsSet ? [] : [`${name}: ${JSON.stringify(value)}, set ${JSON.stringify(wanted)}`];
  });
}

async function check(drawn: Draw): Promise<BankHabits> {
  const bank = await sandboxUnderTest();
  try {
    for (let line = 0; line < historyLines; line += 1)
      await bank.call('POST', '/sandbox/pix/received', { body: { amount: 1 } });
    const { status, body } = await bank.call('PATCH', '/sandbox/modes', { body: drawn.modes });
    if (status !== 200) throw new Error(`the modes were refused: ${JSON.stringify(body)}`);
    drawn.faults.forEach((fault) => bank.application.get(Faults).add(fault));
    // A statement of earlier has the history too.
    await sleep(Math.max(...drawn.faults.map(({ delayMs }) => delayMs ?? 0), 0));
    const port = await freePort();
    const { profile } = await checkBank({
      settings: loadBankCheckSettings({
        BANK_BASE_URL: await bank.application.getUrl(),
        BANK_API_KEY: 'sandbox-dev-key',
      }),
      payments:
        drawn.consent === 'none'
          ? null
          : { beneficiaryAccount: drawn.consent === 'all' ? '1000002' : null },
      webhooks: drawn.hasWebhooks
        ? { url: `http://127.0.0.1:${port}`, host: '127.0.0.1', port }
        : null,
      patienceMs,
      progress: () => undefined,
    });
    bankProfileFile.parse(JSON.parse(JSON.stringify(profile)));
    expect(JSON.stringify(profile)).not.toMatch(/sandbox-dev-key|52998224725|100000\d/);
    return profile.habits;
  } finally {
    await bank.stop();
  }
}

it(`writes the profile that was set, of ${draws} drawn banks (SEED=${seed})`, async () => {
  const drawn = Array.from({ length: draws }, (_, index) =>
    draw(new SeededRandom(`${seed} ${index}`)),
  );
  const waiting = drawn.entries();
  const wrong: unknown[] = [];
  const found: BankHabits[] = [];
  const work = async () => {
    for (const [index, one] of waiting) {
      const habits = await check(one);
      found.push(habits);
      const problems = wrongHabits(habits, one);
      if (problems.length > 0) wrong.push({ index, problems, ...one });
    }
  };
  await Promise.all(Array.from({ length: banks }, work));
  expect(wrong).toEqual([]);
  expect(found).toHaveLength(draws);
  // Each habit that is asked was found out at least once, and was unknown at least once.
  const unasked: HabitName[] = [
    ...(['visibilityBoundMs', 'paysBillsOnTime', 'creditDays', 'interestPeriod'] as const),
  ];
  const alwaysKnown: HabitName[] = ['pageOrder', 'lineEndToEndId'];
  const never = (isKnown: boolean) =>
    habitNames.filter((name) => !found.some((one) => (one[name] !== 'unknown') === isKnown));
  expect(never(true)).toEqual(unasked);
  expect(never(false)).toEqual(expect.arrayContaining(alwaysKnown));
  expect(never(false)).toHaveLength(alwaysKnown.length);
}, 900_000);
