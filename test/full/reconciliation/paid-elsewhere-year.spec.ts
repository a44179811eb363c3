// A year in which 30 % of the expected payments are made elsewhere: card settlements, TEDs,
// payroll, taxes and rent, each declared by another system, before or after its line. No line is
// matched to another payment than its own; what cannot be distinguished is a break.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DeclaredPaymentsSetup } from '../../support/declared-payments-setup.js';
import { RulesSetup, type RuleSetupLine } from '../../support/rules-setup.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

const months = Array.from({ length: 12 }, (_, month) => month + 1);
const suppliers = ['11222333000181', '11444777000161', '34028316000103'];
const dayOf = (month: number, day: number) =>
  `2026-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;

/** The same numbers in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

/** A line with what it is: the externalId of its payment, or the kind of its break. */
interface KnownLine extends RuleSetupLine {
  truth: string;
}

interface Declaration {
  externalId: string;
  terms: Record<string, unknown>;
}

interface Month {
  declared: Declaration[];
  charges: { correlationId: string; cents: number }[];
  lines: KnownLine[];
}

let nsu = 0;

function monthOf(month: number, next: (below: number) => number): Month {
  const made: Month = { declared: [], charges: [], lines: [] };
  const line = (truth: string, shown: Omit<RuleSetupLine, 'nsu'>) => {
    made.lines.push({
      nsu: (nsu += 1),
      typeName: shown.isCredit ? 'CREDIT' : 'DEBIT',
      ...shown,
      truth,
    });
  };
  const declare = (name: string, days: [number, number], terms: Record<string, unknown>) => {
    const externalId = `${name}-${month}`;
    const [dateFrom, dateTo] = days.map((day) => dayOf(month, day));
    made.declared.push({ externalId, terms: { dateFrom, dateTo, ...terms } });
    return externalId;
  };
  for (let at = 1; at <= 28; at += 1) {
    const correlationId = `order-${month}-${at}`;
    const cents = 5_000 + next(40) * 100;
    made.charges.push({ correlationId, cents });
    line(correlationId, { cents, isCredit: true, correlationId, day: dayOf(month, at) });
  }
  for (const week of [1, 2, 3, 4]) {
    const day = week * 7 - 1;
    const expected = 900 + next(200);
    const truth = declare(`cards${week}`, [day - 1, day + 1], {
      ...{
        direction: 'credit',
        amountFrom: (expected * 97) / 100,
        amountTo: (expected * 103) / 100,
      },
      ...{ amount: null, text: 'cielo.*(vendas|antecipa)', category: 'Vendas' },
    });
    const cents = Math.round((expected * (9_750 + next(500))) / 100);
    line(truth, { cents, isCredit: true, notes: 'CIELO VENDAS CRÉDITO', day: dayOf(month, day) });
  }
  for (const [at, document] of suppliers.entries()) {
    const cents = 150_000 + next(5) * 50_000;
    const truth = declare(`ted${at}`, [10, 15], {
      ...{ direction: 'debit', amount: cents / 100, counterparty: { taxId: document } },
      ...{ category: 'Fornecedores', costCentre: `Obra ${at}` },
    });
    line(truth, { cents, isCredit: false, document, day: dayOf(month, 10 + next(5)) });
  }
  for (const part of [1, 2]) {
    const cents = 700_000 + part * 31_000 + next(1_000);
    const truth = declare(`payroll${part}`, [4, 7], {
      ...{ direction: 'debit', amount: cents / 100, text: 'folha', costCentre: 'RH' },
    });
    line(truth, { cents, isCredit: false, notes: `FOLHA LOTE ${part}`, day: dayOf(month, 5) });
  }
  for (const [name, text] of [
    ['darf', '^darf'],
    ['iss', String.raw`\biss\b`],
  ] as const) {
    const cents = 90_000 + next(5_000);
    const terms = { direction: 'debit', amount: cents / 100, tolerance: 0.05, text };
    const truth = declare(name, [18, 20], terms);
    const notes = name === 'darf' ? 'DARF 0220' : 'PREFEITURA ISS';
    line(truth, { cents: cents + 3, isCredit: false, notes, day: dayOf(month, 20) });
  }
  const rent = { direction: 'debit', amount: 4_200 };
  line(declare('rent', [1, 5], rent), { cents: 420_000, isCredit: false, day: dayOf(month, 2) });
  // What looks like one of them, and is none.
  line('unexpected', { cents: 420_000, isCredit: false, day: dayOf(month, 6) });
  line('unexpected', {
    cents: 150_000,
    isCredit: false,
    document: '52998224725',
    day: dayOf(month, 11),
  });
  line('unexpected', {
    cents: 90_000,
    isCredit: true,
    notes: 'CIELO ESTORNO',
    day: dayOf(month, 6),
  });
  if (month % 6 === 3)
    for (const twin of ['a', 'b']) {
      declare(`twin-${twin}`, [22, 26], { direction: 'debit', amount: 777 });
      line('ambiguous', { cents: 77_700, isCredit: false, day: dayOf(month, 24) });
    }
  if (month === 6) declare('never', [10, 12], { direction: 'credit', amount: 31_415.92 });
  return made;
}

let service: ServiceDatabase;
beforeAll(async () => {
  service = await serviceDatabase();
});
afterAll(() => service.drop());

it('explains a year without a wrong match', async () => {
  const setup = new RulesSetup(() => service);
  const elsewhere = new DeclaredPaymentsSetup(() => service);
  const next = numbers(2_026);
  const externalIds = new Map<string, string>();
  const known: KnownLine[] = [];
  let [declaredCount, allCount] = [0, 0];
  for (const { declared, charges, lines } of months.map((month) => monthOf(month, next))) {
    for (const { correlationId, cents } of charges)
      externalIds.set(await setup.addExpectedPayment({ cents, correlationId }), correlationId);
    const late = declared.filter((_, at) => at % 3 === 2);
    const early = declared.filter((one) => !late.includes(one));
    for (const each of [early, late]) {
      for (const { externalId, terms } of each)
        externalIds.set(await elsewhere.declare(externalId, terms), externalId);
      // Some lines are decided before their payment is declared.
      if (each === early) for (const { truth: _, ...line } of lines) await setup.addLine(line);
      await setup.decide();
    }
    declaredCount += declared.length;
    allCount += declared.length + charges.length;
    known.push(...lines);
  }
  expect(declaredCount / allCount).toBeGreaterThanOrEqual(0.3);
  const outcomes = (await setup.outcomes()) as Record<string, string[]>;
  const found = known.map(({ nsu: number, truth }) => {
    // What happened before the account was created is history: nobody is alarmed by its debits.
    const first = outcomes[number]?.[0]?.replace('unrequested_debit', 'unexpected') ?? '';
    const payment = first.split(' ')[1];
    return { nsu: number, truth, found: payment ? externalIds.get(payment) : first };
  });
  expect(found.filter((one) => one.found !== one.truth)).toEqual([]);
  expect(found.filter(({ truth }) => truth === 'ambiguous')).toHaveLength(4);
  await setup.run(
    `INSERT INTO statement_state (account_id, last_sync_started_at, clock_offset_ms)
     VALUES ($1, '2027-02-01', 0)`,
    service.accountId,
  );
  await setup.decide();
  const { rows } = await setup.run(
    `SELECT e.external_id FROM break b JOIN expected_payment e ON e.account_id = b.account_id
       AND e.id = b.expected_payment_id
     WHERE b.account_id = $1 AND b.state = 'open' AND b.kind = 'missing' ORDER BY 1`,
    service.accountId,
  );
  // The twins are missing too: nobody has said yet which of the ambiguous lines pays which.
  expect(rows.map((row: { external_id: string }) => row.external_id)).toEqual([
    'never-6',
    'twin-a-3',
    'twin-a-9',
    'twin-b-3',
    'twin-b-9',
  ]);
}, 120_000);
