// Numbers the CNAB 240 files of an account. Programs refuse a number that they have imported: files
// of two periods never share one, and neither do a file and a later one of its period that has more
// lines or is no longer partial.
import type { PlainDate } from '../../brazil/calendar.js';
import type { Db } from '../../platform/postgres/database.service.js';
import { ruleBroken } from '../../platform/errors.js';
import { maxFileNumber } from './cnab240-file.js';

/** A restored database lacks its last numbers, which are fewer than these. */
const restoreSkip = 10_000;

interface NumberedFile {
  from: PlainDate;
  to: PlainDate;
  isPartial: boolean;
  lineCount: bigint;
}

/**
 * The same content has the same number. Files without lines have the number 0: they say nothing
 * that a program could import, and any number of days has none. Throws `file_numbers_exhausted`
 * after the last number.
 */
export async function fileNumberOf(
  { exportFileNumber, accountRestore }: Db,
  accountId: number,
  { from, to, isPartial, lineCount }: NumberedFile,
): Promise<number> {
  if (lineCount === 0n) return 0;
  const file = {
    ...{ accountId, firstDay: from, lastDay: to, isPartial },
    lineCount: Number(lineCount),
  };
  // Another request may take the next number first. Each turn then finds a higher one.
  for (;;) {
    const known = await exportFileNumber.findFirst({ where: file });
    if (known) return known.number;
    const last = await exportFileNumber.findFirst({
      where: { accountId },
      orderBy: { number: 'desc' },
    });
    const restoredAt = { gte: last?.createdAt ?? new Date(0) };
    const restore = await accountRestore.findFirst({ where: { accountId, restoredAt } });
    const number = (last?.number ?? 0) + (restore ? restoreSkip : 1);
    if (number > maxFileNumber)
      throw ruleBroken(
        'file_numbers_exhausted',
        `CNAB 240 files are numbered up to ${maxFileNumber}, one number for each content.`,
      );
    await exportFileNumber.createMany({ data: [{ ...file, number }], skipDuplicates: true });
  }
}
