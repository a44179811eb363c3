// The tariffs of a price list as people type them, one on each line:
// `Pix recebido; 0,50; 100; cada; mesmo; tarifa pix; 501=0,40 1001=0,30`.
import { TariffCharged, TariffKind, TariffPeriod } from '../../generated/service/enums.js';
import { normalizeText } from '../../statement/expected-payments/text-pattern.js';
import type { Translate } from '../texts.js';
import { typedNumber, writeTypedAmount } from '../typed-amount.js';

export interface ShownTariff {
  kind: TariffKind;
  period: TariffPeriod;
  charged: TariffCharged;
  price: bigint;
  freeItems: number;
  tiers: readonly { from: number; price: bigint }[];
  text: string | null;
}

/** As the request has them. What is no tariff stays text, which the schema refuses. */
export function readTypedTariffs(t: Translate, typed: string): object[] {
  const lines = typed.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [kind = '', price, free, period, charged, text, tiers] = line
      .split(';')
      .map((cell) => cell.trim() || undefined);
    return {
      kind: wordIn(t, 'kind', TariffKind, kind),
      price: typedNumber(price),
      freeItems: typedNumber(free),
      period: period && wordIn(t, 'period', TariffPeriod, period),
      charged: charged && wordIn(t, 'charged', TariffCharged, charged),
      text,
      tiers: tiers?.split(/\s+/).map((tier) => {
        const [from, cents] = tier.split('=');
        return { from: typedNumber(from), price: typedNumber(cents) };
      }),
    };
  });
}

export function writeTypedTariffs(t: Translate, tariffs: readonly ShownTariff[]): string {
  return tariffs
    .map(({ kind, price, freeItems, period, charged, text, tiers }) =>
      [
        ...[t(`tariffs.kind.${kind}`), writeTypedAmount(price), freeItems.toString()],
        ...[t(`tariffs.period.${period}`), t(`tariffs.charged.${charged}`), text ?? ''],
        tiers.map((tier) => `${tier.from}=${writeTypedAmount(tier.price)}`).join(' '),
      ].join('; '),
    )
    .join('\n');
}

type Words = 'kind' | 'period' | 'charged';

/** The value whose word, or which itself, was typed. */
function wordIn<Value extends string>(
  t: Translate,
  of: Words,
  values: Readonly<Record<Value, Value>>,
  typed: string,
): string {
  const isTyped = (text: string) => normalizeText(text) === normalizeText(typed);
  const found = (Object.values(values) as Value[]).find(
    (value) => isTyped(value) || isTyped(t(`tariffs.${of}.${value}` as 'tariffs.kind.package')),
  );
  return found ?? typed;
}
