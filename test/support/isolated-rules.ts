// A rule of an account's, for whoever proves that no other account sees or changes it.
import { expect } from '@jest/globals';
import type { ServiceApplication } from './service-application.js';

const definition = {
  priority: 10,
  when: { isCredit: true },
  then: { classify: 'ignored', reason: 'isolation' },
  reason: 'isolation',
};

/** What stands in the places of paths, and bodies that are good but for whose rule they are about. */
export async function isolatedRule(service: ServiceApplication) {
  const body = { name: 'isolation', ...definition };
  const { status, body: rule } = await service.call('POST', '/v1/rules', { body });
  expect(status).toBe(201);
  return {
    ids: [
      ['/v1/rules/', rule.id as string],
      ['/v1/rules/{id}/versions/', '1'],
    ] as const,
    bodies: {
      createRuleVersion: definition,
      activateRuleVersion: { reason: 'isolation' },
      retireRuleVersion: { reason: 'isolation' },
    },
    canaries: [rule.id as string],
  };
}
