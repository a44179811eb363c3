// The cash forecast of a book in which some payments come late, some never, and some money comes
// that nothing expects. Its sums agree with the summary and the statement.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addDays, rollToBusinessDay, nextBusinessDay } from '../../../src/brazil/calendar.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { dayFromToday, newKeyHeader, slip } from '../../contract/samples.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

interface Day {
  date: string;
  expectedIn: number;
  expectedOut: number;
  settledIn: Record<'onTime' | 'late' | 'early', number>;
  settledOut: Record<'onTime' | 'late' | 'early', number>;
  unexpectedIn: number;
  unexpectedOut: number;
  statement: { in: number; out: number } | null;
  openingBalance: number;
  closingBalance: number;
  isProjected: boolean;
}
interface Forecast {
  today: string;
  days: Day[];
  overdue: { in: number; count: number };
  undated: { in: number; count: number; withoutAmount: number };
}

const firstDay = dayFromToday(0);
/** A business day that has a business day after it within the book. */
const dueDay = rollToBusinessDay(addDays(firstDay, 3));
const laterDay = rollToBusinessDay(addDays(dueDay, 9));
let service: ServiceOnSandbox;

const call = async (method: 'GET' | 'POST', path: string, body?: object) => {
  const response = await service.call(method, path, {
    ...(body ? { body } : {}),
    headers: method === 'POST' ? newKeyHeader() : {},
  });
  if (response.status >= 300) throw new Error(`${path}: ${JSON.stringify(response.body)}`);
  return response.body;
};
const charge = async (amount: number, dueDate: string) => {
  const request = slip({ type: 'BANKSLIP_PIX', Amount: amount, dueDate });
  await call('POST', '/baas/v1/charges', request);
  return request.correlationId;
};
const pay = (correlationId: string) =>
  service.bank.call('POST', '/sandbox/pix/received', { body: { correlationId } });
const advanceTo = async (day: string) => {
  const { body } = await service.bank.call('GET', '/sandbox/clock');
  const ms = Date.parse(`${day}T15:00:00Z`) - Date.parse(body.now);
  await service.bank.call('POST', '/sandbox/clock', {
    body: { advance: `PT${Math.ceil(ms / 1_000)}S` },
  });
};
const reconcile = async () => {
  await service.sync();
  const reconciliation = service.application.get(ReconciliationService, { strict: false });
  await reconciliation.reconcile({ accountId: service.accountId });
};
const read = async (query = `from=${firstDay}&to=${addDays(laterDay, 5)}`) =>
  (await call('GET', `/v1/cash-forecast?${query}`)) as unknown as Forecast;
const sum = (days: Day[], of: (day: Day) => number) =>
  Math.round(days.reduce((total, day) => total + of(day) * 100, 0)) / 100;

beforeAll(async () => {
  service = await serviceOnSandbox();
  await service.sync();
  const early = await charge(10, dueDay);
  const onTime = await charge(20, dueDay);
  const late = await charge(40, dueDay);
  await charge(80, dueDay);
  await charge(160, laterDay);
  await call('POST', '/baas/api/v2/pix/qrcode/static', { correlationId: 'free-amount' });
  await call('POST', '/baas/api/v2/transfers', { amount: 5, beneficiaryAccount: '1000002' });
  await pay(early);
  await advanceTo(dueDay);
  await pay(onTime);
  await service.bank.call('POST', '/sandbox/pix/received', { body: { amount: 7 } });
  await advanceTo(addDays(nextBusinessDay(dueDay), 1));
  await pay(late);
  await reconcile();
}, 60_000);
afterAll(() => service.stop());

