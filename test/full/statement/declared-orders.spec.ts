// Random declarations, amendments, cancellations and lines, in whatever order they come: the same
// rows in the end. Only what the modules record as due is decided, so that a line or payment which
// a change concerns and no task reaches is found: each reconcile is compared with a recomputation.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DeclaredPaymentsSetup } from '../../support/declared-payments-setup.js';
import { matchRule, RulesSetup } from '../../support/rules-setup.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { shuffledBy } from '../../support/worlds.js';

const seed = Number(process.env.SEED ?? 20_261_124);
const worlds = Number(process.env.WORLDS ?? 30);

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null, freq: 1 });
const document = maybe(fc.constantFrom('11144477735', '52998224725'));
const direction = fc.constantFrom('credit', 'debit');
const terms = fc.record({
  counterparty: fc.record({ taxId: document }),
  text: maybe(fc.constantFrom('cielo', 'folha')),
  window: fc.constantFrom(['2026-06-08', '2026-06-12'], ['2026-06-10', '2026-06-10']),
  amounts: fc.constantFrom(
    { amount: 100, amountFrom: null, amountTo: null },
    { amount: 100.5, amountFrom: null, amountTo: null },
    { amount: 100, tolerance: 1, amountFrom: null, amountTo: null },
    { amount: null, tolerance: null, amountFrom: 99, amountTo: 101 },
  ),
  correlationId: maybe(fc.constantFrom('c1', 'c2')),
});
type Terms = typeof terms extends fc.Arbitrary<infer Value> ? Value : never;

const payment = fc.record({
  direction,
  versions: fc.array(terms, { minLength: 1, maxLength: 2 }),
  isCancelled: fc.constantFrom(false, false, true),
});
const line = fc.record({
  direction,
  cents: fc.constantFrom(10_000, 10_050, 10_100),
  document,
  notes: maybe(fc.constantFrom('CIELO', 'Folha')),
  day: fc.constantFrom('2026-06-08', '2026-06-10'),
  correlationId: maybe(fc.constantFrom('c1', 'c2', 's1')),
});
const world = fc.record({
  payments: fc.array(payment, { minLength: 1, maxLength: 5 }),
  lines: fc.array(line, { minLength: 1, maxLength: 6 }),
  /** Debits of operations, with their correlationIds. */
  sent: fc.array(fc.constantFrom(undefined, 'c1', 's1'), { maxLength: 2 }),
  hasRule: fc.boolean(),
  order: fc.array(fc.integer(), { minLength: 12, maxLength: 12 }),
});
type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never;

let service: ServiceDatabase;
let account = 0;
const current = () => ({ ...service, accountId: account });
const setup = new RulesSetup(current);
const declared = new DeclaredPaymentsSetup(current);

beforeAll(async () => {
  service = await serviceDatabase();
});
afterAll(() => service.drop());

function bodyOf({ counterparty, text, window: [dateFrom, dateTo], amounts, correlationId }: Terms) {
  const references =
    correlationId === null ? [] : [{ kind: 'correlationId', value: correlationId }];
  // A range has something that identifies it.
  const identified = amounts.amount === null && text === null ? 'cielo' : text;
  return { counterparty, text: identified, dateFrom, dateTo, references, ...amounts };
}

/** The steps of the world, each payment's in their own order. */
function stepsOf({ payments, lines, sent }: World): (() => Promise<unknown>)[][] {
  return [
    ...payments.map(({ direction: way, versions: [first, ...others], isCancelled }, index) => {
      const name = `p${index}`;
      if (!first) return [];
      return [
        () => declared.declare(name, { direction: way, ...bodyOf(first) }),
        ...others.map((each) => () => declared.amend(name, bodyOf(each))),
        ...(isCancelled ? [() => declared.cancelUnlessPaid(name)] : []),
      ];
    }),
    ...sent.map((correlationId) => [() => setup.addSent(10_000, correlationId)]),
    ...lines.map(({ direction: way, document: ofLine, notes, correlationId, ...shown }, index) => [
      () =>
        setup.addLine({
          ...{ nsu: index + 1, isCredit: way === 'credit', ...shown },
          ...(ofLine === null ? {} : { document: ofLine }),
          ...(notes === null ? {} : { notes }),
          ...(correlationId === null ? {} : { correlationId }),
        }),
    ]),
  ];
}

async function createAccount(hasRule: boolean): Promise<void> {
  const created = await service.database.prisma.bankAccount.create({
    data: { slug: `a${Math.random()}`, goLiveAt: new Date(0) },
  });
  account = created.id;
  if (hasRule) await setup.declareActiveRule(matchRule({ by: ['document'] }));
}

/** The rows of the account, with the payments by their externalId. */
async function rowsOf(): Promise<string[]> {
  const { rows } = await setup.run(
    `SELECT concat_ws(' ', 'match', nsu, e.external_id, m.amount_cents, role, rule) AS row
     FROM match m JOIN expected_payment e ON e.account_id = m.account_id
       AND e.id = m.expected_payment_id
     WHERE m.account_id = $1 AND unlinked_at IS NULL
     UNION ALL SELECT concat_ws(' ', state, nsu) FROM line_outcome WHERE account_id = $1
     UNION ALL SELECT concat_ws(' ', 'break', b.kind, nsu, e.external_id, b.amount_cents)
     FROM break b LEFT JOIN expected_payment e ON e.account_id = b.account_id
       AND e.id = b.expected_payment_id
     WHERE b.account_id = $1 AND state = 'open'`,
    account,
  );
  return (rows as { row: string }[]).map(({ row }) => row).sort();
}

it('gives the same rows in whatever order payments are declared and changed and lines come', async () => {
  for (const made of fc.sample(world, { seed, numRuns: worlds })) {
    // A cancellation is refused while a line pays: only worlds without one have one end.
    const all = { ...made, payments: made.payments.map((one) => ({ ...one, isCancelled: false })) };
    await createAccount(all.hasRule);
    for (const steps of stepsOf(all)) for (const step of steps) await step();
    await setup.decide();
    const expected = await rowsOf();
    for (const order of [all.order, [...all.order].reverse()]) {
      await createAccount(all.hasRule);
      for (const steps of shuffledBy(stepsOf(all), order))
        for (const step of steps) {
          await step();
          await setup.decide();
        }
      expect(await rowsOf()).toEqual(expected);
    }
    await createAccount(made.hasRule);
    for (const steps of shuffledBy(stepsOf(made), made.order))
      for (const step of steps) {
        await step();
        await setup.decide();
      }
  }
}, 300_000);
