// The control route that generates many lines at once, for load tests.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { integer, text, integerBetween } from '../../bank-contract/wire.js';

const from1To = (maximum: number) => integerBetween(1, maximum);

export const generateLines = route({
  name: 'sandboxGenerate',
  chapter: 'Sandbox control',
  authentication: 'api-key',
  summary:
    'Generates lines of many types with their charges and transfers. Returns the count of each type.',
  method: 'POST',
  path: '/sandbox/generate',
  body: z.looseObject({
    account: text(20).nullish(),
    count: from1To(2_000_000),
    seed: integer.nullish().describe('The same one generates the same lines.'),
    days: from1To(3_650).nullish().describe('The lines are spread over this many days before now.'),
  }),
  response: z.record(z.string(), integer),
});
