// A statement line and an expected payment side by side. A field that differs is marked by a sign
// and a word, and not by colour alone.
import type { ComponentChildren, JSX } from 'preact';
import { printDay } from '../../brazil/printed-text.js';
import type { Cents } from '../../brazil/cents.js';
import { formatAmount } from '../formats.js';
import { DataTable } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { writeTaxId } from './break-words.js';
import type { Comparison, Mark } from './compare-sides.js';

const signs: Record<Mark, string> = { same: '✓', near: '≈', differs: '✗', unknown: '?' };

export function ComparisonTable({
  visit,
  name,
  compared,
  isPaymentFirst,
}: {
  visit: Visit;
  /** What a reader of the screen hears. */
  name: string;
  compared: readonly Comparison[];
  /** The side of the break itself stands on the left. */
  isPaymentFirst: boolean;
}): JSX.Element {
  const sides = ['breaks.line', 'breaks.payment'] as const;
  const [left, right] = isPaymentFirst ? [sides[1], sides[0]] : sides;
  return (
    <div class="compare">
      <DataTable visit={visit} name={name} columns={['breaks.field', left, right, 'breaks.mark']}>
        {compared.map((one) => {
          const values = [valueOf(visit, one, 'line'), valueOf(visit, one, 'payment')];
          const ordered = isPaymentFirst ? values.reverse() : values;
          return (
            <tr class={`compared ${one.mark}`}>
              <th scope="row">{visit.t(`breaks.field.${one.field}`)}</th>
              {ordered.map((value, index) => (
                <td class="side" data-label={visit.t(index === 0 ? left : right)}>
                  {value}
                </td>
              ))}
              <td>
                <MarkOf visit={visit} of={one} />
              </td>
            </tr>
          );
        })}
      </DataTable>
    </div>
  );
}

function MarkOf({ visit: { t }, of }: { visit: Visit; of: Comparison }) {
  return (
    <span class={`mark ${of.mark}`}>
      <span aria-hidden="true">{signs[of.mark]}</span> {t(`breaks.mark.${of.mark}`)}
      <Difference t={t} of={of} />
    </span>
  );
}

function Difference({ t, of }: { t: Visit['t']; of: Comparison }) {
  const text = differenceOf(t, of);
  return text === null ? null : <span class="difference">{text}</span>;
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
      return of[side]?.length
        ? of[side].map((one) => <code class="id">{one}</code>)
        : t('app.none');
    case 'taxId':
      return <bdi>{of[side] === null ? t('app.none') : writeTaxId(of[side])}</bdi>;
    default:
      return <bdi>{of[side] ?? t('app.none')}</bdi>;
  }
}

function amount(cents: Cents | null, none: string): ComponentChildren {
  return cents === null ? none : <strong class="amount">{formatAmount(cents)}</strong>;
}
