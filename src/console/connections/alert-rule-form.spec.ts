import { describe, expect, it } from '@jest/globals';
import { createAlertRule } from '../../reporting/alerts/rules.schema.js';
import { AlertConditionKind } from '../../generated/service/enums.js';
import { conditionFields, readConditionKind, readAlertRuleForm } from './alert-rule-form.js';

const read = (text: string, kind: AlertConditionKind) =>
  createAlertRule.body.safeParse(readAlertRuleForm(new URLSearchParams(text), kind));

describe('the form of an alert rule', () => {
  it.each(Object.values(AlertConditionKind))('of the condition %s has defaults', (kind) => {
    const { success, data } = read('name=Regra&isEnabled=on', kind);
    expect(success).toBe(true);
    expect(data).toMatchObject({
      ...{ name: 'Regra', condition: { kind }, severity: 'high', channelIds: [], isEnabled: true },
      ...{ groupSeconds: 60, notifiesCleared: false, remindAfterHours: null },
    });
    expect(readConditionKind(kind)).toBe(kind);
    expect(conditionFields[kind].length).toBeGreaterThan(0);
  });

  it.each([
    ['1.234,56', 123_456n],
    ['1234,5', 123_450n],
    ['1234.56', 123_456n],
    ['R$ 10.000', 1_000_000n],
    ['50', 5_000n],
  ])('reads the amount %s', (text, cents) => {
    const form = new URLSearchParams({ name: 'x', minAmount: text });
    const { data } = createAlertRule.body.safeParse(readAlertRuleForm(form, 'break_open'));
    expect(data?.condition).toMatchObject({ minAmount: cents });
  });

  it.each([
    ['minAmount=abc', 'break_open', 'minAmount'],
    ['minAmount=1,234.5', 'break_open', 'minAmount'],
    ['minAmount=0', 'break_open', 'minAmount'],
    ['minAgeHours=-1', 'break_open', 'minAgeHours'],
    ['kinds=none', 'break_open', '0'],
    ['minutes=1.5', 'no_sync', 'minutes'],
    ['by=25:00', 'day_not_certified', 'by'],
    ['groupSeconds=9999', 'no_sync', 'groupSeconds'],
    ['channelIds=x', 'no_sync', '0'],
  ] as const)('with %s is refused, and names the field', (text, kind, field) => {
    const { error } = read(`name=x&${text}`, kind);
    expect(error?.issues.map(({ path }) => String(path.at(-1)))).toEqual([field]);
  });

  it('has a kind that exists', () => {
    expect(readConditionKind('other')).toBeNull();
    expect(readConditionKind(null)).toBeNull();
  });
});
