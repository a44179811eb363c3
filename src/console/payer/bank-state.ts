// What the page of the payer shows of the sandbox bank: its clock, its modes and its faults.
import { z } from 'zod';
import { integer } from '../../bank-contract/wire.js';

export const bankState = z.object({
  clock: z.object({ now: z.iso.datetime({ offset: true }), frozen: z.boolean() }),
  modes: z.looseObject({}),
  faults: z.object({
    faults: z.array(
      z.object({
        id: z.uuid(),
        endpoint: z.string(),
        kind: z.string(),
        times: integer.nullable(),
        /** How often it fired. */
        fired: integer,
      }),
    ),
  }),
});
export type BankState = z.output<typeof bankState>;
