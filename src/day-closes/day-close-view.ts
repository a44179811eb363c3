// Converts a stored certificate to its API representation.
import type { z } from 'zod';
import type { DayClose } from '../generated/service/client.js';
import { parseCents, readCertificate, type Certificate } from './certificate.js';
import type { dayCloseView } from './day-closes.schema.js';

export function describeDayClose(row: DayClose): z.output<typeof dayCloseView> {
  const certificate = readCertificate(row.certificate);
  const { matched, classified, inBreak, firstNsu, lastNsu } = certificate;
  return {
    ...row,
    opening: row.openingCents,
    credits: row.creditCents,
    debits: row.debitCents,
    closing: row.closingCents,
    counts: {
      lines: row.lineCount,
      matched: matched.count,
      classified: mapValues(classified, ({ count }) => count),
      inBreak: mapValues(inBreak, ({ count }) => count),
    },
    sums: {
      matched: toCents(matched),
      classified: mapValues(classified, toCents),
      inBreak: mapValues(inBreak, toCents),
    },
    reconcilingItems: certificate.reconcilingItems.map(({ nsu, amount, ...item }) => ({
      ...item,
      nsu: BigInt(nsu),
      amount: parseCents(amount),
    })),
    firstNsu: firstNsu === null ? null : BigInt(firstNsu),
    lastNsu: lastNsu === null ? null : BigInt(lastNsu),
  };
}

function toCents({ count, credits, debits }: Certificate['matched']) {
  return { count, credits: parseCents(credits), debits: parseCents(debits) };
}

function mapValues<From, To>(record: Record<string, From>, map: (value: From) => To) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
