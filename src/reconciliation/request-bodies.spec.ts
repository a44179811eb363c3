import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { actOnBreak, actOnBreaks } from './breaks/breaks.schema.js';
import { linkManually, unlinkManually } from './breaks/matches.schema.js';
import { changeRefundPolicies } from './breaks/refund-policies.schema.js';
import * as rules from './rules/rules.schema.js';
import { changeSchedule, startRun } from './runs/runs.schema.js';

const routes = [
  ...[actOnBreaks, linkManually, unlinkManually, changeRefundPolicies, changeSchedule, startRun],
  ...[rules.createRule, rules.createRuleVersion, rules.tryRuleVersion, rules.activateRuleVersion],
];
const actions = ['link', 'accept', 'refund', 'resend', 'reopen', 'note'];

describe('an unknown field', () => {
  const rejections = (body: z.ZodType, value: object) =>
    z.safeDecode(body, value as never).error?.issues.map(({ code }) => code) ?? [];

  it.each(routes.map((route) => [route.name, route.body] as [string, z.ZodType]))(
    'is rejected by %s',
    (_, body) => expect(rejections(body, { surprise: 1 })).toContain('unrecognized_keys'),
  );
  it.each(actions)('is rejected by the action %s', (action) =>
    expect(rejections(actOnBreak.body, { action, surprise: 1 })).toContain('unrecognized_keys'),
  );
});
