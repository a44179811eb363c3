// A statement line and an expected payment side by side. A field that differs is marked by a sign
// and a word, and not by colour alone.
import type { ComponentChildren } from 'preact';
import { printDay } from '../../brazil/printed-text.js';
import type { Cents } from '../../brazil/cents.js';
import { formatAmount, writeTaxId } from '../formats.js';
import { ComparedSides, Marked } from '../kit/break-parts.js';
import { Amount, Id } from '../kit/elements.js';
import { useVisit, type Visit } from '../visit.js';
import type { Comparison } from './compare-sides.js';

export function ComparisonTable({
  name,
  compared,
  isPaymentFirst,
}: {
  /** What a reader of the screen hears. */
  name: string;
  compared: readonly Comparison[];
  /** The side of the break itself stands on the left. */
  isPaymentFirst: boolean;
}) {
  const visit = useVisit();
  const sides = ['breaks.line', 'word.expectedPayment'] as const;
  const [left, right] = isPaymentFirst ? [sides[1], sides[0]] : sides;
  const { t } = visit;
  return (
    <ComparedSides
      name={name}
      columns={['breaks.field', left, right, 'word.result']}
      rows={compared.map((one) => {
        const values = [valueOf(visit, one, 'line'), valueOf(visit, one, 'payment')] as const;
        return {
          field: t(`breaks.field.${one.field}`),
          values: isPaymentFirst ? [values[1], values[0]] : values,
          mark: one.mark,
          said: (
            <Marked mark={one.mark} more={differenceOf(t, one)}>
              {t(`breaks.mark.${one.mark}`)}
            </Marked>
          ),
        };
      })}
    />
  );
}

function differenceOf(t: Visit['t'], of: Comparison): string | null {
  if (of.field === 'amount') {
    const cents = of.differenceCents ?? 0n;
    if (cents === 0n) return null;
    const amount = formatAmount(cents < 0n ? -cents : cents);
    return t(cents > 0n ? 'breaks.difference.more' : 'breaks.difference.less', { amount });
  }
  if (of.field !== 'day' || of.days === 0) return null;
  const key = of.days > 0 ? 'breaks.day.after' : 'breaks.day.before';
  return t(key, { count: Math.abs(of.days) });
}

function valueOf({ t }: Visit, of: Comparison, side: 'line' | 'payment'): ComponentChildren {
  switch (of.field) {
    case 'amount':
      return side === 'payment' && of.payment === null
        ? t('breaks.anyAmount')
        : amount(of[side], t('app.none'));
    case 'day':
      return of[side] === null ? t('app.none') : printDay(of[side]);
    case 'direction':
      return t(of[side] ? 'breaks.direction.in' : 'breaks.direction.out');
    case 'references':
      return of[side]?.length ? of[side].map((one) => <Id>{one}</Id>) : t('app.none');
    case 'taxId':
      return <bdi>{writeTaxId(of[side]) ?? t('app.none')}</bdi>;
    default:
      return <bdi>{of[side] ?? t('app.none')}</bdi>;
  }
}

function amount(cents: Cents | null, none: string): ComponentChildren {
  if (cents === null) return none;
  return (
    <strong>
      <Amount cents={cents} />
    </strong>
  );
}
