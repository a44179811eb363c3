// What a run of account A stands for where B must not see it.
import type { ServiceApplication } from './service-application.js';

/** By the path up to its id. */
export async function runOfA(service: ServiceApplication): Promise<(readonly [string, string])[]> {
  const { body } = await service.call('POST', '/v1/reconciliations');
  return [['/v1/reconciliations/', body.id as string]];
}
