// The figures of a month, as they are signed: canonical JSON, and its SHA-256.
import { formatReaisWithTwoDecimals as formatCents } from '../../brazil/cents.js';
import { toCanonicalJson } from '../../platform/json/canonical-json.js';
import { sha256 } from '../../platform/json/exact-json.js';
import type { LineSums } from '../exports/month-days.js';
import type { MonthFigures } from '../exports/month-figures.js';

export const sumsOfMonth = (figures: MonthFigures) => ({
  ...{ opening: figures.openingCents, credits: figures.creditCents },
  ...{ debits: figures.debitCents, closing: figures.closingCents, lines: Number(figures.lines) },
});

const textsOf = ({ lines, creditCents, debitCents }: LineSums) => ({
  ...{ lines: Number(lines), credits: formatCents(creditCents), debits: formatCents(debitCents) },
});

/** Without ages: nothing in them changes with the day. Amounts are texts: they are exact. */
export function signedFiguresOf(month: MonthFigures) {
  const figures = {
    ...{ opening: formatCents(month.openingCents), closing: formatCents(month.closingCents) },
    ...textsOf(month),
    groups: Object.fromEntries(
      Object.entries(month.groups).map(([name, sums]) => [name, textsOf(sums)]),
    ),
    breaks: month.breaks
      .filter(({ ofMonth }) => ofMonth > 0n)
      .map(({ kind, ofMonth }) => ({ kind, count: Number(ofMonth) })),
    days: month.days.map(({ day, closingCents, certificate, ...sums }) => ({
      ...{ day, ...textsOf(sums), closing: formatCents(closingCents) },
      certificate: certificate?.hash ?? null,
    })),
  };
  return { figures, hash: sha256(toCanonicalJson(figures)) };
}
