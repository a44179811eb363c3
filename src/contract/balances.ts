// Balances: beyond the contract, publicly known of the real service (`amountAvailable` alone).
import { z } from 'zod';
import { route } from './route.js';
import { reais } from './wire.js';

export const readBalances = route({
  name: 'readBalances',
  chapter: 'Statement',
  summary: 'What the account holds, and how much of it can be used.',
  method: 'GET',
  path: '/baas/api/v1/balances',
  authentication: 'api-key',
  response: z.looseObject({
    amountAvailable: reais,
    /** Held for what is not yet effective. */
    amountBlocked: reais.nullish(),
    amountTotal: reais.nullish(),
  }),
});
