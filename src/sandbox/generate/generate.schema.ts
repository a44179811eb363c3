// The control plane's load: many lines at once, for tests at size.
import { z } from 'zod';
import { route } from '../../contract/route.js';
import { integer, text } from '../../contract/wire.js';

const from1To = (maximum: number) =>
  integer.refine((value) => value >= 1 && value <= maximum, `Must be from 1 to ${maximum}.`);

export const generateLines = route({
  name: 'sandboxGenerate',
  chapter: 'Sandbox control',
  authentication: 'api-key',
  summary:
    'Fills a statement with lines of many kinds, with what they are of; tells how many of each.',
  method: 'POST',
  path: '/sandbox/generate',
  body: z.looseObject({
    account: text(20).nullish(),
    count: from1To(2_000_000),
    /** The same seed on a new bank gives the same lines. */
    seed: integer.nullish(),
    /** Over how many days before now the lines are spread. */
    days: from1To(3_650).nullish(),
  }),
  response: z.record(z.string(), integer),
});
