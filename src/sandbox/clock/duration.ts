const duration =
  /^P(?=.)(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,5})W)?(?:(\d{1,6})D)?(?:T(?=.)(?:(\d{1,8})H)?(?:(\d{1,9})M)?(?:(\d{1,10})(?:[.,](\d{1,3}))?S)?)?$/;

/**
 * The instant that lies an ISO 8601 duration (`P1D`, `PT1H30M`, `P1M`) after `from`, or null when the text is none.
 * Years and months are the calendar's, in UTC, and end on its last day where the month is shorter.
 */
export function addDuration(from: Date, text: string): Date | null {
  const parts = duration.exec(text);
  if (!parts) return null;
  const [years, months, weeks, days, hours, minutes, seconds] = parts
    .slice(1, 8)
    .map((part) => Number(part ?? 0)) as [number, number, number, number, number, number, number];
  const milliseconds = Number((parts[8] ?? '').padEnd(3, '0'));
  const moved = addMonths(from, years * 12 + months);
  const restSeconds = (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds;
  const instant = new Date(moved.getTime() + restSeconds * 1_000 + milliseconds);
  return Number.isNaN(instant.getTime()) ? null : instant;
}

function addMonths(from: Date, months: number): Date {
  const moved = new Date(from);
  moved.setUTCMonth(from.getUTCMonth() + months);
  // 31 January plus a month would be 3 March: the last day of the month that was meant.
  if (moved.getUTCDate() !== from.getUTCDate()) moved.setUTCDate(0);
  return moved;
}
