// The operator's routes of an account's mode: the stop switch, and reconcile-only.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  filledText,
  instant,
  integer,
  text,
  nameSchemas,
} from '../../bank-contract/wire.js';
import { AccountMode } from '../../generated/service/enums.js';

export const accountModeView = z.object({
  slug: z.string(),
  mode: z.enum(AccountMode),
  registersWebhooks: z.boolean(),
  callsUnderWay: integer.describe('How many calls from before the change may reach the bank.'),
  waiting: integer.describe('Operations that are sent when the account is live again.'),
  alarmNsu: bigInteger.nullable().describe('The debit whose alarm stopped the account.'),
  releaseRequestedBy: z.array(z.string()).describe('At the console, another must ask, too.'),
  changes: z.array(
    z.object({
      mode: z.enum(AccountMode),
      registersWebhooks: z.boolean(),
      actor: z.string(),
      reason: z.string(),
      at: instant,
    }),
  ),
});

const base = {
  chapter: 'Bank accounts',
  authentication: 'admin-key',
  path: '/v1/accounts/{slug}/mode',
  params: z.object({ slug: text(60) }),
  response: accountModeView,
} as const;

export const getAccountMode = route({
  ...base,
  name: 'getAccountMode',
  summary: 'Returns the mode of an account, what is still under way, and who changed it.',
  method: 'GET',
});

export const changeAccountMode = route({
  ...base,
  name: 'changeAccountMode',
  summary:
    'Stops an account, releases it, or makes it reconcile-only, at once in every process. ' +
    'Everything is still read and explained.',
  method: 'PUT',
  body: z.object({
    mode: z.enum(AccountMode),
    registersWebhooks: z.boolean().optional().describe('By default as the mode says.'),
    /** Who changes the mode: the admin key names nobody. */
    actor: filledText(100),
    reason: filledText(500),
  }),
});

nameSchemas({ AccountMode: accountModeView });
