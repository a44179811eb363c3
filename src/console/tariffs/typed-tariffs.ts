// The tariffs of a price list as people type them, one on each line:
// `Pix recebido; 0,50; 100; cada; mesmo; tarifa pix; 501=0,40 1001=0,30`.
import type { TariffCharged, TariffKind, TariffPeriod } from '../../generated/service/client.js';
import { tariffNames } from '../../reporting/tariffs/fees-table.js';
import { normalizeText } from '../../statement/expected-payments/text-pattern.js';
import type { TextKey, Translate } from '../texts.js';
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
      kind: wordIn(t, 'kind', kind),
      price: typedNumber(price),
      freeItems: typedNumber(free),
      period: period && wordIn(t, 'period', period),
      charged: charged && wordIn(t, 'charged', charged),
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

const periods = { each: 0, day: 0, month: 0 } satisfies Record<TariffPeriod, 0>;
const times = { same_period: 0, next_period: 0 } satisfies Record<TariffCharged, 0>;
/** The values of each cell that has a closed list. */
const values = { kind: tariffNames, period: periods, charged: times } as const;

/** The value whose word, or which itself, was typed. */
function wordIn(t: Translate, of: keyof typeof values, typed: string): string {
  const isTyped = (text: string) => normalizeText(text) === normalizeText(typed);
  const found = Object.keys(values[of]).find(
    (value) => isTyped(value) || isTyped(t(`tariffs.${of}.${value}` as TextKey)),
  );
  return found ?? typed;
}