describe('the cash forecast', () => {
  it('shows how what was expected on a day came', async () => {
    const { days } = await read();
    const due = days.find(({ date }) => date === dueDay);
    expect(due).toMatchObject({
      ...{ expectedIn: 80, unexpectedIn: 7, isProjected: false },
      settledIn: { early: 10, onTime: 20, late: 40 },
    });
    expect(days[0]?.settledOut).toEqual({ early: 0, onTime: 5, late: 0 });
  });

  it('agrees with the summary about what is open and overdue', async () => {
    const forecast = await read();
    const { expectedPayments } = await call('GET', '/v1/summary');
    expect(forecast.overdue).toMatchObject({ in: 80, count: expectedPayments.overdue });
    expect(forecast.undated).toMatchObject({ in: 0, count: 1, withoutAmount: 1 });
    const ahead = forecast.days.filter(({ date }) => date >= forecast.today);
    expect(sum(ahead, ({ expectedIn }) => expectedIn)).toBe(160);
    const openOfDays = 1;
    expect(openOfDays + forecast.overdue.count + forecast.undated.count).toBe(
      expectedPayments.open,
    );
  });

  it('agrees with the statement, and projects the balance from its last line', async () => {
    const { days, today } = await read();
    const { statement } = await call('GET', '/v1/summary');
    const closing = days.find(({ date }) => date === today)?.closingBalance;
    expect(closing).toBe(statement.balance);
    expect(days.at(-1)?.closingBalance).toBe(Math.round((statement.balance + 160) * 100) / 100);
    for (const [index, day] of days.entries())
      expect(day.openingBalance).toBe(days[index - 1]?.closingBalance ?? days[0]?.openingBalance);
    const { data } = await call('GET', '/v1/transactions?isCredit=true&limit=100');
    const credits = data.reduce(
      (total: number, { amount }: { amount: number }) => total + amount,
      0,
    );
    const past = days.filter(({ statement: one }) => one !== null);
    expect(sum(past, (day) => day.statement?.in ?? 0)).toBe(credits);
    // What came is either of an expected payment or unexpected.
    const settled = sum(days, ({ settledIn: { onTime, late, early } }) => onTime + late + early);
    expect(settled + sum(past, ({ unexpectedIn }) => unexpectedIn)).toBe(credits);
  });

  it('begins today and ends thirty days later by default, and carries the balance forward', async () => {
    const { days, today } = await read('');
    expect([days[0]?.date, days.length]).toEqual([today, 31]);
    const tomorrow = addDays(laterDay, 1);
    const { days: later } = await read(`from=${tomorrow}&to=${tomorrow}`);
    expect(later[0]?.openingBalance).toBe(
      days.find(({ date }) => date === laterDay)?.closingBalance,
    );
  });

  it('shows all that is overdue for a past period, too, with the balances of the statement', async () => {
    const { days: all, today } = await read();
    const past = await read(`from=${firstDay}&to=${addDays(firstDay, 1)}`);
    expect(past.days).toEqual(all.slice(0, 2));
    expect(past.overdue).toMatchObject({ in: 80, count: 1 });
    expect(past.days.every(({ date, isProjected }) => date < today && !isProjected)).toBe(true);
  });

  it.each([
    [`from=${laterDay}&to=${dueDay}`, '$.to'],
    [`from=${addDays(firstDay, -400)}&to=${addDays(firstDay, 30)}`, '$.to'],
    ['from=2199-01-01', '$.from'],
    ['to=2026-02-30', '$.to'],
  ])('refuses the period %s', async (query, path) => {
    const { status, body } = await service.call('GET', `/v1/cash-forecast?${query}`);
    expect([status, Object.keys(body.errors ?? {})]).toEqual([400, [path]]);
  });

  it('counts of a declared range the least that comes in and the most that goes out', async () => {
    const before = await read();
    const day = rollToBusinessDay(addDays(before.today, 1));
    for (const direction of ['credit', 'debit'])
      await call('POST', '/v1/expected-payments', {
        ...{ externalId: `range-${direction}`, direction, amountFrom: 300, amountTo: 500 },
        ...{ dateFrom: before.today, dateTo: day, text: 'never' },
      });
    await reconcile();
    const after = await read();
    const of = ({ days }: Forecast) => days.find(({ date }) => date === day);
    expect((of(after)?.expectedIn ?? 0) - (of(before)?.expectedIn ?? 0)).toBe(300);
    expect((of(after)?.expectedOut ?? 0) - (of(before)?.expectedOut ?? 0)).toBe(500);
    expect(after.undated).toEqual(before.undated);
  });
});
