const duration =
  /^P(?=.)(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,5})W)?(?:(\d{1,6})D)?(?:T(?=.)(?:(\d{1,8})H)?(?:(\d{1,9})M)?(?:(\d{1,10})(?:[.,](\d{1,3}))?S)?)?$/;

/**
 * Adds an ISO 8601 duration (`P1D`, `PT1H30M`, `P1M`) to `from`. Null when the text is not a
 * duration. Years and months are calendar years and months in UTC; where the target month is
 * shorter, the result is its last day.
 */
export function addDuration(from: Date, text: string): Date | null {
  const parts = duration.exec(text);
  if (!parts) return null;
  const [years, months, weeks, days, hours, minutes, seconds] = parts
    .slice(1, 8)
    .map((part) => Number(part ?? 0)) as [number, number, number, number, number, number, number];
  const milliseconds = Number((parts[8] ?? '').padEnd(3, '0'));
  const moved = addMonths(from, years * 12 + months);
  const remainingSeconds = (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds;
  const instant = new Date(moved.getTime() + remainingSeconds * 1_000 + milliseconds);
  return Number.isNaN(instant.getTime()) ? null : instant;
}

function addMonths(from: Date, months: number): Date {
  const moved = new Date(from);
  moved.setUTCMonth(from.getUTCMonth() + months);
  // 31 January plus a month overflows to 3 March: use the last day of February.
  if (moved.getUTCDate() !== from.getUTCDate()) moved.setUTCDate(0);
  return moved;
}
