import { describe, expect, it } from '@jest/globals';
import { AlertConditionKind } from '../../generated/service/enums.js';
import { AppError } from '../../platform/errors.js';
import type { Visit } from '../visit.js';
import { conditionFields, readConditionKind, typedAlertRule } from './alert-rule-form.js';

const visitOf = (text: string) =>
  ({ form: new URLSearchParams(text), t: (key: string) => key }) as unknown as Visit;
const read = (text: string, kind: AlertConditionKind) => typedAlertRule(visitOf(text), kind);

describe('the form of an alert rule', () => {
  it.each(Object.values(AlertConditionKind))('of the condition %s has defaults', (kind) => {
    expect(read('name=Regra&isEnabled=on', kind)).toMatchObject({
      ...{ name: 'Regra', condition: { kind }, severity: 'high', channelIds: [], isEnabled: true },
      ...{ notifiesCleared: false, remindAfterHours: null },
    });
    expect(readConditionKind(kind)).toBe(kind);
    // A guarded account has its interval in its payment controls.
    const least = kind === 'not_guarded' ? 0 : 1;
    const fields = Object.keys(conditionFields(visitOf(''), kind));
    expect(fields.length).toBeGreaterThanOrEqual(least);
  });

  it.each([
    ['1.234,56', 123_456n],
    ['1234,5', 123_450n],
    ['1234.56', 123_456n],
    ['R$ 10.000', 1_000_000n],
    ['50', 5_000n],
  ])('reads the amount %s', (text, minAmount) => {
    const form = new URLSearchParams({ name: 'x', minAmount: text }).toString();
    expect(read(form, 'break_open').condition).toMatchObject({ minAmount });
  });

  it.each([
    ['minAmount=abc', 'break_open', '$.condition.minAmount'],
    ['minAmount=1,234.5', 'break_open', '$.condition.minAmount'],
    ['minAmount=0', 'break_open', '$.condition.minAmount'],
    ['minAgeHours=-1', 'break_open', '$.condition.minAgeHours'],
    ['kinds=none', 'break_open', '$.condition.kinds[0]'],
    ['minutes=1.5', 'no_sync', '$.condition.minutes'],
    ['by=25:00', 'day_not_certified', '$.condition.by'],
    ['groupSeconds=9999', 'no_sync', '$.groupSeconds'],
    ['channelIds=x', 'no_sync', '$.channelIds[0]'],
  ] as const)('with %s is refused, and names the field', (text, kind, field) => {
    let errors: unknown = null;
    try {
      read(`name=x&${text}`, kind);
    } catch (error) {
      if (error instanceof AppError) ({ errors } = error.details);
    }
    expect(Object.keys(errors ?? {})).toEqual([field]);
  });

  it('has a kind that exists', () => {
    expect(readConditionKind('other')).toBeNull();
    expect(readConditionKind(null)).toBeNull();
  });
});
