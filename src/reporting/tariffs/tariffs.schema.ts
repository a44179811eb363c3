// The routes of price lists, and of the check of a month's fees.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  filledText,
  instant,
  integer,
  integerBetween,
  notNegativeReais,
  nameSchemas,
  plainDate,
  reais,
} from '../../bank-contract/wire.js';
import { TariffCharged, TariffKind, TariffPeriod } from '../../generated/service/enums.js';
import { reasonText } from '../../reconciliation/breaks/breaks.schema.js';
import { monthParameter, openItems } from '../exports/exports.schema.js';

const maxItems = 100_000_000;
const maxTiers = 20;
const kindCount = Object.keys(TariffKind).length;

const tariffKind = z
  .enum(TariffKind)
  .describe('What is priced: an item of the statement, or (`package`) the month.');
const period = z
  .enum(TariffPeriod)
  .describe('Whether a fee line is of one item, or of all items of a day or month.');
const charged = z
  .enum(TariffCharged)
  .describe('Whether a fee line stands in the day or month that it is about, or in the next one.');
const freeItems = 'So many items of each month cost nothing.';
const tierFrom = 'The number of an item in its month, from which the price is valid.';
const feeText =
  'What the notes or the type of its fee lines contain, without regard to case and accents.';

const tier = z.strictObject({
  from: integerBetween(2, maxItems).describe(tierFrom),
  price: notNegativeReais,
});

const tariffBody = z
  .strictObject({
    kind: tariffKind,
    period: period.default('each'),
    charged: charged.default('same_period'),
    price: notNegativeReais,
    freeItems: integerBetween(0, maxItems).default(0).describe(freeItems),
    tiers: z
      .array(tier)
      .max(maxTiers)
      .refine(
        (tiers) => tiers.every(({ from }, index) => index === 0 || from > tiers[index - 1]!.from),
        'Must be ascending.',
      )
      .default([]),
    text: filledText(60).nullish().describe(feeText),
  })
  .refine(
    (one) =>
      one.kind !== 'package' ||
      (one.period === 'month' && one.freeItems === 0 && one.tiers.length === 0),
    'A package has the period `month` and one price.',
  );

const tariffView = z.object({
  ...{ kind: tariffKind, period, charged, price: reais, freeItems: integer.describe(freeItems) },
  tiers: z.array(z.object({ from: integer.describe(tierFrom), price: reais })),
  text: z.string().nullable().describe(feeText),
});

const validFrom = plainDate.describe('The first day in São Paulo on which it is valid.');

const priceListsView = z.object({
  versions: z
    .array(
      z.object({
        ...{ version: integer, validFrom, tariffs: z.array(tariffView) },
        ...{ actor: z.string(), reason: z.string(), at: instant },
      }),
    )
    .describe(
      'Newest first. On a day counts the one with the last `validFrom`, then the last version.',
    ),
});

const base = { chapter: 'Reconciliation', authentication: 'api-key' } as const;
const ofList = { ...base, path: '/v1/price-list', response: priceListsView } as const;

export const getPriceList = route({
  ...ofList,
  method: 'GET',
  name: 'getPriceList',
  summary: 'Returns the versions of the price list that was agreed with the bank.',
});

export const changePriceList = route({
  ...ofList,
  method: 'PUT',
  name: 'changePriceList',
  summary: 'Stores a version of the price list. The fees since its first day are checked again.',
  idempotencyKey: 'accepted',
  body: z.strictObject({
    validFrom,
    tariffs: z
      .array(tariffBody)
      .max(kindCount)
      .refine(
        (all) => new Set(all.map(({ kind }) => kind)).size === all.length,
        'Must have each kind once.',
      )
      .describe('All that is agreed from that day on. With none, no fee is checked.'),
    reason: reasonText,
  }),
});

export type PriceListBody = z.output<typeof changePriceList.body>;

const sums = {
  expected: reais.describe('What the items cost by the price list, charged or not.'),
  charged: reais,
  overcharge: reais.describe('What was charged too much, of the lines that charge too much.'),
  undercharge: reais,
  lines: integer,
};

const feeView = z.object({
  nsu: bigInteger,
  date: plainDate,
  kind: tariffKind.nullable().describe('Null for a fee that no tariff explains.'),
  period: z.string().describe('The day or the month that the fee is about.'),
  charged: reais,
  expected: reais.nullable(),
  overcharge: reais.nullable().describe('Negative for what was charged too little.'),
});

const feeCheckView = z.object({
  ...{ month: z.string(), ...sums },
  waiting: integer.describe('Fee lines whose day or month is not over.'),
  unpriced: integer.describe('Fee lines of a time without a price list.'),
  returned: reais.describe('Credits of the month that are classified as fees.'),
  tariffs: z.array(z.object({ kind: tariffKind.nullable(), ...sums })),
  mismatches: z.array(feeView).describe('In nsu order, at most 1,000: the file has all.'),
});

export const getFeeCheck = route({
  ...base,
  method: 'GET',
  name: 'getFeeCheck',
  summary: 'Compares the fees about a month with the price list.',
  path: '/v1/fee-checks/{month}',
  params: z.object({ month: monthParameter }),
  response: feeCheckView,
});

export const exportFees = route({
  ...openItems,
  method: 'GET',
  name: 'exportFees',
  summary: 'Streams the fee lines about a month, with what was agreed, as a file.',
  path: '/v1/exports/fees/{month}',
  params: z.object({ month: monthParameter }),
});

nameSchemas({ PriceList: priceListsView, FeeCheck: feeCheckView });
