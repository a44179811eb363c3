// The control plane of the bank's clock.
import { z } from 'zod';
import { parsePlainDate } from '../../brazil/calendar.js';
import { route } from '../../bank-contract/route.js';
import { instant, text, nameSchemas } from '../../bank-contract/wire.js';

const requestedInstant = text(40)
  .refine(
    (value) =>
      /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}([.]\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/.test(value) &&
      // V8 would read 30 February as 2 March.
      parsePlainDate(value.slice(0, 10)) !== null &&
      !Number.isNaN(Date.parse(value)),
    'Must be an ISO 8601 instant with a time zone.',
  )
  .meta({ format: 'date-time' });

const clockState = z.object({ now: instant, frozen: z.boolean() });

const control = {
  chapter: 'Sandbox control',
  authentication: 'api-key',
  path: '/sandbox/clock',
  response: clockState,
} as const;

export const readClock = route({
  ...control,
  name: 'sandboxReadClock',
  summary: "Returns the bank's time.",
  method: 'GET',
});

export const changeClock = route({
  ...control,
  name: 'sandboxChangeClock',
  summary: 'Sets, advances, freezes or unfreezes the clock. Responds after all due tasks have run.',
  method: 'POST',
  body: z
    .looseObject({
      now: requestedInstant.nullish(),
      advance: text(40).meta({ format: 'duration' }).nullish(),
      frozen: z.boolean().nullish(),
    })
    .refine(
      ({ now, advance, frozen }) => Boolean(now ?? advance) || typeof frozen === 'boolean',
      'One of now, advance and frozen is required.',
    )
    .refine(({ now, advance }) => !(now && advance), 'Send either now or advance, not both.'),
});

nameSchemas({ BankClock: clockState });
