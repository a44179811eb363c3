// Amounts and days as they are written in Brazil.

/** `R$ -1.234,56`; the space does not break. */
export function formatReal(cents: bigint): string {
  const magnitude = cents < 0n ? -cents : cents;
  const fraction = String(magnitude % 100n).padStart(2, '0');
  return `R$\u00a0${cents < 0n ? '-' : ''}${formatCount(magnitude / 100n)},${fraction}`;
}

export function formatCount(count: bigint): string {
  return count.toString().replace(/\B(?=(\d{3})+$)/g, '.');
}

/** `21/11/2026`. */
export function formatDay(day: string): string {
  return `${day.slice(8, 10)}/${day.slice(5, 7)}/${day.slice(0, 4)}`;
}
